"""Edit JSON files that belong to someone else: change a few bytes, keep every other byte; pure.

`parse` makes a tree whose values have their positions in the text. Comments (`//`, `/* */`) count as white space, and
a comma may follow the last value: hosts read both, and both stay. Duplicate keys and anything else that JSON leaves
open or forbids are refused. `remove` is the exact
reverse of `append` in a text that has not changed since.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from eventlog.format.errors import BadRequest

_INDENT = re.compile(r"\n([ \t]+)\"")
_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200
BY_HAND = "correct the file by hand, then do it again"


class _Member(NamedTuple):
    """A member of an object, which starts with its key, or an item of a list, without a key."""

    key: str | None
    start: int
    node: "Node"


class Node(NamedTuple):
    """A value between `start` and `end`; its parts where it is an object or a list."""

    value: Any
    start: int
    end: int
    parts: tuple[_Member, ...] = ()

    def get(self, key: str) -> "Node | None":
        """Return the value of a key of an object."""
        return next((part.node for part in self.parts if part.key == key), None)


class NotJson(BadRequest):
    """Raised for a text that is not JSON; names line and column."""


@lru_cache(maxsize=64)  # an edit parses the same text repeatedly
def parse(text: str) -> Node:
    """Parse a document; do not change the tree, it is cached. Raises NotJson."""
    reader = _JsonReader(text)
    node = reader.value(reader.blank(0), 0)
    end = reader.blank(node.end)
    if end != len(text):
        raise reader.error(end, "something follows the document")
    return node


def object_at(text: str, keys: Sequence[str] = ()) -> Node:
    """Return the object under these keys, which must exist; raises NotJson, or BadRequest for another value."""
    node = _at(text, keys)
    if node is None or not isinstance(node.value, dict):
        raise BadRequest(f"{'.'.join(keys)} is not a JSON object" if keys else "not a JSON object", hint=BY_HAND)
    return node


def list_at(text: str, keys: Sequence[str]) -> Node | None:
    """Return the list under these keys, None for none; raises NotJson, or BadRequest for another value."""
    node = _at(text, keys)
    if node is not None and not isinstance(node.value, list):
        raise BadRequest(f"{'.'.join(keys)} is not a list", hint=BY_HAND)
    return node


def has_content(text: str) -> bool:
    """Return whether a file has any content; an empty file has no settings."""
    return bool(text.strip("\ufeff \t\r\n"))


def _blank(text: str, at: int) -> int:
    """Return the end of the white space and comments that start at `at`."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _at(text: str, keys: Sequence[str]) -> Node | None:
    node: Node | None = parse(text)
    for key in keys:
        node = node.get(key) if node else None
    return node


class _JsonReader:
    """Parses in a single pass, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        return _blank(self._text, at)

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
        members: list[_Member] = []
        at = self.blank(start + 1)
        while self._text[at : at + 1] != "}":
            key = self._string(at)
            if any(member.key == key.value for member in members):
                raise self.error(at, f"the key {key.value!r} occurs twice")
            colon = self.blank(key.end)
            if self._text[colon : colon + 1] != ":":
                raise self.error(colon, "a colon is missing")
            value = self.value(self.blank(colon + 1), depth + 1)
            members.append(_Member(key.value, at, value))
            at = self._behind(value, "}")
        return Node({key: node.value for key, _, node in members}, start, at + 1, tuple(members))

    def _list(self, start: int, depth: int) -> Node:
        items: list[_Member] = []
        at = self.blank(start + 1)
        while self._text[at : at + 1] != "]":
            items.append(_Member(None, at, self.value(at, depth + 1)))
            at = self._behind(items[-1].node, "]")
        return Node([node.value for _, _, node in items], start, at + 1, tuple(items))

    def _behind(self, node: Node, bracket: str) -> int:
        """Return where the next value begins, or the bracket stands that closes the list or object."""
        at = self.blank(node.end)
        if self._text[at : at + 1] == bracket:
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


# ------------------------------------------------------------------------------------------------ edits


def with_member(text: str, keys: Sequence[str], value: Any) -> str:
    """Set the value under the keys; raises NotJson or BadRequest."""
    text = text if has_content(text) else "{\n}\n"
    for depth in range(1, len(keys)):
        text = with_default(text, keys[:depth], {})
    text = with_default(text, keys, value)
    present = object_at(text, keys[:-1]).get(keys[-1])
    assert present is not None
    return text if present.value == value else replace(text, present, value)


def without_member(text: str, keys: Sequence[str]) -> str:
    """Remove the value under the keys, which must exist, and the objects that become empty."""
    outer = object_at(text, keys[:-1])
    text = remove(text, outer, [part.key for part in outer.parts].index(keys[-1]))
    for depth in reversed(range(1, len(keys))):
        text = without_blank(text, keys[:depth])
    return text


def with_items(text: str, keys: Sequence[str], items: Sequence[str]) -> str:
    """Add the missing items to the list at `keys`; raises NotJson or BadRequest."""
    text = text if has_content(text) else "{\n}\n"
    for depth in range(1, len(keys) + 1):
        text = with_default(text, keys[:depth], [] if depth == len(keys) else {})
    for item in items:
        present = list_at(text, keys)
        assert present is not None
        text = text if item in present.value else append(text, present, item)
    return text


def without_items(text: str, keys: Sequence[str], is_ours: Callable[[str], bool]) -> str:
    """Remove our items from the list at `keys`, and what becomes empty; raises NotJson or BadRequest."""
    present = list_at(text, keys) if has_content(text) else None
    left = text
    for index, (_, _, item) in reversed([*enumerate(present.parts if present else ())]):
        if isinstance(item.value, str) and is_ours(item.value):
            outer = list_at(left, keys)
            assert outer is not None
            left = remove(left, outer, index)
    for depth in reversed(range(len(keys)) if left != text else ()):
        left = without_blank(left, keys[: depth + 1])
    return left


def with_default(text: str, keys: Sequence[str], value: Any) -> str:
    """Set the value under the keys unless they have a value; raises NotJson or BadRequest."""
    outer = object_at(text, keys[:-1])
    return text if outer.get(keys[-1]) else append(text, outer, value, keys[-1])


def without_blank(text: str, keys: Sequence[str]) -> str:
    """Remove the object or list under these keys if it is empty, without even a comment."""
    outer = object_at(text, keys[:-1])
    for index, (key, _, inner) in enumerate(outer.parts):
        if key == keys[-1] and not text[inner.start + 1 : inner.end - 1].strip():
            return remove(text, outer, index)
    return text


def append(text: str, outer: Node, value: Any, key: str | None = None) -> str:
    """Append an item to a list, or a member with that key to an object."""
    style, name = _Style(text), "" if key is None else f"{json.dumps(key)}: "
    if not outer.parts:
        return _fill(text, outer, style, value, name)
    _, start, last = outer.parts[-1]
    rest = text[last.end : outer.end - 1].rstrip()
    comma = text[_blank(text, last.end)].strip("]}")  # where one ends the list already, one ends it afterwards
    head, tail = f"{text[: last.end]}{'' if comma else ','}{rest}", comma + text[last.end + len(rest) :]
    if "\n" not in text[outer.start : start] and "\n" not in rest:  # the first item stands beside the bracket
        return f"{head} {name}{json.dumps(value, ensure_ascii=False)}{tail}"
    indent = _indent_at(text, start)
    return f"{head}{style.newline}{indent}{name}{style.render(value, indent, text)}{tail}"


def replace(text: str, node: Node, value: Any) -> str:
    """Replace a value."""
    return text[: node.start] + _Style(text).render(value, _indent_at(text, node.start), text) + text[node.end :]


def remove(text: str, outer: Node, index: int) -> str:
    """Remove an item or member."""
    _, start, removed = outer.parts[index]
    if index + 1 < len(outer.parts):
        following = outer.parts[index + 1].start
        comma = _blank(text, removed.end)
        between = _comments(text[removed.end : comma]) + _comments(text[comma + 1 : following])
        return text[:start] + between + text[following:]
    last = _blank(text, removed.end)  # a comma that ends the list, or the bracket
    is_comma = text[last] == ","
    if index == 0:
        behind = text[removed.end : last] + text[last + is_comma : outer.end - 1]
        return text[: outer.start + 1] + _comments(text[outer.start + 1 : start] + behind) + text[outer.end - 1 :]
    previous = outer.parts[index - 1].node.end
    comma = _blank(text, previous)
    if is_comma:  # the one before ends the list from now on
        return text[:start].rstrip() + text[removed.end : last] + text[last + 1 :]
    return text[:previous] + (text[previous:comma] + text[comma + 1 : start]).rstrip() + text[removed.end :]


class _Style:
    """The line ends and indentation of a text."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text)
        self.unit = found[1] if found else "  "

    def render(self, value: Any, indent: str, text: str) -> str:
        """Write a value on a single line in a text of a single line, else on lines that continue at `indent`."""
        if "\n" not in text.strip():
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)


def _fill(text: str, outer: Node, style: _Style, value: Any, name: str) -> str:
    """Add the first item or member."""
    inner = text[outer.start + 1 : outer.end - 1].rstrip()
    before, after = text[: outer.start + 1] + inner, text[outer.end - 1 :]
    if "\n" not in text.strip():
        return f"{before}{name}{json.dumps(value, ensure_ascii=False)}{after}"
    close = _indent_at(text, outer.start)
    indent = close + style.unit
    rendered = style.render(value, indent, text)
    return f"{before}{style.newline}{indent}{name}{rendered}{style.newline}{close}{after}"


def _comments(between: str) -> str:
    """Keep comments between removed values, but not white space alone."""
    return between if between.strip() else ""


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
