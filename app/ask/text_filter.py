"""A search in the text of events: all their strings, but not the names of who said them, when and where."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import orjson

from eventlog.fast import fastjson
from eventlog.format.errors import BadRequest

_UNSAID = frozenset(("v", "id", "ts", "type", "conversation_id", "project", "agent", "subagent", "replica"))
# escapes another writer may have used, and what is an ASCII letter only once it is in lower case: such lines are read
_DISGUISES = (b"\\u", b"\\/", "\u212a".encode(), "\u0130".encode())


class Saying(NamedTuple):
    """A test of lines, and bytes of which every line that passes has one, once its ASCII letters are in lower case.

    No such bytes where none can be named: then any line may pass.
    """

    fits: Callable[[bytes], bool]
    needles: tuple[bytes, ...]


def saying(text: str | None, pattern: str | None) -> Saying:
    """Make the test for all words of a text, in any case and order, and for a regular expression; raises BadRequest."""
    words = (text or "").lower().split()
    try:
        matches = re.compile(pattern, re.IGNORECASE | re.MULTILINE).search if pattern else None
    except re.error as error:
        raise BadRequest(
            f"{pattern!r} is no regular expression: {error}", hint="--grep looks for plain words"
        ) from error

    def fits(line: bytes) -> bool:
        said = "\n".join(_strings(line))
        lower = said.lower()
        return all(word in lower for word in words) and (matches is None or matches(said) is not None)

    spelled = [orjson.dumps(word)[1:-1] for word in words if _has_one_case(word)]
    return Saying(fits, (max(spelled, key=len), *_DISGUISES) if spelled else ())


def _has_one_case(word: str) -> bool:
    """Tell whether a word in lower case has the same bytes in any text that says it, but for its ASCII letters."""
    return all(char.isascii() or char.upper() == char for char in word)


def _strings(line: bytes) -> Iterator[str]:
    fields: dict[str, object] = fastjson.loads(line)  # type: ignore[assignment]  # a line of the log is an object
    for name, value in fields.items():
        if name not in _UNSAID:
            yield from texts_in(value)


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a decoded JSON value, in order; not the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)
