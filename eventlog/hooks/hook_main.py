"""`eventlog hook`: record a host's JSON from stdin as an event, and answer in the host's dialect.

Whatever happens, the host is not disturbed: exit code 0, nothing on stderr, and a failure is noted in
`cache/hook-errors.log` with the event it lost. An event that cannot be appended in time waits in `spool/`.

`start_context` is the seam of the architecture: use cases two floors up answer a session's start, a prompt and a file.
It is handed down to the hooks, and imports them on demand.
"""

import sys
from _signal import SIG_IGN, SIGINT, signal  # type: ignore[import-not-found]  # `signal` costs two milliseconds

import eventlog
from eventlog import hosts
from eventlog.fast import os
from eventlog.hooks import deadline, safety_nets
from eventlog.hooks.deadline import OutOfTime
from eventlog.hooks.record import dated, event_of, log_name, note, note_call, parse, record, tidy
from eventlog.hosts.call import HookCall
from eventlog.settings.cached import off_switch, use_own_secrets, wants_recall
from eventlog.store import Store
from eventlog.store.files import keep_owners_rights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

    from eventlog.hooks.safety_nets import StartContext
    from eventlog.hosts.call import HostProtocol

    Handled = tuple[bytes, Store | None, HookCall | None]  # the answer, and the store and call of a recorded event

_LARGEST_PAYLOAD = 64 << 20  # bytes
_PIPE = 64 << 10  # bytes that a pipe holds: a read never gets more, and for more the system has to find new memory


def main(argv: list[str]) -> "NoReturn":
    """Handle a call of a host, and exit with 0 at once: there is nothing to finalise, and the host waits.

    Ctrl-C is for the host, which has the same terminal; what happened until then is recorded.
    """
    try:
        signal(SIGINT, SIG_IGN)
        if None in (sys.stdin, sys.stdout, sys.stderr):
            from eventlog.fast import standard_streams

            standard_streams.complete()
        deadline.start()
        serve(argv, start_context)
    except BaseException:  # noqa: BLE001, S110 - nothing can be reported: stderr is the host's
        pass
    finally:
        os._exit(0)  # noqa: SLF001 - so it is called


def serve(argv: list[str], start_context: "StartContext", mark: bytes = b"") -> None:
    """Handle the call at the standard streams; the answer begins with `mark`."""
    keep_owners_rights()
    hints = hints_in(argv)
    deadline.fallback_answer = mark + _silence(hints)
    deadline.set_stage(deadline.STDIN)
    data = _read_all(0)
    deadline.set_stage(deadline.READ)
    answer, store, call = handle(data, hints, os.environ, start_context)
    deadline.set_stage(deadline.LAST)
    deadline.fallback_answer = b""
    _print(mark + answer)
    if store and call:
        try:
            safety_nets.note_and_start(store, call)
            tidy(store)
        except Exception as error:  # noqa: BLE001 - a hook never breaks its host
            note(store, error, b"", call.agent)


def start_context(store: Store, call: HookCall) -> str:
    """Build the text a session starts with, never empty; what a helper starts with, or what is relevant to a prompt.

    Before a file is opened, or after a command failed, what is known of that.
    """
    if os.path.exists(store.trusted):
        _withdraw_gone(store, call)
    if call.asked or call.file or call.failed:
        from eventlog.app.search import recall

        return recall.at_prompt(store, call)
    from eventlog.app.serve import session_start

    return session_start.start_context(store, call)


def _withdraw_gone(store: Store, call: HookCall) -> None:
    """Withdraw what left the files of a team; that may fail, and costs no context."""
    from eventlog.projects.approvals import Approvals

    try:
        deadline.set_stage_within(deadline.LOCK, deadline.ANSWER)
        Approvals(store).withdraw_gone(call.project)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - `eventlog settle` sees to it all the same
        note(store, error, b"", call.agent)
    deadline.set_stage(deadline.ANSWER)


def handle(
    data: bytes, hints: "Mapping[str, str]", environ: "Mapping[str, str]", start_context: "StartContext"
) -> "Handled":
    """Record the payload, and answer; `start_context` answers a session's start. Never raises."""
    agent, silence = hints["agent"], _silence(hints)
    is_tried = not agent and not data.strip()  # by hand: the installed command names its host
    if is_tried or off_switch(environ):
        return silence, None, None
    try:
        store = Store.locate(hints.get("store"), environ)
    except OSError:  # a relative path, and the directory it is relative to is gone
        return silence, None, None
    lost: bytes | dict[str, object] = data
    recorded = None
    try:
        use_own_secrets(store)  # before a text is cut
        call = hosts.read(parse(data), agent, hints.get("event", ""))
        dialect = hosts.dialect(agent, call.agent)
        silence = dialect.silent
        call.is_retry = "again" in hints
        if off_switch(environ, call.where, call.project):
            return silence, None, None
        if hints.get("session-type") == "shared":
            call.in_shared_session()
        _complete(store, call, environ)
        if call.file is not None and (answer := _before_file(store, call, dialect, start_context)) is not None:
            return answer, store, None
        event = event_of(store, call)
        lost = dated(event, call)
        try:
            new, recorded = record(store, call, event), call
        except eventlog.NotStored as error:  # the disk is full, or read-only: what is known is told all the same
            note(store, error, error.lost or lost, agent)
            new = None
        if new is False and call.is_retry:
            new = True  # the answer is due all the same
        lost = b""
        note_call(store, call.agent)
        deadline.set_stage(deadline.ANSWER)
        return safety_nets.answer(store, call, dialect, start_context, new=new), store, recorded
    except Exception as error:  # noqa: BLE001 - a hook never breaks its host
        note(store, error, getattr(error, "lost", None) or lost, agent)
    except OutOfTime:
        note(store, TimeoutError("out of time"), lost, agent)
    return silence, store, recorded


def _complete(store: Store, call: HookCall, environ: "Mapping[str, str]") -> None:
    """Add what the payload lacks: the conversation, the facts in its notes, and the event before a start or end."""
    if not call.session.strip():
        from eventlog.hooks.conversation import conversation_id

        call.session = conversation_id(store, call, environ)
    call.session = log_name(call.session)
    if call.by_machine or call.type in ("turn_end", "session_end"):
        from eventlog.hooks.background import complete

        complete(store, call)
    if call.may_recur and not call.dedupe_key:
        from eventlog.hooks.conversation import previous_event

        call.after = previous_event(store, call)


def _before_file(store: Store, call: HookCall, dialect: "HostProtocol", start_context: "StartContext") -> bytes | None:
    """Build the recall for the file an agent opens, unless it is a subagent; None where the settings do not want that.

    The call becomes no event.
    """
    if not wants_recall(store, "file"):
        return None
    deadline.set_stage(deadline.ANSWER)
    recalled = start_context(store, call) if call.file and not call.subagent else ""
    return dialect.start(recalled, call.name) if recalled else dialect.silent


def hints_in(argv: list[str]) -> dict[str, str]:
    """Read `--agent A --event E --store DIR --session-type shared`, or with `=`; the agent by its name in the log.

    Ignores everything else.
    """
    found: dict[str, str] = {}
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--") else [word])]
    for position, name in enumerate(words[:-1], 1):
        if name.startswith("--"):
            found[name[2:]] = words[position]
    return {**found, "agent": hosts.agent_name(found.get("agent", ""))}


def _silence(hints: "Mapping[str, str]") -> bytes:
    """Return the empty answer of the host the command was installed for."""
    return hosts.dialect(hints["agent"], hints["agent"]).silent


def _read_all(fd: int) -> bytes:
    """Read until the host closes its end, or until the deadline; only the beginning where memory is too small."""
    chunks: list[bytes] = []
    try:
        try:
            _read(fd, chunks, _LARGEST_PAYLOAD)
        except OutOfTime:
            deadline.set_stage(deadline.READ)
            chunks += _available(fd)
        return b"".join(chunks)
    except (MemoryError, OutOfTime):
        beginning = chunks[0] if chunks else b""  # enough for a note
        chunks.clear()  # to delete a slice, Python needs new memory
    try:
        _read(fd, chunks, 0)
    except (OutOfTime, OSError):
        return beginning
    return beginning


def _read(fd: int, chunks: list[bytes], room: int) -> None:
    """Add what the host sends to `chunks`, as far as there is room, in bytes.

    The rest is read all the same: a host fails whose pipe is closed early.
    """
    while chunk := os.read(fd, _PIPE):
        deadline.set_stage_within(deadline.STDIN, deadline.READ)
        room -= len(chunk)
        if room >= 0:
            chunks.append(chunk)


def _available(fd: int) -> "Iterator[bytes]":
    """Read without waiting what a busy machine left unread."""
    try:
        os.set_blocking(fd, False)
        while chunk := os.read(fd, _PIPE):
            yield chunk
    except OSError:
        return


def _print(answer: bytes) -> None:
    """Write the answer, unless the host has closed its end."""
    try:
        while answer:
            answer = answer[os.write(1, answer) :]
    except OSError:
        return
