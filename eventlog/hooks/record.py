"""Record a call: as an event in the log, in the spool where the log is locked, else as a note of the lost event.

A payload is made acceptable first: bounded, without secrets at any bound, without the user's address, and with
numbers that JSON cannot write as text.
"""

import time

import eventlog
from eventlog import hosts
from eventlog.fast import fastjson, os
from eventlog.format import SESSION_END, ids
from eventlog.hooks import deadline
from eventlog.hooks.deadline import OutOfTime
from eventlog.hosts.call import HookCall, Payload, present
from eventlog.projects.root import git_head
from eventlog.secrets import scrub, scrub_beginning, scrub_text
from eventlog.secrets.plain import item_name
from eventlog.store import Store, files
from eventlog.store.append_once import SAME_CALL_MS, append_once, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from eventlog.format.payloads import Envelope, EventType, HostEvent, SessionStart

_LONGEST_NAME = 4096  # characters: the longest path
_NAME_CHARS = 200  # characters of a longer name, before its hash
_LONGEST_NUMBER = 40  # digits
_LONGEST_TEXT = 2000  # characters
_LONGEST_LIST = 50  # items, or fields of an object
_DEEPEST = 8
_NEVER_RECORDED = frozenset(("user_email",))
_ENVELOPE = frozenset(("session_id", "sessionId", "conversation_id", "hook_event_name", "hookEventName"))


# ------------------------------------------------------------------------------------------------ the payload


def parse(data: bytes) -> Payload:
    """Parse a payload; numbers that JSON cannot write (NaN, thousands of digits) become texts. Raises ValueError."""
    try:
        payload = fastjson.loads(data)
    except ValueError:
        payload = _parse_leniently(data)
    if not isinstance(payload, dict):
        raise ValueError("the payload is not a JSON object")  # noqa: TRY004 - the payload is wrong, not our types
    return payload


def _parse_leniently(data: bytes) -> object:
    import json

    def integer(digits: str) -> object:
        more = len(digits) - _LONGEST_NUMBER
        return int(digits) if more <= 0 else f"{digits[:_LONGEST_NUMBER]}…[+{more} digits]"

    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=str, parse_int=integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the payload is not JSON: {error}") from error


def log_name(name: str) -> str:
    """Return an id, a path or a name without secrets; of too long a name the beginning and a hash."""
    if len(name) <= _LONGEST_NAME:
        return scrub_text(name)
    return scrub_beginning(name, _NAME_CHARS, f"…{ids.digest(name, 8).hex()}")


def bounded(payload: "Mapping[str, object]") -> dict[str, object]:
    """Limit the payload, without the fields that the event has elsewhere."""
    return {name: _bounded_value(name, value, 1) for name, value in _first(payload) if name not in _ENVELOPE}


def _first(fields: "Mapping[str, object]") -> "Iterator[tuple[str, object]]":
    """Yield the first fields without those that are never recorded, and the number of all that are missing."""
    members = list(fields.items())
    yield from (member for member in members[:_LONGEST_LIST] if member[0] not in _NEVER_RECORDED)
    if len(members) > _LONGEST_LIST:
        yield "…", f"[+{len(members) - _LONGEST_LIST} fields]"


def _bounded_value(name: str, value: object, depth: int) -> object:
    if isinstance(value, str):
        return _bounded_text(value) if len(value) > _LONGEST_TEXT else scrub(value, name)
    if isinstance(value, list):
        rest = [f"…[+{len(value) - _LONGEST_LIST} items]"] if len(value) > _LONGEST_LIST else []
        name = item_name(name)
        items = value[:_LONGEST_LIST]
        return [_bounded_value(name, item, depth + 1) for item in items] + rest if depth < _DEEPEST else "…"
    if isinstance(value, dict):
        if depth >= _DEEPEST:
            return "…"
        return {_bounded_text(name): _bounded_value(name, item, depth + 1) for name, item in _first(value)}
    return _number_as_text(value) if fastjson.refusal(value) else value


def _bounded_text(text: str) -> str:
    """Return the beginning of a text, and the number of missing characters."""
    return scrub_beginning(text, _LONGEST_TEXT, f"…[+{len(text) - _LONGEST_TEXT} chars]")


def _number_as_text(value: object) -> str:
    try:
        return _bounded_text(str(value))
    except ValueError:  # Python prints integers of up to 4,300 digits
        return "…"


# ------------------------------------------------------------------------------------------------ the event


def event_of(store: Store, call: HookCall) -> dict[str, object]:
    """Make the event of a call, without `v`, `id` and `ts`; every reader of the log accepts it."""
    fields = envelope(call, call.type)
    if call.type == "host_event":
        return {**fields, **_host_event(call, bounded(call.payload))}
    event = {**fields, **bounded(call.fields)}
    if call.type != "session_start":
        return event
    try:
        branch, commit = git_head(call.where)
        head: SessionStart = {"git_branch": branch, "git_commit": commit}
        return {**event, **present(head), **_replica(store)}
    except OutOfTime:  # an event without is worth more than none
        deadline.set_stage(deadline.LAST)
        return event


def envelope(call: HookCall, event_type: "EventType") -> "Envelope":
    """Make the fields common to all events of this call."""
    fields: Envelope = {
        "type": event_type,
        "conversation_id": log_name(call.session),
        "project": log_name(call.project),
        "agent": log_name(call.agent),
        "layer": SESSION_END if event_type == "stage_summary" else None,  # saved without the agent
        "subagent": log_name(call.subagent),
    }
    return present(fields)


def _host_event(call: HookCall, payload: Payload) -> "HostEvent":
    return {"name": log_name(call.name), "payload": payload}


def _replica(store: Store) -> dict[str, str]:
    """Name the store in a start: the conversation belongs to this machine."""
    from eventlog.store.replica import make_replica

    try:
        return {"replica": make_replica(store)}
    except (OSError, eventlog.NotStored, ImportError):
        return {}


def dated(event: dict[str, object], call: HookCall) -> dict[str, object]:
    """Date the event as if appended now: its id identifies it, also when another process appends it later."""
    return {**stamp(_key(call), time.time_ns()), **event}


def _key(call: HookCall) -> str:
    """Hash the key of a call: the spool stores it, so it must not contain the call's text."""
    return ids.digest(call.key, 16).hex()


# ------------------------------------------------------------------------------------------------ the log


def record(store: Store, call: HookCall, event: dict[str, object]) -> bool | None:
    """Append the event of a call; False where the log has it already, None where it waits in the spool.

    Raises NotStored or InvalidEvent.
    """
    try:
        return _append(store, call, event)
    except eventlog.InvalidEvent:  # too long for a line
        if call.type != "host_event":
            raise
        fields = bounded(call.payload).items()
        payload = {name: "…" if isinstance(value, (list, dict)) else value for name, value in fields}
        return _append(store, call, {**event, **_host_event(call, payload)})


def _append(store: Store, call: HookCall, event: dict[str, object]) -> bool | None:
    """Append, waiting less where others wait for the log already: all hooks of a turn share a budget."""
    key, within_ms, now = _key(call), None if call.dedupe_key else SAME_CALL_MS * (1 + call.is_retry), time.time_ns()
    try:
        others_wait = files.names_in(store.spool)
        deadline.set_stage_within(deadline.LOCK_AGAIN if others_wait else deadline.LOCK, deadline.APPEND)
        return append_once(store, event, key, within_ms=within_ms, on_lock=_take_time)
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


def _take_time() -> None:
    """Give a slow disk longer than a lock: what is written already would be synced twice more in the spool."""
    deadline.set_stage(deadline.APPEND)


def _leave(store: Store, event: dict[str, object], key: str, within_ms: int | None, now: int) -> None:
    """Leave the event in the spool for the next process; raises NotStored or InvalidEvent."""
    from eventlog.store import spool

    deadline.set_stage(deadline.LAST)
    spool.leave(store, event, key, within_ms, now)


def note_call(store: Store, agent: str) -> None:
    """Note the last call of an agent's hooks on this machine, as the time of an empty file; never raises.

    Events cannot tell: they are also imported, appended by verbs, and copied from other machines.
    """
    if hosts.part(agent, "protocol"):  # a name from a payload must not become the name of a file
        files.write_note(store.cached("heard", agent), b"")


def note(store: Store, error: BaseException, lost: "bytes | dict[str, object]", agent: str = "") -> None:
    """Note a failure and the event it lost, for which there is time until the last stage; never raises."""
    deadline.set_stage(deadline.LAST)
    try:
        from eventlog.hooks import error_log

        error_log.note(store, error, lost, agent)
    except Exception:  # noqa: BLE001, S110 - nothing can be reported
        pass


def tidy(store: Store) -> None:
    """Append the spooled events, and reserve room for notes; three system calls where there is nothing to do."""
    if files.names_in(store.spool):
        from eventlog.store import spool

        spool.take_in(store)
    if not os.path.exists(store.spare):
        from eventlog.hooks import disk_reserve

        disk_reserve.reserve(store)
