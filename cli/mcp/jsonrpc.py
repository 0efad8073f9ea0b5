"""JSON-RPC 2.0, one message a line: what came in, and the lines that answer it.

Standard library only, and little of it: a host waits for the start of every server it has.
"""

from eventlog.fast import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    JSON = dict[str, object]

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
VERSION = "2.0"


class Refusal(Exception):
    """A request that cannot be carried out; it is answered with an error of this code."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Message:
    """A message of the client.

    A `request` has an id; without one it is a notification. `result` is there where it answers a request of ours.
    """

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
            and (not self.is_request or is_id(self.id))
        )


def is_id(value: object) -> bool:
    """Tell whether a value can be the id of a request: a text or an integer."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def read(line: bytes, longest: int) -> Message:
    """Read one line of so many bytes at most; raises Refusal."""
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
    """Write the line that answers a request."""
    return _line({"id": request_id, "result": dict(fields)})


def error(request_id: object, refusal: Refusal) -> bytes:
    """Write the line that refuses a request; without an id where none could be read."""
    told: JSON = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        told["data"] = refusal.data
    return _line({"id": request_id, "error": told} if is_id(request_id) else {"error": told})


def request(request_id: str, method: str) -> bytes:
    """Write the line of a request of ours."""
    return _line({"id": request_id, "method": method})


def _line(fields: "JSON") -> bytes:
    return fastjson.dumps({"jsonrpc": VERSION, **fields}) + b"\n"
