"""Values a host sends that the log does not take (names of any length, numbers JSON cannot write), kept as text."""

from eventlog.format import ids
from eventlog.secrets import beginning, without_secrets

_LONGEST_NAME = 4096  # characters: the longest path
_KEPT = 200  # characters of a longer one, and its hash
_LONGEST_NUMBER = 40  # digits


def name(given: str) -> str:
    """An id, a path or a name that is not too long to be one, without secrets; else its beginning and a hash."""
    if len(given) <= _LONGEST_NAME:
        return without_secrets(given)
    return f"{beginning(given, _KEPT)}…{ids.digest(given, 8).hex()}"


def loads(data: bytes) -> object:
    """JSON with numbers it has no words for (NaN, thousands of digits) as text; raises ValueError."""
    import json

    def integer(digits: str) -> object:
        more = len(digits) - _LONGEST_NUMBER
        return int(digits) if more <= 0 else f"{digits[:_LONGEST_NUMBER]}…[+{more} digits]"

    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=str, parse_int=integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
