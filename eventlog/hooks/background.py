"""Work for a background process: notes in `cache/open/` of what waits, and the start of `eventlog settle`.

A small file per conversation that is not finalized, written by hooks at each turn's end and at the session's, removed
by `eventlog settle`. It has what the log lacks: the path of the host's transcript. A host without an event for the end
leaves a note that grows old.

Standard library only, and not even subprocess: importing it costs more than the hook.
"""

import sys
import time

from eventlog.fast import fastjson, os
from eventlog.hooks import deadline
from eventlog.hosts.call import HookCall, present
from eventlog.secrets import scrub_fields
from eventlog.store import Store, conversation_name
from eventlog.store.files import file_stamp, is_locked, names_in, read, remove, write_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventlog.format.payloads import StageSummary

_LONGEST_TOPIC = 90  # characters
_STARTS_WITHIN = 10.0  # seconds
_DRAWN_WITHIN = 60.0  # seconds of an end: later, `eventlog settle` is not at work, or drew nothing
_PAUSE = 0.5  # seconds: the host finishes first, and a single process handles several ends


# ------------------------------------------------------------------------------------------------ notes


def mark_open(store: Store, call: HookCall) -> None:
    """Write the note of a conversation, if possible; not durable.

    A start has a note of its own as well (`.started`), for session hooks.
    """
    path = _note(store, call)
    noted = {} if call.transcript and call.process else _noted(path)
    fields = scrub_fields(
        present(
            {
                "session": call.session,
                "agent": call.agent,
                "project": call.project,
                "cwd": call.where,
                "transcript": call.transcript or noted.get("transcript", ""),  # Copilot names it at some calls only
                "ended": call.type == "session_end",
            }
        )
    )
    fields |= present({"process": call.process or _host_process()})
    if call.type == "session_start":
        write_note(_note(store, call, "started"), fastjson.dumps(fields))
        is_new = not noted  # else it may have an end that nobody has seen to yet
        fields = {**fields, "ended": noted.get("ended", False), "only_begun": noted.get("only_begun", is_new)}
    write_note(path, fastjson.dumps(fields))


def complete(store: Store, call: HookCall) -> None:
    """Complete a call from the notes of its conversation: where it began, its host's process, who began this turn."""
    turn = _note(store, call, "turn")
    if call.by_machine:
        from eventlog.hooks.conversation import last_prompt

        prompt = last_prompt(store, call.session, call.agent) or {}
        if call.dedupe_key not in (prompt.get("prompt_id"), prompt.get("turn_id")):  # else in the middle of the user's
            write_note(turn, call.dedupe_key.encode())
        return
    noted = _noted(_note(store, call))
    call.process = str(noted.get("process", ""))
    if began := noted.get("project"):
        call.begun_in(str(began))
    if call.type == "session_end":
        remove(turn)
    elif call.dedupe_key and read(turn) == call.dedupe_key.encode():
        call.as_host_event()


def _note(store: Store, call: HookCall, ending: str = "json") -> str:
    return store.cached("open", f"{conversation_name(call.session)}.{ending}")


def _noted(path: str) -> "dict[str, object]":
    return fastjson.object_in(read(path) or b"")


def name_lost(store: Store, call: HookCall, asked_in: "Callable[[HookCall], str]") -> None:
    """Append the last prompt of each conversation of the project that is over and has no summary: this start shows it.

    Its host is gone, or it has just ended: `eventlog settle` sums it up afterwards, when nobody waits. Where no hook
    was called for a prompt today, `asked_in` finds it in the transcript.
    """
    for note in _open(store):
        session, agent = str(note.get("session", "")), str(note.get("agent", ""))
        if session == call.session or note.get("project", "") != call.project:
            continue
        lost = HookCall(agent, "", {"transcript_path": note.get("transcript", "")}, session=session)
        if _has_just_ended(_note(store, lost)) if note.get("ended") else is_gone(str(note.get("process", ""))):
            _name(store, lost, call.project, asked_in)


def _has_just_ended(path: str) -> bool:
    return time.time() - file_stamp(path)[1] / 1e9 < _DRAWN_WITHIN


def _name(store: Store, lost: HookCall, project: str, asked_in: "Callable[[HookCall], str]") -> None:
    from eventlog.hooks.conversation import last_prompt
    from eventlog.hooks.record import envelope
    from eventlog.store.append_once import append_once

    lost.begun_in(project)
    found = last_prompt(store, lost.session, lost.agent, unless="stage_summary")
    asked = "" if found is None else str(found.get("prompt", "")) or asked_in(lost)
    if prompt := " ".join(asked.split())[:_LONGEST_TOPIC]:
        fields: StageSummary = {"scope": "session", "topic": prompt, "summary": prompt}
        key = f"lost\n{lost.session}\n{prompt}"
        append_once(store, {**envelope(lost, "stage_summary"), **fields}, key, sync=False)  # the next one syncs it, too


def has_open(store: Store) -> bool:
    """Return whether a conversation waits to be finalized, or a plan entry to be applied; a start alone does not."""
    return os.path.exists(store.entries_note) or any(
        not note.get("only_begun") or is_gone(str(note.get("process", ""))) for note in _open(store)
    )


def conversations_of_host(store: Store) -> "set[str]":
    """Find the open conversations of the host that has started this process; empty where it is unknown."""
    here = _host_process()
    return {str(note.get("session", "")) for note in _open(store) if here and note.get("process") == here}


def _open(store: Store) -> "Iterator[dict[str, object]]":
    """Read the notes of open conversations."""
    names = (name for name in names_in(store.cached("open")) if name.endswith(".json"))
    return (_noted(store.cached("open", name)) for name in names)


# ------------------------------------------------------------------------------------------------ the host

called_by = 0  # the process that called the hook, where this one goes on after the call and is no child of it
_SHELLS = (b"sh", b"bash", b"dash", b"ash", b"zsh", b"ksh", b"fish", b"busybox", b"env")


def _host_process() -> str:
    """Name the host's process so that a later process of the same number differs; "" where that is unknown.

    It is the nearest one above this that is no shell. Where there is no /proc it is the leader of the terminal's
    session, unless that is our own shell.
    """
    try:
        space, pid = os.readlink("/proc/self/ns/pid"), called_by or os.getppid()
        for _ in range(4):
            name, parent, started = _process(pid)
            if name not in _SHELLS:
                return f"{space} {pid} {started}"
            pid = parent
    except (OSError, ValueError, IndexError):
        if hasattr(os, "getsid") and (leader := os.getsid(0)) not in (os.getpid(), os.getppid()):
            return str(leader)
    return ""


def _process(pid: int) -> "tuple[bytes, int, str]":
    """Read the name, the parent and the start time of a process of Linux, "" where it has ended.

    Raises OSError or ValueError.
    """
    fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    try:
        head, _, rest = os.read(fd, 1024).rpartition(b")")
    finally:
        os.close(fd)
    fields = rest.split()
    started = "" if fields[0] in (b"Z", b"X") else fields[19].decode()  # ended, but its parent has not looked
    return head.partition(b"(")[2], int(fields[1]), started


def is_gone(process: str) -> bool:
    """Return whether a host's process has ended, as far as this machine knows."""
    words = process.split()
    try:
        match words:
            case [space, pid, started] if space == os.readlink("/proc/self/ns/pid"):
                return _process(int(pid))[2] != started
            case [leader]:
                os.kill(int(leader), 0)
    except (FileNotFoundError, ProcessLookupError):
        return os.path.exists("/proc/self/stat") or len(words) == 1
    except (OSError, ValueError, IndexError):
        return False
    return False


# ------------------------------------------------------------------------------------------------ the process


def start_finalize(store: Store) -> None:
    """Start `eventlog settle` for the store, unless it is starting or running: it looks again before it ends."""
    if is_locked(store.lock("settle")) or _is_starting(store.cached("settle.starting")):
        return
    command = [sys.executable, "-I", "-m", "eventlog", "settle", "--store", store.root]
    if os.name == "nt":
        _start_on_windows(command)
    else:
        _start(command)


def _is_starting(path: str) -> bool:
    """Return whether another process has just started it; if not, claim the start for a while."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return time.time() - os.stat(path).st_mtime < _STARTS_WITHIN
    except OSError:
        return False
    return False


def _start(command: "list[str]") -> None:
    """Start a process in a session of its own; return when signals to our process group cannot reach it.

    A process that goes on after its call must not be its parent either: some hosts kill what their server has started.
    posix_spawn would also wait for the program to be loaded.
    """
    deadline.stop_thread()
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        os.read(reading, 1)
        os.close(reading)
        if called_by:
            os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if called_by and os.fork():
            os._exit(0)  # noqa: SLF001
        os.close(writing)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # a host waits until all ends of its pipes are closed
        time.sleep(_PAUSE)
        os.execv(command[0], command)
    finally:
        os._exit(127)  # noqa: SLF001 - so it is called


def _start_on_windows(command: "list[str]") -> None:
    import subprocess

    flags = 0x8 | 0x200  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    null = subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, close_fds=True, creationflags=flags)
