"""Answer the methods of the Model Context Protocol, in both eras: modelcontextprotocol.io/specification.

2026-07-28     no handshake: every request carries its version in `_meta`, every result its type, and lists their
               time to live; `server/discover` lists versions and capabilities.
up to 2025-11-25   a handshake, `initialize`, then requests without a version; `ping`.

A client of both eras calls `server/discover` first. The metadata of a request shows its era.
"""

from eventlog.cli.mcp.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Message, Refusal
from eventlog.cli.mcp.tools import INSTRUCTIONS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    JSON = dict[str, object]
    Call = Callable[[str, JSON, JSON], tuple[str, bool]]

STATELESS = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_UNSUPPORTED_VERSION = -32022
_PREFIX = "io.modelcontextprotocol/"
_FRESH_MS = 3_600_000  # the tools change with the program only
_CAPABILITIES: "JSON" = {"tools": {}}


class Protocol:
    """Answers the requests of one client.

    `call` runs a tool: takes its name, its arguments and the request's `_meta`; returns a text, and whether it failed.
    """

    def __init__(self, call: "Call", version: str) -> None:
        self._call = call
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
                return {"tools": [*TOOLS]}
            case "tools/call":
                return self._use(message)
        raise Refusal(METHOD_NOT_FOUND, f"Method not found: {message.method}")

    def _answer_stateless(self, message: Message) -> "JSON":
        cached: JSON = {"ttlMs": _FRESH_MS, "cacheScope": "public"}
        match message.method:
            case "server/discover":
                versions: JSON = {"supportedVersions": [STATELESS], "capabilities": _CAPABILITIES}
                return {**versions, "instructions": INSTRUCTIONS, **cached}
            case "tools/list":
                return {"tools": [*TOOLS], **cached}
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
            "instructions": INSTRUCTIONS,
        }

    def _use(self, message: Message) -> "JSON":
        name, arguments = message.params.get("name"), message.params.get("arguments", {})
        if name not in [tool["name"] for tool in TOOLS]:
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
