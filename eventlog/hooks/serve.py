"""`eventlog hook`: the host's JSON on stdin, an event in the log, an answer in the host's dialect.

Whatever happens, the host is not disturbed: exit code 0, nothing on stderr, and a failure is noted in
`cache/hook-errors.log` with what it lost. An event that cannot be appended in time waits in `spool/`.
"""

import os
import time
from itertools import pairwise

from eventlog import fastjson, hosts, ids, timestamps
from eventlog.append_once import SAME_CALL_MS, append_once
from eventlog.errors import InvalidEvent, NotStored
from eventlog.files import keep_owners_rights
from eventlog.hooks import acceptable, patience, safety_nets
from eventlog.hooks.patience import OutOfTime
from eventlog.hooks.scrub import outline, scrub
from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.classify import classify, event_name
from eventlog.project import git_head
from eventlog.secrets import without_secrets
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

    from eventlog.hooks.safety_nets import StartContext

_LARGEST_PAYLOAD = 64 << 20  # bytes


def run(argv: list[str], start_context: "StartContext") -> "NoReturn":
    """Serve one call and leave at once: there is nothing to finalise, and the host is waiting."""
    try:
        patience.begin()
        keep_owners_rights()
        patience.say_at_the_end(_silence(_options(argv)))
        patience.until(patience.STDIN)
        sent = _read_all(0)
        patience.until(patience.READ)
        served = serve(sent, argv, os.environ, start_context)
        patience.until(patience.LAST)
        patience.say_at_the_end(b"")
        _print(served.answer)
        served.start_background_work()
    except BaseException:  # noqa: BLE001, S110 - nobody is left to tell: stderr is the host's
        pass
    finally:
        os._exit(0)


class HookAnswer:
    """A call answered; `call` is None where nothing was, or may be, recorded."""

    def __init__(self, answer: bytes, store: Store | None = None, call: HookCall | None = None) -> None:
        self.answer = answer
        self._store = store
        self._moment = call

    def start_background_work(self) -> None:
        """Start what the host need not wait for; never raises."""
        if not self._store or not self._moment:
            return
        try:
            safety_nets.note_and_start(self._store, self._moment)
            _tidy(self._store)
        except Exception as error:  # noqa: BLE001 - a hook never breaks its host
            _note(self._store, error, b"", self._moment.agent)


def respond(data: bytes, argv: list[str], environ: "Mapping[str, str]", start_context: "StartContext") -> bytes:
    """Record what the host sent, and the answer to print; never raises."""
    return serve(data, argv, environ, start_context).answer


def serve(data: bytes, argv: list[str], environ: "Mapping[str, str]", start_context: "StartContext") -> HookAnswer:
    """Record what the host sent; `start_context` answers a session's start. Never raises."""
    hints = _options(argv)
    agent = hosts.named(hints.get("agent", ""))
    silence = _silence(hints)
    if environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        return HookAnswer(silence)
    try:
        store = Store.locate(hints.get("store"), environ)
    except OSError:  # a relative path, and the directory it is relative to is gone
        return HookAnswer(silence)
    lost: bytes | dict[str, object] = data
    call = None
    try:
        call = read(_parse(data), agent, hints.get("event", ""))
        dialect = hosts.dialect(agent, call.agent)
        silence = dialect.SILENT
        if _is_off(call):
            return HookAnswer(silence)
        if (call.type == "session_start" or call.takes_context) and hints.get("session-type") == "shared":
            call.fields["session_type"] = "shared"
        if not call.session.strip():
            call.session = _missing_id(store, call, environ)
        call.session = without_secrets(call.session)
        if call.may_recur and not call.dedupe_key:
            call.after = _predecessor(store, call)
        event = event_of(call)
        lost = _dated(event, call)
        new = record(store, call, event)
        lost = b""
        patience.until(patience.ANSWER)
        answer = safety_nets.answer(store, call, dialect, event, start_context, new=new)
        return HookAnswer(answer, store, call)
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        _note(store, error, getattr(error, "lost", None) or lost, agent)
    except OutOfTime:
        patience.until(patience.LAST)
        _note(store, TimeoutError("out of time"), lost, agent)
    return HookAnswer(silence, store, call if not lost else None)


def read(payload: Payload, agent_hint: str = "", event_hint: str = "") -> HookCall:
    """The call a payload tells of, in the words of the host that really sent it."""
    return hosts.read(classify(payload, agent_hint), payload, event_name(payload, event_hint))


def event_of(call: HookCall) -> dict[str, object]:
    """The event a call becomes, without `v`, `id` and `ts`; every reader of the log accepts it."""
    fields: dict[str, object] = {
        "type": call.type,
        "conversation_id": acceptable.name(call.session),
        "project": acceptable.name(call.project),
        "agent": acceptable.name(call.agent),
    }
    if call.subagent:
        fields["subagent"] = acceptable.name(call.subagent)
    if call.type == "host_event":
        fields |= {"name": acceptable.name(call.name), "payload": scrub(call.payload)}
    else:
        fields |= scrub(call.fields)
    if call.type == "session_start":
        branch, commit = git_head(call.where)
        fields |= {name: value for name, value in (("git_branch", branch), ("git_commit", commit)) if value}
    return fields


def record(store: Store, call: HookCall, event: dict[str, object]) -> bool | None:
    """Append the event of a call; False where it was there already, None where it waits in the spool.

    Raises NotStored or InvalidEvent.
    """
    try:
        return _append(store, call, event)
    except InvalidEvent:  # too long for a line
        if call.type != "host_event":
            raise
        return _append(store, call, event | {"payload": outline(call.payload)})


def _append(store: Store, call: HookCall, event: dict[str, object]) -> bool | None:
    """Where others wait for the log already, it is not waited for long: a turn with all its hooks has one budget."""
    key, within_ms, now = _key(call), None if call.dedupe_key else SAME_CALL_MS, time.time_ns()
    try:
        patience.at_most(patience.LOCK_AGAIN if _is_waiting(store) else patience.LOCK, patience.APPEND)
        return append_once(store, event, key, within_ms=within_ms)
    except OutOfTime:
        _leave(store, event, key, within_ms, now)
    except NotStored as error:
        try:
            _leave(store, event, key, within_ms, now)
        except NotStored as again:
            again.lost = error.lost  # it may be on disk all the same
            raise
        _note(store, error, b"", call.agent)
    return None


def _tidy(store: Store) -> None:
    """What whoever comes next has to see to; three system calls where there is nothing."""
    if _is_waiting(store):
        from eventlog import spool

        spool.take_in(store)
    if not os.path.exists(store.spare):
        from eventlog.hooks import spare

        spare.reserve(store)


def _is_waiting(store: Store) -> bool:
    """Whether there is anything in the spool."""
    try:
        return bool(os.listdir(store.spool))
    except OSError:
        return False


def _leave(store: Store, event: dict[str, object], key: str, within_ms: int | None, now: int) -> None:
    """Keep the event for whoever comes next; raises NotStored or InvalidEvent."""
    from eventlog import spool

    patience.until(patience.LAST)
    spool.leave(store, event, key, within_ms, now)


def _key(call: HookCall) -> str:
    """Of one length, and without what the call said: it is written down where the event has to wait."""
    return ids.digest(call.key, 16).hex()


def _dated(event: dict[str, object], call: HookCall) -> dict[str, object]:
    """The event as it would be appended now: by its id it is recognised, whoever appends it later."""
    now = time.time_ns()
    return {"v": 1, "id": ids.derived(now // 1_000_000, _key(call)), "ts": timestamps.from_ns(now), **event}


def _silence(hints: dict[str, str]) -> bytes:
    """Nothing, in the words of the host the command was installed for."""
    agent = hosts.named(hints.get("agent", ""))
    return hosts.dialect(agent, agent).SILENT


def _parse(data: bytes) -> Payload:
    try:
        payload = fastjson.loads(data)
    except ValueError:
        payload = acceptable.loads(data)
    if not isinstance(payload, dict):
        raise ValueError("the payload is not a JSON object")  # noqa: TRY004 - what was said is wrong, not our types
    return payload


def _options(argv: list[str]) -> dict[str, str]:
    """`--agent A --event E --store DIR --session-type shared`, in either spelling.

    What is not understood is not a reason to fail.
    """
    found: dict[str, str] = {}
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--") else [word])]
    for name, value in pairwise(words):
        if name.startswith("--"):
            found[name[2:]] = value
    return found


def _is_off(call: HookCall) -> bool:
    """Whether there is a file `.eventlog-disable` where the agent works or in its project."""
    return any(os.path.exists(f"{place}/.eventlog-disable") for place in (call.where, call.project))


def _missing_id(store: Store, call: HookCall, environ: "Mapping[str, str]") -> str:
    from eventlog.hooks.conversation_id import conversation_id

    return conversation_id(store, call, environ)


def _predecessor(store: Store, call: HookCall) -> str:
    from eventlog.hooks.predecessor import predecessor

    return predecessor(store, call)


def _read_all(fd: int) -> bytes:
    """Until the host closes its end; if it never does, what has come by the time patience ends.

    What is too much is read all the same, so that the host does not fail, and let go.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        while chunk := os.read(fd, 1 << 20):
            patience.at_most(patience.STDIN, patience.READ)
            size += len(chunk)
            if size <= _LARGEST_PAYLOAD:
                chunks.append(chunk)
    except OutOfTime:
        patience.until(patience.READ)
        chunks += _at_hand(fd)
    except MemoryError:
        del chunks[1:]
    try:
        return b"".join(chunks)
    except MemoryError:
        return chunks[0]


def _at_hand(fd: int) -> "Iterator[bytes]":
    """What a busy machine gave us no time to read."""
    try:
        os.set_blocking(fd, False)
        while chunk := os.read(fd, 1 << 20):
            yield chunk
    except OSError:
        return


def _print(answer: bytes) -> None:
    """Where the host has closed its end, what it sent is stored all the same."""
    try:
        while answer:
            answer = answer[os.write(1, answer) :]
    except OSError:
        return


def _note(store: Store, error: Exception, lost: "bytes | dict[str, object]", agent: str = "") -> None:
    """Where even this fails, so be it."""
    try:
        from eventlog.hooks.error_log import note

        note(store, error, lost, agent)
    except Exception:  # noqa: BLE001, S110 - there is no one left to tell
        pass
