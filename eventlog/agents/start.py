"""What a session is given at its start: how to save, and what is known already.

The event is in the log when this begins; only now are libraries loaded. Whatever fails, the agent is told how to save.
"""

import os

from eventlog.agents import patience, prompts
from eventlog.agents.moment import Moment, text
from eventlog.agents.patience import OutOfTime
from eventlog.agents.preferences import preferences
from eventlog.store import Store


def start_context(store: Store, moment: Moment) -> str:
    """The text a session starts with; never empty."""
    _find_libraries()
    locale = preferences(store).locale
    source = text(moment.payload, "source")
    again = prompts.flush(store, moment, locale) + "\n" if source == "compact" else ""
    head = again + prompts.start(store, moment, locale)
    try:
        return _known(store, moment, head, source)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - a context without knowledge is better than none
        from eventlog.agents.failures import note

        patience.until(patience.LAST)
        note(store, error, b"", moment.agent)
        return head


def _known(store: Store, moment: Moment, head: str, source: str) -> str:
    """The whole context, and its receipt in the log; raises ImportError where libraries are missing."""
    import time

    import msgspec

    from eventlog import compiled, timestamps
    from eventlog.log import EventLog
    from eventlog.projections.context import SessionType
    from eventlog.projections.context.build import begin
    from eventlog.projections.context.gather import NEW, Request
    from eventlog.projections.context.receipt import acknowledge
    from eventlog.settings import Settings

    settings = msgspec.convert(compiled.settings(store), Settings)
    request = Request(
        now=timestamps.from_ns(time.time_ns()),
        home=os.path.expanduser("~"),
        project=moment.project,
        session_id=moment.session,
        session_type=SessionType(str(moment.fields.get("session_type", "main"))) if source in NEW else None,
        source=source,
        agent=moment.agent,
        head=head,
        program=prompts.program(),
        elsewhere=prompts.elsewhere(store),
    )
    log = EventLog(store, fsync=compiled.wants_sync(store))
    built = begin(log, settings, request)
    try:
        acknowledge(log, request, built)
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
