"""`eventlog hook`: the host's JSON on stdin, an event in the log, an answer in the host's dialect.

Whatever happens, the host is not disturbed: exit code 0, nothing on stderr, and a failure is noted in
`cache/hook-errors.log` with what it lost. An event that cannot be appended in time waits in `spool/`.
"""

import os
import time
from itertools import pairwise

from eventlog import ids, timestamps, wire
from eventlog.agents import acceptable, hosts, nets, patience
from eventlog.agents.classify import classify, event_name
from eventlog.agents.moment import Moment, Payload
from eventlog.agents.patience import OutOfTime
from eventlog.agents.scrub import outline, scrub
from eventlog.errors import InvalidEvent, NotStored
from eventlog.files import keep_owners_rights
from eventlog.live import append_once
from eventlog.project import git_head
from eventlog.secrets import without_secrets
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

# calls without a key of their own are one when they come this close: two registrations were seen 0.7 s apart
_SAME_CALL_MS = 5_000
_LARGEST_PAYLOAD = 64 << 20  # bytes


def run(argv: list[str]) -> "NoReturn":
    """Serve one call and leave at once: there is nothing to finalise, and the host is waiting."""
    try:
        patience.begin()
        keep_owners_rights()
        patience.say_at_the_end(_silence(_options(argv)))
        patience.until(patience.STDIN)
        sent = _read_all(0)
        patience.until(patience.READ)
        served = serve(sent, argv, os.environ)
        patience.until(patience.LAST)
        patience.say_at_the_end(b"")
        _print(served.answer)
        served.see_to()
    except BaseException:  # noqa: BLE001, S110 - nobody is left to tell: stderr is the host's
        pass
    finally:
        os._exit(0)


class Served:
    """A call answered; `moment` is None where nothing was, or may be, recorded."""

    def __init__(self, answer: bytes, store: Store | None = None, moment: Moment | None = None) -> None:
        self.answer = answer
        self._store = store
        self._moment = moment

    def see_to(self) -> None:
        """Start what the host need not wait for; never raises."""
        if not self._store or not self._moment:
            return
        try:
            nets.see_to(self._store, self._moment)
            _tidy(self._store)
        except Exception as error:  # noqa: BLE001 - a hook never breaks its host
            _note(self._store, error, b"", self._moment.agent)


def respond(data: bytes, argv: list[str], environ: "Mapping[str, str]") -> bytes:
    """Record what the host sent, and the answer to print; never raises."""
    return serve(data, argv, environ).answer


def serve(data: bytes, argv: list[str], environ: "Mapping[str, str]") -> Served:
    """Record what the host sent; never raises."""
    hints = _options(argv)
    agent = hosts.named(hints.get("agent", ""))
    silence = _silence(hints)
    if environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        return Served(silence)
    try:
        store = Store.locate(hints.get("store"), environ)
    except OSError:  # a relative path, and the directory it is relative to is gone
        return Served(silence)
    lost: bytes | dict[str, object] = data
    moment = None
    try:
        moment = read(_parse(data), agent, hints.get("event", ""))
        dialect = hosts.dialect(agent, moment.agent)
        silence = dialect.SILENT
        if _is_off(moment):
            return Served(silence)
        if moment.type == "session_start" and hints.get("session-type") == "shared":
            moment.fields["session_type"] = "shared"
        if not moment.session.strip():
            moment.session = _missing_id(store, moment, environ)
        moment.session = without_secrets(moment.session)
        event = event_of(moment)
        lost = _dated(event, moment)
        new = record(store, moment, event)
        lost = b""
        patience.until(patience.ANSWER)
        return Served(nets.answer(store, moment, dialect, event, new=new), store, moment)
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        _note(store, error, getattr(error, "lost", None) or lost, agent)
    except OutOfTime:
        patience.until(patience.LAST)
        _note(store, TimeoutError("out of time"), lost, agent)
    return Served(silence, store, moment if not lost else None)


def read(payload: Payload, agent_hint: str = "", event_hint: str = "") -> Moment:
    """The moment a payload tells of, in the words of the host that really sent it."""
    return hosts.read(classify(payload, agent_hint), payload, event_name(payload, event_hint))


def event_of(moment: Moment) -> dict[str, object]:
    """The event a moment becomes, without `v`, `id` and `ts`; every reader of the log accepts it."""
    fields: dict[str, object] = {
        "type": moment.type,
        "conversation_id": acceptable.name(moment.session),
        "project": acceptable.name(moment.project),
        "agent": acceptable.name(moment.agent),
    }
    if moment.subagent:
        fields["subagent"] = acceptable.name(moment.subagent)
    if moment.type == "host_event":
        fields |= {"name": acceptable.name(moment.name), "payload": scrub(moment.payload)}
    else:
        fields |= scrub(moment.fields)
    if moment.type == "session_start":
        branch, commit = git_head(moment.where)
        fields |= {name: value for name, value in (("git_branch", branch), ("git_commit", commit)) if value}
    return fields


def record(store: Store, moment: Moment, event: dict[str, object]) -> bool | None:
    """Append the event of a moment; False where it was there already, None where it waits in the spool.

    Raises NotStored or InvalidEvent.
    """
    try:
        return _append(store, moment, event)
    except InvalidEvent:  # too long for a line
        if moment.type != "host_event":
            raise
        return _append(store, moment, event | {"payload": outline(moment.payload)})


def _append(store: Store, moment: Moment, event: dict[str, object]) -> bool | None:
    """Where others wait for the log already, it is not waited for long: a turn with all its hooks has one budget."""
    key, within_ms, now = _key(moment), None if moment.turn else _SAME_CALL_MS, time.time_ns()
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
        _note(store, error, b"", moment.agent)
    return None


def _tidy(store: Store) -> None:
    """What whoever comes next has to see to; three system calls where there is nothing."""
    if _is_waiting(store):
        from eventlog import spool

        spool.take_in(store)
    if not os.path.exists(store.spare):
        from eventlog.agents import spare

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


def _key(moment: Moment) -> str:
    """Of one length, and without what the call said: it is written down where the event has to wait."""
    return ids.digest(moment.key, 16).hex()


def _dated(event: dict[str, object], moment: Moment) -> dict[str, object]:
    """The event as it would be appended now: by its id it is recognised, whoever appends it later."""
    now = time.time_ns()
    return {"v": 1, "id": ids.derived(now // 1_000_000, _key(moment)), "ts": timestamps.from_ns(now), **event}


def _silence(hints: dict[str, str]) -> bytes:
    """Nothing, in the words of the host the command was installed for."""
    agent = hosts.named(hints.get("agent", ""))
    return hosts.dialect(agent, agent).SILENT


def _parse(data: bytes) -> Payload:
    try:
        payload = wire.loads(data)
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


def _is_off(moment: Moment) -> bool:
    """Whether there is a file `.eventlog-disable` where the agent works or in its project."""
    return any(os.path.exists(f"{place}/.eventlog-disable") for place in (moment.where, moment.project))


def _missing_id(store: Store, moment: Moment, environ: "Mapping[str, str]") -> str:
    from eventlog.agents.conversation import conversation_id

    return conversation_id(store, moment, environ)


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
        from eventlog.agents.failures import note

        note(store, error, lost, agent)
    except Exception:  # noqa: BLE001, S110 - there is no one left to tell
        pass
