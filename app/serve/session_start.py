"""The answer to a hook at a session's start: how to save, and what is known already.

The event is in the log when this begins; only now are libraries loaded. Whatever fails, the agent is told how to save.
"""

from eventlog.hooks import deadline, prompts, ready_context
from eventlog.hooks.deadline import OutOfTime
from eventlog.hosts.call import HookCall, text
from eventlog.settings.cached import preferences
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.format.payloads import Envelope


def start_context(store: Store, call: HookCall) -> str:
    """Build the text a session starts with; never empty."""
    source = text(call.payload, "source")
    try:
        if ready := _ready(store, call, source):
            return ready
        _find_libraries()
        return _known(store, call, source)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - a context without knowledge is better than none
        from eventlog.hooks.error_log import note

        deadline.set_stage(deadline.LAST)
        note(store, error, b"", call.agent)
        return prompts.instructions(store, call.session, call.agent, preferences(store)["locale"], source)


def _ready(store: Store, call: HookCall, source: str) -> str:
    """Return the context that was made before, where it holds, and put its receipt into the log; "" for none."""
    if source not in ready_context.NEW:
        return ""
    locale = preferences(store)["locale"]
    head = prompts.instructions(store, call.session, call.agent, locale, source)
    kept = ready_context.find(store, call, source, head)
    if kept is None:
        return ""
    from eventlog.app.serve.receipt_line import append_receipt_line
    from eventlog.format.fence import context

    told = context(head, kept["body"], locale, call.session)
    about: Envelope = {
        "type": "context_injected",
        "conversation_id": call.session,
        "project": call.project,
        "agent": call.agent,
    }
    try:
        append_receipt_line(store, about, kept["receipt"], told, source)
    except OutOfTime:  # what is known matters more than its receipt
        deadline.set_stage(deadline.LAST)
    return told


def _known(store: Store, call: HookCall, source: str) -> str:
    """Build the whole context, and put its receipt into the log; raises ImportError where libraries are missing."""
    import msgspec

    from eventlog.app.machine import Machine
    from eventlog.app.open_store import OpenStore
    from eventlog.app.serve import make_ready
    from eventlog.app.serve.session_context import append_receipt, request_of, session_context
    from eventlog.log.event_log import EventLog
    from eventlog.settings import cached
    from eventlog.settings.schema import Settings

    settings = msgspec.convert(cached.settings(store), Settings)
    opened = OpenStore(EventLog(store), settings, Machine.here())
    listens = str(call.fields.get("session_type", "main")) if source in ready_context.NEW else None
    before = make_ready.as_it_is(opened, call.project) if source in ready_context.NEW else None
    request = request_of(
        opened,
        call.project,
        session=call.session,
        session_type=listens,
        source=source,
        agent=call.agent,
        where=call.where,
    )
    built = session_context(opened, request)
    try:
        append_receipt(opened.log, request, built)
        if before:
            make_ready.keep(opened, call, request, built, before)
    except OutOfTime:  # what is known matters more than its receipt
        deadline.set_stage(deadline.LAST)
    return built.context.text


def _find_libraries() -> None:
    """Hooks are started without `site`, which knows all places where packages are, not only the one of this."""
    try:
        import msgspec  # noqa: F401
    except ImportError:
        import site

        site.main()
