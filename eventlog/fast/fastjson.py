"""JSON as the log writes it, through the C core of the standard library's json.

Gain: `import json` (with re and enum) takes 2.2 times a bare start of Python, its C entry points 1.05 times.
They are private, so each falls back to the public module where a Python lacks or changed them.
NaN and Infinity are refused both ways: they are not JSON. So is a number too large for a float, such as 1e999.

Imported inside agents' hooks: no typing, no re, no json here.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

MAX_LINE = 1 << 20  # bytes, without the newline
MAX_DEPTH = 254  # objects and lists within each other; what orjson takes
_INTEGERS = range(-(1 << 63), 1 << 64)  # what msgpack and orjson take
BOM = b"\xef\xbb\xbf"


def loads(data: bytes) -> object:
    """Parse one JSON document; a leading byte order mark is tolerated. Raises ValueError."""
    whole = data.removeprefix(BOM).decode().strip(" \t\r\n")
    try:
        value, end = _scan(whole, 0)
    except (StopIteration, SystemError):  # the latter: Python 3.11, where nobody has imported json.decoder
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(whole):
        raise ValueError(f"text after the JSON document, at character {end}")
    return value


def object_in(data: bytes) -> dict[str, object]:
    """Parse a JSON object; an empty one where the data is anything else."""
    try:
        value = loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def dumps(fields: dict[str, object]) -> bytes:
    """Encode an object as compact JSON in UTF-8, keys in the order given, without the newline. Raises ValueError.

    Half a surrogate pair (JSON can smuggle one in) becomes U+FFFD: the log is UTF-8 throughout.
    """
    try:
        line = "".join(_encode(fields, 0))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError as error:  # a key that is not a string
        raise ValueError(str(error)) from error
    try:
        return line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def refusal(value: object, depth: int = 0) -> str:
    """Find why the log refuses a JSON value, with its place as ` - at `; "" where it takes it.

    Numbers are those every reader has: integers of 64 bits, finite floats.
    """
    if isinstance(value, int):
        return "" if value in _INTEGERS else "an integer of more than 64 bits"
    if isinstance(value, float):
        return "" if value - value == 0 else "not a finite number"
    if not isinstance(value, (dict, list)):
        return ""
    if depth == MAX_DEPTH:
        return f"nested more than {MAX_DEPTH} levels deep"
    for inner in value.values() if isinstance(value, dict) else value:
        if reason := refusal(inner, depth + 1):
            return reason
    return ""


def text(value: str) -> bytes:
    """Encode a text as a JSON string."""
    return dumps({"": value})[len('{"":') : -1]


def _no_constant(name: str) -> "NoReturn":
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError("a number out of range is not JSON")
    return number


def _not_serialisable(value: object) -> "NoReturn":
    raise ValueError(f"{type(value).__name__} is not a JSON type")


if TYPE_CHECKING:
    from types import SimpleNamespace
else:
    SimpleNamespace = type(sys.implementation)

# what the C scanner asks of json.JSONDecoder
_syntax = SimpleNamespace(
    strict=True,
    object_hook=None,
    object_pairs_hook=None,
    parse_float=_finite,
    parse_int=int,
    parse_constant=_no_constant,
    memo={},  # the scanner clears it itself
)


def _scanner() -> "Callable[[str, int], tuple[object, int]]":
    try:
        from _json import make_scanner

        scan: Callable[[str, int], tuple[object, int]] = make_scanner(_syntax)  # type: ignore[arg-type]
        scan("0", 0)
    except (ImportError, AttributeError, TypeError):
        import json

        return json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant).raw_decode
    return scan


def _encoder() -> "Callable[[object, int], tuple[str, ...] | list[str]]":
    try:
        from _json import encode_basestring, make_encoder

        encode = make_encoder(None, _not_serialisable, encode_basestring, None, ":", ",", False, False, False)
        encode({"a": 1}, 0)
    except (ImportError, AttributeError, TypeError):
        import json

        encoder = json.JSONEncoder(
            ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_not_serialisable
        )
        return lambda value, _: [encoder.encode(value)]
    return encode


_scan = _scanner()
_encode = _encoder()
