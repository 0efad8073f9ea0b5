"""Answer the methods of the Model Context Protocol, in both eras: modelcontextprotocol.io/specification.

2026-07-28     no handshake: every request carries its version in `_meta`, every result its type, and lists their
               time to live; `server/discover` lists versions and capabilities.
up to 2025-11-25   a handshake, `initialize`, then requests without a version; `ping`.

A client of both eras calls `server/discover` first. The metadata of a request shows its era. Messages are JSON-RPC 2.0,
one per line. Imports little of the standard library: hosts wait for the start of every server.
"""

from eventlog.cli.mcp.tools import INSTRUCTIONS, TOOLS
from eventlog.fast import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    JSON = dict[str, object]
    Call = Callable[[str, JSON, JSON], tuple[str, bool]]


PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
VERSION = "2.0"


class Refusal(Exception):
    """A refused request, with the code of its error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Message:
    """A message of the client: a request with an id, a notification without an id, or a response with a `result`."""

    def __init__(self, fields: "JSON") -> None:
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
            fields.get("jsonrpc") == VERSION
            and isinstance(self.method, str)
            and isinstance(params, dict)
            and (not self.is_request or _is_id(self.id))
        )


def _is_id(value: object) -> bool:
    """Check for a valid id of a request: a text or an integer."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def read(line: bytes, longest: int) -> Message:
    """Parse one line of at most `longest` bytes; raises Refusal."""
    if len(line) > longest:
        raise Refusal(INVALID_REQUEST, "Invalid request: too long")
    try:
        fields = fastjson.loads(line)
    except ValueError as error:
        raise Refusal(PARSE_ERROR, f"Parse error: {error}") from None
    if not isinstance(fields, dict):
        raise Refusal(INVALID_REQUEST, "Invalid request: not a JSON object")
    return Message(fields)


def result(request_id: object, fields: "Mapping[str, object]") -> bytes:
    """Format the response to a request."""
    return _line({"id": request_id, "result": dict(fields)})


def error(request_id: object, refusal: Refusal) -> bytes:
    """Format the error response to a request; without an id for an unreadable request."""
    fields: JSON = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        fields["data"] = refusal.data
    return _line({"id": request_id, "error": fields} if _is_id(request_id) else {"error": fields})


def request(request_id: str, method: str) -> bytes:
    """Format a request to the client."""
    return _line({"id": request_id, "method": method})


def _line(fields: "JSON") -> bytes:
    return fastjson.dumps({"jsonrpc": VERSION, **fields}) + b"\n"


STATELESS = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_UNSUPPORTED_VERSION = -32022
_PREFIX = "io.modelcontextprotocol/"
_FRESH_MS = 3_600_000  # the tools change with the program only
_CAPABILITIES: "JSON" = {"tools": {}}


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
        self.has_roots = False

    def answer(self, message: Message) -> "JSON":
        """Return the result of a request; raises Refusal."""
        version = message.meta.get(f"{_PREFIX}protocolVersion")
        if version is None and (message.method in ("initialize", "ping") or self._is_initialized):
            return self._answer_after_handshake(message)
        _check_metadata(message, version)
        fields = self._answer_stateless(message)
        return {"resultType": "complete", **fields, "_meta": {f"{_PREFIX}serverInfo": self._server}}

    def _answer_after_handshake(self, message: Message) -> "JSON":
        match message.method:
            case "initialize":
                return self._initialize(message.params)
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [*self._tools]}
            case "tools/call":
                return self._use(message)
        raise Refusal(METHOD_NOT_FOUND, f"Method not found: {message.method}")

    def _answer_stateless(self, message: Message) -> "JSON":
        cached: JSON = {"ttlMs": _FRESH_MS, "cacheScope": "public"}
        match message.method:
            case "server/discover":
                versions: JSON = {"supportedVersions": [STATELESS], "capabilities": _CAPABILITIES}
                return {**versions, **self._instructions, **cached}
            case "tools/list":
                return {"tools": [*self._tools], **cached}
            case "tools/call":
                return self._use(message)
        raise Refusal(METHOD_NOT_FOUND, f"Method not found: {message.method}")

    def _initialize(self, params: "JSON") -> "JSON":
        """Accept the version of the client, else offer the newest with a handshake."""
        self._is_initialized = True
        asked, capabilities = params.get("protocolVersion"), params.get("capabilities")
        self.has_roots = isinstance(capabilities, dict) and "roots" in capabilities
        return {
            "protocolVersion": asked if asked in HANDSHAKES else HANDSHAKES[0],
            "capabilities": _CAPABILITIES,
            "serverInfo": self._server,
            **self._instructions,
        }

    def _use(self, message: Message) -> "JSON":
        name, arguments = message.params.get("name"), message.params.get("arguments", {})
        if name not in [tool["name"] for tool in self._tools]:
            raise Refusal(INVALID_PARAMS, f"Unknown tool: {name}")
        if not isinstance(arguments, dict):
            raise Refusal(INVALID_PARAMS, "Invalid params: arguments is not an object")
        text, failed = self._call(str(name), arguments, message.meta)
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def _check_metadata(message: Message, version: object) -> None:
    if not isinstance(version, str) or not isinstance(message.meta.get(f"{_PREFIX}clientCapabilities"), dict):
        raise Refusal(INVALID_PARAMS, "Invalid params: _meta lacks the protocol version or the client's capabilities")
    if version != STATELESS:
        versions = {"supported": [STATELESS], "requested": version}
        raise Refusal(_UNSUPPORTED_VERSION, "Unsupported protocol version", versions)
