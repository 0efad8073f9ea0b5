"""Serve one client on two pipes, one message per line, until it closes its end; starts without click.

Only messages reach the client: other output of this process goes to /dev/null.
"""

import os
import sys

import eventlog
from eventlog import hosts
from eventlog.cli.mcp import protocol
from eventlog.cli.mcp.protocol import INVALID_REQUEST, Message, Protocol, Refusal
from eventlog.cli.mcp.tools import TOOLS, ToolCalls
from eventlog.cli.quick import version
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_OPTIONS = {"--store", "--agent", "--session-type"}
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 22  # bytes; a longer message is refused unread
_ROOTS = "roots"  # the id of the one request of ours


def main(argv: "Sequence[str]") -> bool:
    """Serve until the client exits; returns False, without serving, for unknown options."""
    options = dict(zip(argv[::2], argv[1::2], strict=False))
    audience = options.get("--session-type", "main")
    if len(options) * 2 != len(argv) or not options.keys() <= _OPTIONS or audience not in ("main", "shared"):
        return False
    serve(Store.locate(options.get("--store"), os.environ), options.get("--agent", ""), shared=audience == "shared")
    return True


def serve(store: Store, agent: str, *, shared: bool) -> None:
    """Serve the client at the standard streams; `agent` by either of its names.

    A plugin's server has no tools where the agent's files register another one: an agent has each tool once.
    """
    _answer_hooks(store)
    calls = ToolCalls(store, hosts.agent_name(agent), shared=shared)
    tools = () if hosts.is_second_server(calls.agent, os.path.realpath(".")) else TOOLS
    _run(calls, Protocol(calls.call, version() or "unknown", tools))


def _answer_hooks(store: Store) -> None:
    """Start a process that answers the hooks of the store while this one lives, if `install` made what asks it."""
    if sys.platform != "linux" or not os.access(store.live[1], os.X_OK):
        return
    command = [sys.executable, "-I", "-S", f"{eventlog.__path__[0]}/hook.py", "--live", store.root]
    reading, _ = os.pipe()  # nobody writes: it ends with this process
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (1, 2)]
    try:
        os.posix_spawn(
            command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), *null], setsid=True
        )
    except OSError:  # hooks go without
        pass
    finally:
        os.close(reading)


def _run(calls: ToolCalls, answers: Protocol) -> None:
    """Serve the client at the standard streams until it closes its end or exits."""
    source, sink = _private(0), _private(1)
    _private(2)
    try:
        Session(calls, answers, lambda line: _write(sink, line)).serve(_batches(source))
    except (BrokenPipeError, KeyboardInterrupt):  # the client's two other ways to end us
        return


class Session:
    """The session of one client; `say` sends it a line."""

    def __init__(self, calls: ToolCalls, answers: Protocol, say: "Callable[[bytes], None]") -> None:
        self._calls = calls
        self._protocol = answers
        self._say = say

    def serve(self, batches: "Iterator[list[bytes]]") -> None:
        """Answer all messages; skips requests cancelled before their turn."""
        for lines in batches:
            messages = [message for line in lines if (message := self._read(line))]
            for at, message in enumerate(messages):
                if not _is_cancelled(message, messages[at + 1 :]):
                    self._take(message)

    def _read(self, line: bytes) -> Message | None:
        if not line.strip():
            return None
        try:
            return protocol.read(line, _LONGEST_LINE)
        except Refusal as refusal:
            self._say(protocol.error(None, refusal))
            return None

    def _take(self, message: Message) -> None:
        if message.is_response:
            self._learn_roots(message)
        elif not message.is_well_formed:
            self._say(protocol.error(message.id, Refusal(INVALID_REQUEST, "Invalid request")))
        elif message.is_request:
            self._answer(message)
        elif message.method == "notifications/initialized" and self._protocol.has_roots:
            self._say(protocol.request(_ROOTS, "roots/list"))

    def _answer(self, message: Message) -> None:
        try:
            line = protocol.result(message.id, self._protocol.answer(message))
        except Refusal as refusal:
            line = protocol.error(message.id, refusal)
        self._say(line)

    def _learn_roots(self, message: Message) -> None:
        """Store the first root of the client: some clients start all servers in the home directory."""
        roots = message.result.get("roots") if isinstance(message.result, dict) else None
        first = roots[0] if message.id == _ROOTS and isinstance(roots, list) and roots else None
        uri = first.get("uri") if isinstance(first, dict) else None
        if isinstance(uri, str) and uri.startswith("file://"):
            self._calls.root = uri


def _is_cancelled(message: Message, later: list[Message]) -> bool:
    cancelled = (other.params.get("requestId") for other in later if other.method == "notifications/cancelled")
    return message.is_request and message.method != "initialize" and message.id in cancelled


def _batches(fd: int) -> "Iterator[list[bytes]]":
    """Read whole lines until the end; truncates lines over the limit."""
    rest = b""
    while data := os.read(fd, _CHUNK):
        *lines, rest = (rest + data).split(b"\n")
        rest = rest[: _LONGEST_LINE + 1]
        if lines:
            yield lines
    if rest:
        yield [rest]


def _private(fd: int) -> int:
    """Move a standard stream to a new descriptor, and put /dev/null in its place."""
    own = os.dup(fd)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)
    return own


def _write(fd: int, line: bytes) -> None:
    while line:
        line = line[os.write(fd, line) :]
