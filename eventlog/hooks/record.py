"""Record a call: as an event in the log, in the spool where that is locked, else as a note of what was lost."""

import time

import eventlog
from eventlog import hosts
from eventlog.fast import os
from eventlog.format import ids
from eventlog.hooks import acceptable, patience
from eventlog.hooks.bounds import bounded, outline
from eventlog.hooks.patience import OutOfTime
from eventlog.hosts.call import HookCall, Payload, present
from eventlog.projects.root import git_head
from eventlog.store import Store, files
from eventlog.store.append_once import SAME_CALL_MS, append_once, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.format.payloads import Envelope, EventType, HostEvent, SessionStart


def event_of(store: Store, call: HookCall) -> dict[str, object]:
    """Make the event a call becomes, without `v`, `id` and `ts`; every reader of the log accepts it."""
    about = envelope(call, call.type)
    if call.type == "host_event":
        return {**about, **_host_event(call, bounded(call.payload))}
    if call.type == "session_start":
        return {**about, **bounded(call.fields), **_head(call), **_machine(store)}
    return {**about, **bounded(call.fields)}


def envelope(call: HookCall, event_type: "EventType") -> "Envelope":
    """Make what an event of this call begins with, whatever its type."""
    made: Envelope = {
        "type": event_type,
        "conversation_id": acceptable.name(call.session),
    }
    if call.project:
        made["project"] = acceptable.name(call.project)
    made["agent"] = acceptable.name(call.agent)
    if call.subagent:
        made["subagent"] = acceptable.name(call.subagent)
    return made


def _host_event(call: HookCall, payload: Payload) -> "HostEvent":
    return {"name": acceptable.name(call.name), "payload": payload}


def _head(call: HookCall) -> "SessionStart":
    branch, commit = git_head(call.where)
    fields: SessionStart = {"git_branch": branch, "git_commit": commit}
    return present(fields)


def _machine(store: Store) -> dict[str, str]:
    """Name the store: by its start a conversation is known to be of this machine."""
    from eventlog.store.replica import make_replica

    try:
        return {"replica": make_replica(store)}
    except (OSError, eventlog.NotStored, ImportError):  # an event without is worth more than none
        return {}


def record(store: Store, call: HookCall, event: dict[str, object]) -> bool | None:
    """Append the event of a call; False where it was there already, None where it waits in the spool.

    Raises NotStored or InvalidEvent.
    """
    try:
        return _append(store, call, event)
    except eventlog.InvalidEvent:  # too long for a line
        if call.type != "host_event":
            raise
        return _append(store, call, {**event, **_host_event(call, outline(call.payload))})


def _append(store: Store, call: HookCall, event: dict[str, object]) -> bool | None:
    """Append, waiting less where others wait for the log already: a turn with all its hooks has one budget."""
    key, within_ms, now = _key(call), None if call.dedupe_key else SAME_CALL_MS, time.time_ns()
    try:
        patience.at_most(patience.LOCK_AGAIN if _is_waiting(store) else patience.LOCK, patience.APPEND)
        return append_once(store, event, key, within_ms=within_ms)
    except OutOfTime:
        _leave(store, event, key, within_ms, now)
    except eventlog.NotStored as error:
        try:
            _leave(store, event, key, within_ms, now)
        except eventlog.NotStored as again:
            again.lost = error.lost  # it may be on disk all the same
            raise
        note(store, error, b"", call.agent)
    return None


def note_call(store: Store, agent: str) -> None:
    """Note when an agent's hooks last called here, by the time of a file of no bytes; never raises.

    Events do not tell: they are imported, appended, and brought from other machines, too.
    """
    if agent not in hosts.ROOMS:  # a name that some payload gave is no name of a file
        return
    path = store.cached("heard", agent)
    try:
        try:
            os.utime(path)
        except FileNotFoundError:
            files.make_dirs(store.cached("heard"), durable=False)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, files.MODE_PRIVATE))
    except (OSError, eventlog.NotStored):
        return


def tidy(store: Store) -> None:
    """Append what waits in the spool, and reserve room for notes; three system calls where there is nothing to do."""
    if _is_waiting(store):
        from eventlog.store import spool

        spool.take_in(store)
    if not os.path.exists(store.spare):
        from eventlog.hooks import spare

        spare.reserve(store)


def _is_waiting(store: Store) -> bool:
    """Tell whether there is anything in the spool."""
    try:
        return bool(os.listdir(store.spool))
    except OSError:
        return False


def _leave(store: Store, event: dict[str, object], key: str, within_ms: int | None, now: int) -> None:
    """Keep the event for whoever comes next; raises NotStored or InvalidEvent."""
    from eventlog.store import spool

    patience.until(patience.LAST)
    spool.leave(store, event, key, within_ms, now)


def _key(call: HookCall) -> str:
    """Hash the key of a call: it is written down where the event has to wait, so without what the call said."""
    return ids.digest(call.key, 16).hex()


def dated(event: dict[str, object], call: HookCall) -> dict[str, object]:
    """Date the event as if it were appended now: by its id it is recognised, whoever appends it later."""
    return {**stamp(_key(call), time.time_ns()), **event}


def note(store: Store, error: Exception, lost: "bytes | dict[str, object]", agent: str = "") -> None:
    """Note a failure and what it lost; where even this fails, so be it."""
    try:
        from eventlog.hooks import error_log

        error_log.note(store, error, lost, agent)
    except Exception:  # noqa: BLE001, S110 - there is no one left to tell
        pass
