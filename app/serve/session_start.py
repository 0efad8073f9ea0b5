"""The answer to a hook at a session's start: how to save, and what is known already.

The event is in the log when this begins. Where it takes too long, or something fails, the agent gets what files say
that nobody has touched since they were rendered; whatever fails then, how to save.
"""

from eventlog.fast.modules import find_libraries
from eventlog.format import timestamps
from eventlog.hooks import deadline, prompts
from eventlog.hooks.deadline import OutOfTime
from eventlog.hooks.record import note
from eventlog.hosts.call import HookCall, text
from eventlog.settings import cached
from eventlog.store import Store
from eventlog.store.files import file_stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.app.serve.session_context import ContextResult, HookStore

_READ_AT_MOST = 4 << 20  # bytes of a transcript
_RESERVE = 0.12  # seconds for what is certain: it takes a quarter of that


def start_context(store: Store, call: HookCall) -> str:
    """Build the text a session starts with, never empty; or that of a helper, "" for nothing."""
    if call.starts_helper:
        return _helper_context(store, call)
    source = text(call.payload, "source")
    _name_lost(store, call)
    for certain in (False, True):
        try:
            deadline.set_stage(deadline.ANSWER if certain else deadline.ANSWER - _RESERVE)
            return _known(store, call, source, certain=certain)
        except (Exception, OutOfTime) as error:  # noqa: BLE001 - to know less is better than nothing
            note(store, error, b"", call.agent)
    return prompts.start(store, call, cached.preferences(store)["locale"], source)


def _name_lost(store: Store, call: HookCall) -> None:
    """Append what sessions were asked whose host is gone; that may fail, and costs no context."""
    from eventlog.hooks import background

    try:
        deadline.set_stage_within(deadline.LOCK, deadline.ANSWER)
        background.name_lost(store, call, _asked_in)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - `eventlog settle` sees to them all the same
        note(store, error, b"", call.agent)


def _asked_in(lost: HookCall) -> str:
    """Find the last prompt in a transcript; "" for none, and where to read it takes long."""
    if not 0 < file_stamp(lost.transcript)[0] <= _READ_AT_MOST:
        return ""
    find_libraries()
    from eventlog.hosts.transcripts.read import read_transcript

    asked = [step.text for step in read_transcript(lost.agent, lost.transcript) if step.kind == "prompt"]
    return "".join(asked[-1:])


def _helper_context(store: Store, call: HookCall) -> str:
    """Build the text a helper starts with: what is known of the project; "" for nothing."""
    from eventlog.app.serve.session_context import helpers_context

    deadline.set_stage(deadline.ANSWER)
    built = helpers_context(_opened(store), call)
    if built.receipt.get("sources"):
        _append_receipt(store, call, built, "helper")
        return built.text
    return ""


def _opened(store: Store) -> "HookStore":
    import time

    from eventlog.app.serve.session_context import HookStore
    from eventlog.fast import os

    if not cached.are_current(store):
        find_libraries()  # nobody has read `config.yaml` since it changed
    now = timestamps.from_ns(time.time_ns())
    return HookStore(store, cached.plain_settings(cached.settings(store)), os.path.expanduser("~"), now)


def _known(store: Store, call: HookCall, source: str, *, certain: bool) -> str:
    """Build the context, and put its receipt into the log; of files alone where only what is `certain` is wanted."""
    from eventlog.app.serve.session_context import request_of, session_context
    from eventlog.projections.context.request import MAIN, NEW, SHARED

    opened = _opened(store)
    request = request_of(
        opened,
        call.project,
        session=call.session,
        session_type=SHARED if call.shared else MAIN if source in NEW else None,
        source=source,
        agent=call.agent,
        where=call.where,
        transcript=text(call.payload, "transcript_path", "transcriptPath"),
    )
    built = session_context(opened, request, certain=certain)
    _append_receipt(store, call, built, source)
    return built.text


def _append_receipt(store: Store, call: HookCall, built: "ContextResult", source: str) -> None:
    from eventlog.app.serve.session_context import append_receipt
    from eventlog.format.errors import NotStored

    try:
        deadline.set_stage_within(deadline.LOCK, deadline.ANSWER)
        append_receipt(store, built, source, call.subagent, sync=False)  # the next event of the day syncs it, too
    except (NotStored, OutOfTime):  # what is known matters more than its receipt: the disk is full, the log is locked
        deadline.set_stage(deadline.LAST)
