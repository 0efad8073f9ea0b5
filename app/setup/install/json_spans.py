"""JSON with its places: a tree whose every value knows where in the text it stands.

For files that belong to someone else, of which only a few bytes may change. Comments (`//`, `/* */`) count as white
space: hosts that allow them keep them. Trailing commas, a key that occurs twice and anything else that JSON leaves
open or forbids are refused.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from eventlog.format.errors import BadRequest

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200
BY_HAND = "correct the file by hand, then do it again"


class Member(NamedTuple):
    """A member of an object, which starts with its key, or an item of a list, which has none."""

    key: str | None
    start: int
    node: "Node"


class Node(NamedTuple):
    """A value, from `start` up to `end`; its parts where it is an object or a list."""

    value: Any
    start: int
    end: int
    parts: tuple[Member, ...] = ()

    def get(self, key: str) -> "Node | None":
        """The value of a key of an object."""
        return next((part.node for part in self.parts if part.key == key), None)


class NotJson(BadRequest):
    """The text is not JSON; line and column say where."""


@lru_cache(maxsize=64)  # one edit asks the same text over and over
def parse(text: str) -> Node:
    """The tree of a whole document, which nobody may change; raises NotJson."""
    reader = _JsonReader(text)
    node = reader.value(reader.blank(0), 0)
    end = reader.blank(node.end)
    if end != len(text):
        raise reader.error(end, "something follows the document")
    return node


def object_at(text: str, keys: Sequence[str] = ()) -> Node:
    """The object under these keys, which must be there; raises NotJson, or BadRequest where it is something else."""
    node = _at(text, keys)
    if node is None or not isinstance(node.value, dict):
        raise BadRequest(f"{'.'.join(keys)} is not a JSON object" if keys else "not a JSON object", hint=BY_HAND)
    return node


def list_at(text: str, keys: Sequence[str]) -> Node | None:
    """The list under these keys, None where there is none; raises NotJson, or BadRequest where it is something else."""
    node = _at(text, keys)
    if node is not None and not isinstance(node.value, list):
        raise BadRequest(f"{'.'.join(keys)} is not a list", hint=BY_HAND)
    return node


def says_something(text: str) -> bool:
    """Tell a file with anything in it from an empty one, which stands for no settings."""
    return bool(text.strip("\ufeff \t\r\n"))


def blank(text: str, at: int) -> int:
    """The end of the white space and comments that start at `at`."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _at(text: str, keys: Sequence[str]) -> Node | None:
    node: Node | None = parse(text)
    for key in keys:
        node = node.get(key) if node else None
    return node


class _JsonReader:
    """One pass over the text, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        return blank(self._text, at)

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.error(at, "nested too deeply")
        match self._text[at : at + 1]:
            case "{":
                return self._object(at, depth)
            case "[":
                return self._list(at, depth)
            case '"':
                return self._string(at)
            case _:
                return self._scalar(at, _OTHER, "a value is missing")

    def error(self, at: int, what: str) -> NotJson:
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return NotJson(f"not JSON: {what} at line {line}, column {column}")

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        at = self.blank(start + 1)
        while self._text[at : at + 1] != "}":
            at = self._separated(at, first=not members)
            key = self._string(at)
            if any(member.key == key.value for member in members):
                raise self.error(at, f"the key {key.value!r} occurs twice")
            colon = self.blank(key.end)
            if self._text[colon : colon + 1] != ":":
                raise self.error(colon, "a colon is missing")
            value = self.value(self.blank(colon + 1), depth + 1)
            members.append(Member(key.value, at, value))
            at = self.blank(value.end)
        return Node({key: node.value for key, _, node in members}, start, at + 1, tuple(members))

    def _list(self, start: int, depth: int) -> Node:
        items: list[Member] = []
        at = self.blank(start + 1)
        while self._text[at : at + 1] != "]":
            at = self._separated(at, first=not items)
            items.append(Member(None, at, self.value(at, depth + 1)))
            at = self.blank(items[-1].node.end)
        return Node([node.value for _, _, node in items], start, at + 1, tuple(items))

    def _separated(self, at: int, *, first: bool) -> int:
        if first:
            return at
        if self._text[at : at + 1] != ",":
            raise self.error(at, "a comma is missing")
        return self.blank(at + 1)

    def _string(self, at: int) -> Node:
        return self._scalar(at, _STRING, "a string is missing")

    def _scalar(self, at: int, pattern: re.Pattern[str], missing: str) -> Node:
        match = pattern.match(self._text, at)
        if not match:
            raise self.error(at, missing)
        try:
            return Node(msgspec.json.decode(match[0]), at, match.end())
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise self.error(at, str(error)) from error
