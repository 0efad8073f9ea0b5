"""Read and write messages of JSON-RPC 2.0, one per line.

Imports little of the standard library: hosts wait for the start of every server.
"""

from eventlog.fast import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    JSON = dict[str, object]

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
