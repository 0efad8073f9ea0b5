"""What a session is given at its start: how to save, and what is known already.

The event is in the log when this begins; only now are libraries loaded. Whatever fails, the agent is told how to save.
"""

import os

from eventlog.hooks import patience, prompts
from eventlog.hooks.patience import OutOfTime
from eventlog.hosts.call import HookCall, text
from eventlog.settings.preferences import preferences
from eventlog.store import Store


def start_context(store: Store, call: HookCall) -> str:
    """The text a session starts with; never empty."""
    _find_libraries()
    locale = preferences(store).locale
    source = text(call.payload, "source")
    again = prompts.flush(store, call, locale) + "\n" if source == "compact" else ""
    head = again + prompts.start(store, call, locale)
    try:
        return _known(store, call, head, source)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - a context without knowledge is better than none
        from eventlog.hooks.error_log import note

        patience.until(patience.LAST)
        note(store, error, b"", call.agent)
        return head


def _known(store: Store, call: HookCall, head: str, source: str) -> str:
    """The whole context, and its receipt in the log; raises ImportError where libraries are missing."""
    import time

    import msgspec

    from eventlog import timestamps
    from eventlog.app.context import begin
    from eventlog.app.receipt import append_receipt
    from eventlog.log import EventLog
    from eventlog.projections.context import SessionType
    from eventlog.projections.context.request import NEW, ContextRequest
    from eventlog.settings import cached
    from eventlog.settings.schema import Settings

    settings = msgspec.convert(cached.settings(store), Settings)
    request = ContextRequest(
        now=timestamps.from_ns(time.time_ns()),
        home=os.path.expanduser("~"),
        project=call.project,
        session_id=call.session,
        session_type=SessionType(str(call.fields.get("session_type", "main"))) if source in NEW else None,
        source=source,
        agent=call.agent,
        instructions=head,
        program=prompts.program(),
        store_option=prompts.store_option(store),
    )
    log = EventLog(store, fsync=cached.wants_sync(store))
    built = begin(log, settings, request)
    try:
        append_receipt(log, request, built)
    except OutOfTime:  # what is known matters more than its receipt
        patience.until(patience.LAST)
    return built.context.text


def _find_libraries() -> None:
    """Hooks are started without `site`, which knows all places where packages are, not only the one of this."""
    try:
        import msgspec  # noqa: F401
    except ImportError:
        import site

        site.main()
