"""`eventlog hook`: the host's JSON on stdin, an event in the log, an answer in the host's dialect.

Whatever happens, the host is not disturbed: exit code 0, nothing on stderr, and a failure is noted in
`cache/hook-errors.log` with what it lost.
"""

import os
from itertools import pairwise

from eventlog import wire
from eventlog.agents import hosts, nets
from eventlog.agents.classify import classify, event_name
from eventlog.agents.moment import Moment, Payload
from eventlog.agents.scrub import outline, scrub
from eventlog.errors import InvalidEvent
from eventlog.live import append_once
from eventlog.project import git_head
from eventlog.secrets import without_secrets
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

# calls without a key of their own are one when they come this close: identical payloads, or only what they say alike
_SAME_CALL_MS, _SAME_WORDS_MS = 30_000, 5_000
_PATIENCE, _PATIENCE_AT_END = 8.0, 2.0  # seconds; hosts give a hook 10, and 3 or 5 at the end of a session


def run(argv: list[str]) -> "NoReturn":
    """Serve one call and leave at once: there is nothing to finalise, and the host is waiting."""
    try:
        _lose_patience_after(_PATIENCE_AT_END if "end" in _options(argv).get("event", "").lower() else _PATIENCE)
        served = serve(_read_all(0), argv, os.environ)
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
        except Exception as error:  # noqa: BLE001 - a hook never breaks its host
            _note(self._store, error, b"", self._moment.agent)


def respond(data: bytes, argv: list[str], environ: "Mapping[str, str]") -> bytes:
    """Record what the host sent, and the answer to print; never raises."""
    return serve(data, argv, environ).answer


def serve(data: bytes, argv: list[str], environ: "Mapping[str, str]") -> Served:
    """Record what the host sent; never raises."""
    hints = _options(argv)
    agent = hosts.named(hints.get("agent", ""))
    silence = hosts.dialect(agent, agent).SILENT
    if environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        return Served(silence)
    try:
        store = Store.locate(hints.get("store"), environ)
    except OSError:  # a relative path, and the directory it is relative to is gone
        return Served(silence)
    lost: bytes | dict[str, object] = data
    try:
        moment = read(_parse(data), agent, hints.get("event", ""))
        dialect = hosts.dialect(agent, moment.agent)
        silence = dialect.SILENT
        if _is_off(moment):
            return Served(silence)
        if moment.type == "session_start" and hints.get("session-type") == "shared":
            moment.fields["session_type"] = "shared"
        if not moment.session:
            moment.session = _missing_id(store, moment, environ)
        moment.session = without_secrets(moment.session)
        event = event_of(moment)
        lost = event
        new = record(store, moment, event)
        lost = b""
        return Served(nets.answer(store, moment, dialect, event, new=new), store, moment)
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        _note(store, error, getattr(error, "lost", None) or lost, agent)
    return Served(silence)


def read(payload: Payload, agent_hint: str = "", event_hint: str = "") -> Moment:
    """The moment a payload tells of, in the words of the host that really sent it."""
    return hosts.read(classify(payload, agent_hint), payload, event_name(payload, event_hint))


def event_of(moment: Moment) -> dict[str, object]:
    """The event a moment becomes, without `v`, `id` and `ts`."""
    fields: dict[str, object] = {
        "type": moment.type,
        "conversation_id": moment.session,
        "project": moment.project,
        "agent": moment.agent,
    }
    if moment.subagent:
        fields["subagent"] = moment.subagent
    if moment.type == "host_event":
        fields |= {"name": moment.name, "payload": scrub(moment.payload)}
    else:
        fields |= scrub(moment.fields)
    if moment.type == "session_start":
        branch, commit = git_head(moment.where)
        fields |= {name: value for name, value in (("git_branch", branch), ("git_commit", commit)) if value}
    return fields


def record(store: Store, moment: Moment, event: dict[str, object]) -> bool:
    """Append the event of a moment; False where it was there already. Raises NotStored or InvalidEvent."""
    close = _SAME_WORDS_MS if moment.type == "turn_end" or moment.gist is not None else _SAME_CALL_MS
    within_ms = None if moment.turn else close
    try:
        return append_once(store, event, moment.key, within_ms=within_ms)
    except InvalidEvent:  # too long for a line
        if moment.type != "host_event":
            raise
        return append_once(store, event | {"payload": outline(moment.payload)}, moment.key, within_ms=within_ms)


def _parse(data: bytes) -> Payload:
    payload = wire.loads(data)
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
    """Until the host closes its end; if it never does, what has come by the time patience ends."""
    chunks = []
    try:
        while chunk := os.read(fd, 1 << 20):
            chunks.append(chunk)
    except TimeoutError:
        pass
    return b"".join(chunks)


def _print(answer: bytes) -> None:
    """Where the host has closed its end, what it sent is stored all the same."""
    try:
        while answer:
            answer = answer[os.write(1, answer) :]
    except OSError:
        return


def _lose_patience_after(seconds: float) -> None:
    """Whatever blocks (a lock, a disk) is given up before the host gives up on us; where the system can."""
    try:
        # `import signal` costs two milliseconds
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
    except ImportError:
        return

    def give_up(*_: object) -> "NoReturn":
        raise TimeoutError(f"gave up after {seconds:.0f} seconds")

    signal(SIGALRM, give_up)
    setitimer(ITIMER_REAL, seconds)


def _note(store: Store, error: Exception, lost: "bytes | dict[str, object]", agent: str = "") -> None:
    """Where even this fails, so be it."""
    try:
        from eventlog.agents.failures import note

        note(store, error, lost, agent)
    except Exception:  # noqa: BLE001, S110 - there is no one left to tell
        pass
