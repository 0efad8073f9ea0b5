"""`eventlog hook`: the host's JSON on stdin, an event in the log, an answer in the host's dialect.

Whatever happens, the host is not disturbed: exit code 0, nothing on stderr, and a failure is noted in
`cache/hook-errors.log` with what it lost. An event that cannot be appended in time waits in `spool/`.
"""

from eventlog import hosts
from eventlog.fast import fastjson, os
from eventlog.hooks import acceptable, patience, safety_nets
from eventlog.hooks.patience import OutOfTime
from eventlog.hooks.record import dated, event_of, note, note_call, record, tidy
from eventlog.hosts.call import HookCall, Payload
from eventlog.store import Store
from eventlog.store.files import keep_owners_rights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

    from eventlog.hooks.safety_nets import StartContext
    from eventlog.hosts import Dialect

    Served = tuple[bytes, Store | None, HookCall | None]  # the answer, and what was recorded, where anything was

_LARGEST_PAYLOAD = 64 << 20  # bytes


def run(argv: list[str], start_context: "StartContext") -> "NoReturn":
    """Serve one call and leave at once: there is nothing to finalise, and the host is waiting."""
    try:
        patience.begin()
        keep_owners_rights()
        hints = hints_in(argv)
        patience.say_at_the_end(_silence(hints))
        patience.until(patience.STDIN)
        sent = _read_all(0)
        patience.until(patience.READ)
        answer, store, call = serve(sent, hints, os.environ, start_context)
        patience.until(patience.LAST)
        patience.say_at_the_end(b"")
        _print(answer)
        start_background_work(store, call)
    except BaseException:  # noqa: BLE001, S110 - nobody is left to tell: stderr is the host's
        pass
    finally:
        os._exit(0)  # noqa: SLF001 - so it is called


def start_background_work(store: Store | None, call: HookCall | None) -> None:
    """Start what the host need not wait for; never raises."""
    if not store or not call:
        return
    try:
        safety_nets.note_and_start(store, call)
        tidy(store)
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        note(store, error, b"", call.agent)


def serve(
    data: bytes, hints: "Mapping[str, str]", environ: "Mapping[str, str]", start_context: "StartContext"
) -> "Served":
    """Record what the host sent; `start_context` answers a session's start. Never raises."""
    agent, silence = hints["agent"], _silence(hints)
    is_tried = not agent and not data.strip()  # by hand: what `install` writes names its host
    if is_tried or environ.get("EVENTLOG_DISABLED", "") not in ("", "0"):
        return silence, None, None
    try:
        store = Store.locate(hints.get("store"), environ)
    except OSError:  # a relative path, and the directory it is relative to is gone
        return silence, None, None
    lost: bytes | dict[str, object] = data
    call = None
    try:
        call = read(_parse(data), agent, hints.get("event", ""))
        dialect = hosts.dialect(agent, call.agent)
        silence = dialect.SILENT
        if _is_off(call):
            return silence, None, None
        if (call.type == "session_start" or call.takes_context) and hints.get("session-type") == "shared":
            call.in_shared_session()
        if not call.session.strip():
            from eventlog.hooks.conversation_id import conversation_id

            call.session = conversation_id(store, call, environ)
        call.session = acceptable.name(call.session)
        if call.file is not None and (told := _before_file(store, call, dialect, start_context)) is not None:
            return told, store, None
        if call.may_recur and not call.dedupe_key:
            from eventlog.hooks.predecessor import predecessor

            call.after = predecessor(store, call)
        event = event_of(store, call)
        lost = dated(event, call)
        new = record(store, call, event)
        lost = b""
        note_call(store, call.agent)
        patience.until(patience.ANSWER)
        return safety_nets.answer(store, call, dialect, start_context, new=new), store, call
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        note(store, error, getattr(error, "lost", None) or lost, agent)
    except OutOfTime:
        patience.until(patience.LAST)
        note(store, TimeoutError("out of time"), lost, agent)
    return silence, store, call if not lost else None


def _before_file(store: Store, call: HookCall, dialect: "Dialect", start_context: "StartContext") -> bytes | None:
    """Tell the agent, never one it has sent, what is known of a file; None where the user does not want that.

    That it was asked is not worth an event.
    """
    from eventlog.settings.cached import wants_files

    if not wants_files(store):
        return None
    patience.until(patience.ANSWER)
    told = start_context(store, call) if call.file and not call.subagent else ""
    return dialect.start(told, call.name) if told else dialect.SILENT


def read(payload: Payload, agent_hint: str = "", event_hint: str = "") -> HookCall:
    """Read the call a payload tells of, in the words of the host that really sent it."""
    return hosts.read(payload, agent_hint, event_hint)


def _silence(hints: "Mapping[str, str]") -> bytes:
    """Say nothing, in the words of the host the command was installed for."""
    return hosts.dialect(hints["agent"], hints["agent"]).SILENT


def _parse(data: bytes) -> Payload:
    try:
        payload = fastjson.loads(data)
    except ValueError:
        payload = acceptable.loads(data)
    if not isinstance(payload, dict):
        raise ValueError("the payload is not a JSON object")  # noqa: TRY004 - what was said is wrong, not our types
    return payload


def hints_in(argv: list[str]) -> dict[str, str]:
    """Read `--agent A --event E --store DIR --session-type shared`, in either spelling; the agent as the log has it.

    What is not understood is not a reason to fail.
    """
    found: dict[str, str] = {}
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--") else [word])]
    for position, name in enumerate(words[:-1], 1):
        if name.startswith("--"):
            found[name[2:]] = words[position]
    return {**found, "agent": hosts.agent_name(found.get("agent", ""))}


def _is_off(call: HookCall) -> bool:
    """Tell whether there is a file `.eventlog-disable` where the agent works or in its project."""
    return any(os.path.exists(f"{place}/.eventlog-disable") for place in (call.where, call.project) if place)


def _read_all(fd: int) -> bytes:
    """Read until the host closes its end; if it never does, what has come by the time patience ends.

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
    """Read what a busy machine gave us no time for."""
    try:
        os.set_blocking(fd, False)
        while chunk := os.read(fd, 1 << 20):
            yield chunk
    except OSError:
        return


def _print(answer: bytes) -> None:
    """Write the answer; where the host has closed its end, what it sent is stored all the same."""
    try:
        while answer:
            answer = answer[os.write(1, answer) :]
    except OSError:
        return
