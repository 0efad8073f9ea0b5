"""Serve one client of the Model Context Protocol on two pipes, one message per line, until it closes its end.

Both eras are answered: modelcontextprotocol.io/specification. A client of both calls `server/discover` first; the
metadata of a request shows its era. Messages are JSON-RPC 2.0.

2026-07-28     no handshake: every request carries its version in `_meta`, every result its type, and lists their
               time to live; `server/discover` lists versions and capabilities.
up to 2025-11-25   a handshake, `initialize`, then requests without a version; `ping`. 2025-03-26 alone has batches.

Only messages reach the client: other output of this process goes to /dev/null. Starts without click, and imports little
of the standard library: hosts wait for the start of every server.
"""

import os
import sys

import eventlog
from eventlog import hosts
from eventlog.cli.mcp.tools import INSTRUCTIONS, TOOLS, ToolCalls
from eventlog.cli.quick import version
from eventlog.fast import fastjson
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    JSON = dict[str, object]
    Call = Callable[[str, JSON, JSON], tuple[str, bool]]

_OPTIONS = {"--store", "--agent", "--session-type"}
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 22  # bytes; a longer message is refused unread
_ROOTS = "roots"  # the id of the one request of ours
_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND, _INVALID_PARAMS = -32700, -32600, -32601, -32602
_UNSUPPORTED_VERSION = -32022
_NO_OBJECT = "Invalid request: not a JSON object"
_VERSION = "2.0"
_STATELESS = "2026-07-28"
_WITH_BATCHES = "2025-03-26"
_HANDSHAKES = ("2025-11-25", "2025-06-18", _WITH_BATCHES, "2024-11-05")
_PREFIX = "io.modelcontextprotocol/"
_FRESH_MS = 3_600_000  # the tools change with the program only
_CAPABILITIES: "JSON" = {"tools": {}}


class _RpcError(Exception):
    """A refused request, with the code of its error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class _ClientMessage:
    """A message of the client: a request with an id, a notification without an id, or a response with a `result`.

    A `batch` is a list of them in one line.
    """

    def __init__(self, fields: "JSON", batch: "Sequence[object]" = ()) -> None:
        self.batch = batch
        self.id = fields.get("id")
        self.method = fields.get("method")
        self.result = fields.get("result")
        params = fields.get("params", {})
        self.params: JSON = params if isinstance(params, dict) else {}
        meta = self.params.get("_meta")
        self.meta: JSON = meta if isinstance(meta, dict) else {}
        self.is_request = "id" in fields and "method" in fields
        self.is_response = "id" in fields and "method" not in fields and ("result" in fields or "error" in fields)
        self.is_well_formed = (
            fields.get("jsonrpc") == _VERSION
            and isinstance(self.method, str)
            and isinstance(params, dict)
            and (not self.is_request or _is_id(self.id))
        )


def _is_id(value: object) -> bool:
    """Check for a valid id of a request: a text or an integer."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _parsed(line: bytes) -> _ClientMessage:
    """Parse one line; raises _RpcError."""
    if len(line) > _LONGEST_LINE:
        raise _RpcError(_INVALID_REQUEST, "Invalid request: too long")
    try:
        fields = fastjson.loads(line)
    except ValueError as error:
        raise _RpcError(_PARSE_ERROR, f"Parse error: {error}") from None
    if isinstance(fields, list) and fields:
        return _ClientMessage({}, fields)
    if not isinstance(fields, dict):
        raise _RpcError(_INVALID_REQUEST, _NO_OBJECT)
    return _ClientMessage(fields)


def _error(request_id: object, refusal: _RpcError) -> bytes:
    """Format the error response to a request; without an id for an unreadable request."""
    fields: JSON = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        fields["data"] = refusal.data
    return _line({"id": request_id, "error": fields} if _is_id(request_id) else {"error": fields})


def _line(fields: "JSON") -> bytes:
    return fastjson.dumps({"jsonrpc": _VERSION, **fields}) + b"\n"


class Protocol:
    """Answers the requests of one client.

    `call` runs a tool: takes its name, its arguments and the request's `_meta`; returns a text, and whether it failed.
    Without `tools` there is nothing to call: another server of ours has them.
    """

    def __init__(self, call: "Call", version: str, tools: "Sequence[JSON]" = TOOLS) -> None:
        self._call = call
        self._tools = tools
        self._instructions: JSON = {"instructions": INSTRUCTIONS} if tools else {}
        self._server: JSON = {"name": "eventlog", "version": version}
        self._is_initialized = False
        self.has_roots = self.has_batches = False

    def answer(self, message: _ClientMessage) -> "JSON":
        """Return the result of a request; raises _RpcError."""
        version = message.meta.get(f"{_PREFIX}protocolVersion")
        if version is None and (message.method in ("initialize", "ping") or self._is_initialized):
            return self._result(message, {})
        _check_metadata(message, version)
        fields = self._result(message, {"ttlMs": _FRESH_MS, "cacheScope": "public"})
        return {"resultType": "complete", **fields, "_meta": {f"{_PREFIX}serverInfo": self._server}}

    def _result(self, message: _ClientMessage, cached: "JSON") -> "JSON":
        """Answer a method of either era; without a handshake, results may be `cached`."""
        match message.method, bool(cached):
            case "initialize", False:
                return self._initialize(message.params)
            case "ping", False:
                return {}
            case "server/discover", True:
                versions: JSON = {"supportedVersions": [_STATELESS], "capabilities": _CAPABILITIES}
                return {**versions, **self._instructions, **cached}
            case "tools/list", _:
                return {"tools": [*self._tools], **cached}
            case "tools/call", _:
                return self._use(message)
        raise _RpcError(_METHOD_NOT_FOUND, f"Method not found: {message.method}")

    def _initialize(self, params: "JSON") -> "JSON":
        """Accept the version of the client, else offer the newest with a handshake."""
        self._is_initialized = True
        version, capabilities = params.get("protocolVersion"), params.get("capabilities")
        self.has_roots = isinstance(capabilities, dict) and "roots" in capabilities
        self.has_batches = version == _WITH_BATCHES
        return {
            "protocolVersion": version if version in _HANDSHAKES else _HANDSHAKES[0],
            "capabilities": _CAPABILITIES,
            "serverInfo": self._server,
            **self._instructions,
        }

    def _use(self, message: _ClientMessage) -> "JSON":
        name, arguments = message.params.get("name"), message.params.get("arguments", {})
        if name not in [tool["name"] for tool in self._tools]:
            raise _RpcError(_INVALID_PARAMS, f"Unknown tool: {name}")
        if not isinstance(arguments, dict):
            raise _RpcError(_INVALID_PARAMS, "Invalid params: arguments is not an object")
        text, failed = self._call(str(name), arguments, message.meta)
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def _check_metadata(message: _ClientMessage, version: object) -> None:
    if not isinstance(version, str) or not isinstance(message.meta.get(f"{_PREFIX}clientCapabilities"), dict):
        raise _RpcError(
            _INVALID_PARAMS, "Invalid params: _meta lacks the protocol version or the client's capabilities"
        )
    if version != _STATELESS:
        versions = {"supported": [_STATELESS], "requested": version}
        raise _RpcError(_UNSUPPORTED_VERSION, "Unsupported protocol version", versions)


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
    tools = () if hosts.protocol(calls.agent).has_second_server(calls.directory) else TOOLS
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
        """Answer all messages, until the client closes its end."""
        for lines in batches:
            self.take_all([message for line in lines if (message := self._read(line))])

    def take_all(self, messages: "Sequence[_ClientMessage]") -> None:
        """Answer messages that came together; skips requests cancelled before their turn."""
        turns: dict[object, int] = {}  # the last cancelling of each id
        for at, message in enumerate(messages):
            if message.method == "notifications/cancelled" and _is_id(message.params.get("requestId")):
                turns[message.params["requestId"]] = at
        for at, message in enumerate(messages):
            is_open = not message.is_request or message.method == "initialize"  # what nobody can cancel
            if is_open or not _is_id(message.id) or turns.get(message.id, at) <= at:
                self._take(message)

    def _read(self, line: bytes) -> _ClientMessage | None:
        if not line.strip():
            return None
        try:
            return _parsed(line)
        except _RpcError as refusal:
            self._say(_error(None, refusal))
            return None

    def _take(self, message: _ClientMessage) -> None:
        if message.batch:
            self._take_batch(message.batch)
        elif message.is_response:
            self._learn_roots(message)
        elif not message.is_well_formed:
            self._say(_error(message.id, _RpcError(_INVALID_REQUEST, "Invalid request")))
        elif message.is_request:
            self._answer(message)
        elif message.method == "notifications/initialized" and self._protocol.has_roots:
            self._say(_line({"id": _ROOTS, "method": "roots/list"}))

    def _take_batch(self, batch: "Sequence[object]") -> None:
        """Answer the messages of a batch in one line, where the version of the client has batches."""
        if not self._protocol.has_batches:
            self._say(_error(None, _RpcError(_INVALID_REQUEST, _NO_OBJECT)))
            return
        answers: list[bytes] = []
        each_alone = Session(self._calls, self._protocol, answers.append)
        each_alone.take_all([_ClientMessage(each if isinstance(each, dict) else {}) for each in batch])
        if answers:
            self._say(b"[" + b",".join(map(bytes.strip, answers)) + b"]\n")

    def _answer(self, message: _ClientMessage) -> None:
        try:
            line = _line({"id": message.id, "result": self._protocol.answer(message)})
        except _RpcError as refusal:
            line = _error(message.id, refusal)
        self._say(line)

    def _learn_roots(self, message: _ClientMessage) -> None:
        """Store the first root of the client: some clients start all servers in the home directory."""
        roots = message.result.get("roots") if isinstance(message.result, dict) else None
        first = roots[0] if message.id == _ROOTS and isinstance(roots, list) and roots else None
        uri = first.get("uri") if isinstance(first, dict) else None
        if isinstance(uri, str) and uri.startswith("file://"):
            self._calls.root = uri


def _batches(fd: int) -> "Iterator[list[bytes]]":
    """Read whole lines until the end; truncates lines over the limit."""
    rest = b""
    while data := os.read(fd, _CHUNK):
        if len(rest) > _LONGEST_LINE and b"\n" not in data:
            continue
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
