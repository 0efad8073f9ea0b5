"""`eventlog hook`: the host's JSON on stdin, an event in the log, an answer in the host's dialect.

Whatever happens, the host is not disturbed: exit code 0, nothing on stderr, and a failure is noted in
`cache/hook-errors.log` with the payload it lost.
"""

import os
from itertools import pairwise

from eventlog import wire
from eventlog.agents import claude, codex, cursor, other
from eventlog.agents.classify import classify, event_name
from eventlog.agents.moment import Moment, Payload
from eventlog.agents.scrub import outline, scrub
from eventlog.errors import InvalidEvent
from eventlog.live import append_once
from eventlog.project import git_head, project_root
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

_SAME_CALL_MS = 30_000  # identical payloads without a key of their own are one call when they come this close
_NO_SESSION = "no-session"
_HOSTS = {one.AGENT: one for one in (claude, codex, cursor)}


def run(argv: list[str]) -> "NoReturn":
    """Serve one call and leave at once: there is nothing to finalise, and the host is waiting."""
    try:
        os.write(1, respond(_read_all(0), argv, os.environ))
    except OSError:  # the host closed its end; what it sent is stored all the same
        pass
    finally:
        os._exit(0)


def respond(data: bytes, argv: list[str], environ: "Mapping[str, str]") -> bytes:
    """Record what the host sent, and the answer to print; never raises."""
    hints = _options(argv)
    agent = hints.get("agent", "")
    store = Store.locate(hints.get("store"), environ)
    try:
        moment = read(_parse(data), agent, hints.get("event", ""))
        agent = agent or moment.agent
        if not _is_off(moment, environ):
            record(store, moment)
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        _note(store, error, data)
    return silent(agent)


def read(payload: Payload, agent_hint: str = "", event_hint: str = "") -> Moment:
    """The moment a payload tells of, in the words of the host that really sent it."""
    agent = classify(payload, agent_hint)
    name = event_name(payload, event_hint)
    return _HOSTS[agent].read(payload, name) if agent in _HOSTS else other.read(payload, name, agent)


def record(store: Store, moment: Moment) -> bool:
    """Append the event of a moment; False where it was there already. Raises NotStored or InvalidEvent."""
    where = moment.cwd or os.getcwd()
    fields: dict[str, object] = {
        "type": moment.type,
        "conversation_id": moment.session or _NO_SESSION,
        "project": project_root(where),
        "agent": moment.agent,
    }
    if moment.subagent:
        fields["subagent"] = moment.subagent
    if moment.type == "host_event":
        fields |= {"name": moment.name, "payload": scrub(moment.payload)}
    else:
        fields |= scrub(moment.fields)
    if moment.type == "session_start":
        branch, commit = git_head(where)
        fields |= {name: value for name, value in (("git_branch", branch), ("git_commit", commit)) if value}
    within_ms = None if moment.turn else _SAME_CALL_MS
    try:
        return append_once(store.log, fields, _key(moment), within_ms=within_ms)
    except InvalidEvent:  # too long for a line
        if moment.type != "host_event":
            raise
        return append_once(store.log, fields | {"payload": outline(moment.payload)}, _key(moment), within_ms=within_ms)


def silent(agent: str) -> bytes:
    """The answer that asks for nothing, in the dialect of the caller."""
    return _HOSTS[agent].SILENT if agent in _HOSTS else other.SILENT.get(agent, b"")


def _parse(data: bytes) -> Payload:
    payload = wire.loads(data)
    if not isinstance(payload, dict):
        raise ValueError("the payload is not a JSON object")  # noqa: TRY004 - what was said is wrong, not our types
    return payload


def _key(moment: Moment) -> str:
    """What tells this call of the host from all others; hosts disagree with themselves on the case of event names."""
    call = moment.turn or wire.dumps(moment.payload).decode()
    return f"{moment.agent}\n{moment.session}\n{moment.subagent}\n{moment.name.lower()}\n{call}"


def _options(argv: list[str]) -> dict[str, str]:
    """`--agent A --event E --store DIR`, in either spelling; what is not understood is not a reason to fail."""
    found: dict[str, str] = {}
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--") else [word])]
    for name, value in pairwise(words):
        if name.startswith("--"):
            found[name[2:]] = value
    if found.get("agent") == "claude":
        found["agent"] = claude.AGENT
    return found


def _is_off(moment: Moment, environ: "Mapping[str, str]") -> bool:
    """`EVENTLOG_DISABLED=1`, or a file `.eventlog-disable` where the agent works or in its project."""
    if environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        return True
    where = moment.cwd or os.getcwd()
    return any(os.path.exists(f"{place}/.eventlog-disable") for place in (where, project_root(where)))


def _read_all(fd: int) -> bytes:
    chunks = []
    while chunk := os.read(fd, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def _note(store: Store, error: Exception, data: bytes) -> None:
    """Where even this fails, so be it."""
    try:
        from eventlog.agents.failures import note

        note(store, error, data)
    except Exception:  # noqa: BLE001, S110 - there is no one left to tell
        pass
