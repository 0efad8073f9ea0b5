"""Edit JSON files that belong to someone else: change a few bytes, keep every other byte; pure.

`parse` makes a tree whose values have their positions in the text. Comments (`//`, `/* */`) count as white space, and
a comma may follow the last value: some hosts read both, and both stay. Duplicate keys and anything else that JSON
leaves open or forbids are refused. `remove` is the exact reverse of `append` in a text that has not changed since.
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
_BEYOND_JSON = re.compile(
    rf"{_STRING.pattern}|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<trailing_comma>,(?={_BLANK.pattern}[\]}}]))|(?P<byte_order_mark>\ufeff)",
    re.DOTALL,
)
_OTHER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 200


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


@lru_cache(maxsize=64)  # an edit parses the same text repeatedly
def parse(text: str) -> Node:
    """Parse a document; do not change the tree, it is cached. Raises BadRequest that names line and column."""
    reader = _JsonReader(text)
    node = reader.value(reader.blank(0), 0)
    end = reader.blank(node.end)
    if end != len(text):
        raise reader.error(end, "something follows the document")
    return node


class JsonText(str):
    """The text of a file; each edit makes another. All raise BadRequest, for a value of another kind, too."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The parsed document; None without any content."""
        return parse(self).value if has_content(self) else None

    @property
    def beyond_json(self) -> set[str]:
        """The names of all it has that is no JSON, of those this module takes."""
        return {found.lastgroup for found in _BEYOND_JSON.finditer(self) if found.lastgroup}

    def object_at(self, keys: Sequence[str] = ()) -> Node:
        """Return the object under these keys, which must exist."""
        node = self._at(keys)
        if node is None or not isinstance(node.value, dict):
            raise BadRequest(f"{'.'.join(keys)} is not a JSON object" if keys else "not a JSON object")
        return node

    def list_at(self, keys: Sequence[str]) -> Node | None:
        """Return the list under these keys, None for none."""
        node = self._at(keys)
        if node is not None and not isinstance(node.value, list):
            raise BadRequest(f"{'.'.join(keys)} is not a list")
        return node

    def _at(self, keys: Sequence[str]) -> Node | None:
        node: Node | None = parse(self)
        for key in keys:
            node = node.get(key) if node else None
        return node

    def with_value(self, keys: Sequence[str], value: Any) -> "JsonText":
        """Set the value under the keys."""
        text = self.with_default(keys, value)
        present = text.object_at(keys[:-1]).get(keys[-1])
        assert present is not None
        return text if present.value == value else text.put(present, value)

    def without_value(self, keys: Sequence[str]) -> "JsonText":
        """Remove the value under the keys, which must exist, and the objects that become empty."""
        outer = self.object_at(keys[:-1])
        text = self.remove(outer, [part.key for part in outer.parts].index(keys[-1]))
        for depth in reversed(range(1, len(keys))):
            text = text.without_blank(keys[:depth])
        return text

    def with_items(self, keys: Sequence[str], items: Sequence[str]) -> "JsonText":
        """Add the missing items to the list at `keys`."""
        text = self.with_default(keys, [])
        for item in items:
            present = text.list_at(keys)
            assert present is not None
            text = text if item in present.value else text.append(present, item)
        return text

    def without_items(self, keys: Sequence[str], is_own: Callable[[str], bool]) -> "JsonText":
        """Remove our items from the list at `keys`, and what becomes empty."""
        present = self._at(keys) if has_content(self) else None
        remaining = self
        for index, (_, _, item) in reversed([*enumerate(present.parts if present else ())]):
            if isinstance(item.value, str) and is_own(item.value):
                outer = remaining.list_at(keys)
                assert outer is not None
                remaining = remaining.remove(outer, index)
        for depth in reversed(range(len(keys)) if remaining != self else ()):
            remaining = remaining.without_blank(keys[: depth + 1])
        return remaining

    def with_default(self, keys: Sequence[str], value: Any) -> "JsonText":
        """Set the value under the keys, in objects that are made where they are missing, unless they have a value."""
        text = self.with_default(keys[:-1], {}) if keys[1:] else JsonText(self if has_content(self) else "{\n}\n")
        outer = text.object_at(keys[:-1])
        return text if outer.get(keys[-1]) else text.append(outer, value, keys[-1])

    def without_blank(self, keys: Sequence[str]) -> "JsonText":
        """Remove the object or list under these keys if it is empty, without even a comment."""
        outer = self.object_at(keys[:-1])
        for index, (key, _, inner) in enumerate(outer.parts):
            if key == keys[-1] and not self[inner.start + 1 : inner.end - 1].strip():
                return self.remove(outer, index)
        return self

    # -------------------------------------------------------------------------------------------- a single value

    def append(self, outer: Node, value: Any, key: str | None = None) -> "JsonText":
        """Append an item to a list, or a member with that key to an object."""
        name = "" if key is None else f"{json.dumps(key)}: "
        if not outer.parts:
            return self._fill(outer, value, name)
        _, start, last = outer.parts[-1]
        rest = self[last.end : outer.end - 1].rstrip()
        comma = self[self._blank(last.end)].strip("]}")  # where one ends the list already, one ends it afterwards
        head, tail = f"{self[: last.end]}{'' if comma else ','}{rest}", comma + self[last.end + len(rest) :]
        if "\n" not in self[outer.start : start] and "\n" not in rest:  # the first item stands beside the bracket
            return JsonText(f"{head} {name}{json.dumps(value, ensure_ascii=False)}{tail}")
        indent = self._indent_at(start)
        return JsonText(f"{head}{self._newline}{indent}{name}{self._rendered(value, indent)}{tail}")

    def put(self, node: Node, value: Any) -> "JsonText":
        """Replace a value."""
        return JsonText(self[: node.start] + self._rendered(value, self._indent_at(node.start)) + self[node.end :])

    def remove(self, outer: Node, index: int) -> "JsonText":
        """Remove an item or member."""
        _, start, removed = outer.parts[index]
        if index + 1 < len(outer.parts):
            following = outer.parts[index + 1].start
            comma = self._blank(removed.end)
            between = self._comments(removed.end, comma) + self._comments(comma + 1, following)
            return JsonText(self[:start] + between + self[following:])
        last = self._blank(removed.end)  # a comma that ends the list, or the bracket
        is_comma = self[last] == ","
        if index == 0:
            inside = self[outer.start + 1 : start] + self[removed.end : last] + self[last + is_comma : outer.end - 1]
            return JsonText(self[: outer.start + 1] + (inside if inside.strip() else "") + self[outer.end - 1 :])
        previous = outer.parts[index - 1].node.end
        comma = self._blank(previous)
        if is_comma:  # the one before ends the list from now on
            return JsonText(self[:start].rstrip() + self[removed.end : last] + self[last + 1 :])
        return JsonText(
            self[:previous] + (self[previous:comma] + self[comma + 1 : start]).rstrip() + self[removed.end :]
        )

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self else "\n"

    @property
    def _unit(self) -> str:
        found = _INDENT.search(self)
        return found[1] if found else "  "

    def _rendered(self, value: Any, indent: str) -> str:
        """Write a value on a single line in a text of a single line, else on lines that continue at `indent`."""
        if "\n" not in self.strip():
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return (self._newline + indent).join(lines)

    def _fill(self, outer: Node, value: Any, name: str) -> "JsonText":
        """Add the first item or member."""
        before = self[: outer.start + 1] + self[outer.start + 1 : outer.end - 1].rstrip()
        if "\n" in self.strip():
            close = self._newline + self._indent_at(outer.start)
            indent = self._indent_at(outer.start) + self._unit
            name, after = f"{self._newline}{indent}{name}", close + self[outer.end - 1 :]
            return JsonText(f"{before}{name}{self._rendered(value, indent)}{after}")
        return JsonText(f"{before}{name}{json.dumps(value, ensure_ascii=False)}{self[outer.end - 1 :]}")

    def _comments(self, start: int, end: int) -> str:
        """Keep comments between removed values, but not white space alone."""
        return self[start:end] if self[start:end].strip() else ""

    def _indent_at(self, at: int) -> str:
        line = self[self.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    def _blank(self, at: int) -> int:
        """Return the end of the white space and comments that start at `at`."""
        return _JsonReader(self).blank(at)


def has_content(text: str) -> bool:
    """Return whether a file has any content; an empty file has no settings."""
    return bool(text.strip("\ufeff \t\r\n"))


class _JsonReader:
    """Parses in a single pass, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        return match.end() if match else at

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

    def error(self, at: int, what: str) -> BadRequest:
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return BadRequest(f"not JSON: {what} at line {line}, column {column}")

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
