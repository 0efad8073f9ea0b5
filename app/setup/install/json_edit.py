"""Changes of a JSON text that touch nothing but what they add or take away; pure.

A member of an object, or strings of a list, at any depth. What is added takes the shape of its surroundings:
indentation, line ends, or everything on one line.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from eventlog.app.setup.install.json_spans import Node, blank, list_at, object_at, says_something

_INDENT = re.compile(r"\n([ \t]+)\"")


def with_member(text: str, keys: Sequence[str], value: Any) -> str:
    """The file with that value under the keys, in the place of another; raises NotJson or BadRequest."""
    text = text if says_something(text) else "{\n}\n"
    for depth in range(1, len(keys)):
        text = with_default(text, keys[:depth], {})
    text = with_default(text, keys, value)
    there = object_at(text, keys[:-1]).get(keys[-1])
    assert there is not None
    return text if there.value == value else replace(text, there, value)


def without_member(text: str, keys: Sequence[str]) -> str:
    """The file without what is under the keys, which must be there, nor what that leaves empty."""
    outer = object_at(text, keys[:-1])
    text = remove(text, outer, [part.key for part in outer.parts].index(keys[-1]))
    for depth in reversed(range(1, len(keys))):
        text = without_blank(text, keys[:depth])
    return text


def with_items(text: str, keys: Sequence[str], items: Sequence[str]) -> str:
    """The file with all items in the list at `keys`; raises NotJson or BadRequest."""
    text = text if says_something(text) else "{\n}\n"
    for depth in range(1, len(keys) + 1):
        text = with_default(text, keys[:depth], [] if depth == len(keys) else {})
    for item in items:
        there = list_at(text, keys)
        assert there is not None
        text = text if item in there.value else append(text, there, item)
    return text


def without_items(text: str, keys: Sequence[str], is_ours: Callable[[str], bool]) -> str:
    """The file without those items, nor what that leaves empty; raises NotJson or BadRequest."""
    there = list_at(text, keys) if says_something(text) else None
    left = text
    for index, (_, _, item) in reversed([*enumerate(there.parts if there else ())]):
        if isinstance(item.value, str) and is_ours(item.value):
            outer = list_at(left, keys)
            assert outer is not None
            left = remove(left, outer, index)
    for depth in reversed(range(len(keys)) if left != text else ()):
        left = without_blank(left, keys[: depth + 1])
    return left


def with_default(text: str, keys: Sequence[str], value: Any) -> str:
    """With this value under the keys, unless there is one; raises NotJson or BadRequest."""
    outer = object_at(text, keys[:-1])
    return text if outer.get(keys[-1]) else append(text, outer, value, keys[-1])


def without_blank(text: str, keys: Sequence[str]) -> str:
    """Without the object or list under these keys if there is nothing in it, not even a comment."""
    outer = object_at(text, keys[:-1])
    for index, (key, _, inner) in enumerate(outer.parts):
        if key == keys[-1] and not text[inner.start + 1 : inner.end - 1].strip():
            return remove(text, outer, index)
    return text


def append(text: str, outer: Node, value: Any, key: str | None = None) -> str:
    """With one more item at the end of a list, or one more member, of that key, at the end of an object."""
    style, name = _Style(text), "" if key is None else f"{json.dumps(key)}: "
    if not outer.parts:
        return _fill(text, outer, style, value, name)
    _, start, last = outer.parts[-1]
    kept = text[last.end : outer.end - 1].rstrip()
    head, tail = f"{text[: last.end]},{kept}", text[last.end + len(kept) :]
    if "\n" not in text[outer.start : start] and "\n" not in kept:  # the first item stands beside the bracket
        return f"{head} {name}{json.dumps(value, ensure_ascii=False)}{tail}"
    indent = _indent_at(text, start)
    return f"{head}{style.newline}{indent}{name}{style.render(value, indent, text)}{tail}"


def replace(text: str, node: Node, value: Any) -> str:
    """With another value in the place of one."""
    return text[: node.start] + _Style(text).render(value, _indent_at(text, node.start), text) + text[node.end :]


def remove(text: str, outer: Node, index: int) -> str:
    """Without an item or member: the exact reverse of appending, where nothing was added since."""
    _, start, removed = outer.parts[index]
    if index + 1 < len(outer.parts):
        following = outer.parts[index + 1].start
        comma = blank(text, removed.end)
        between = _comments(text[removed.end : comma]) + _comments(text[comma + 1 : following])
        return text[:start] + between + text[following:]
    if index == 0:
        inner = _comments(text[outer.start + 1 : start] + text[removed.end : outer.end - 1])
        return text[: outer.start + 1] + inner + text[outer.end - 1 :]
    previous = outer.parts[index - 1].node.end
    comma = blank(text, previous)
    return text[:previous] + (text[previous:comma] + text[comma + 1 : start]).rstrip() + text[removed.end :]


class _Style:
    """How a text is laid out."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text)
        self.unit = found[1] if found else "  "

    def render(self, value: Any, indent: str, text: str) -> str:
        """On one line where the whole text is, else as lines that continue at `indent`."""
        if "\n" not in text.strip():
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return (self.newline + indent).join(lines)


def _fill(text: str, outer: Node, style: _Style, value: Any, name: str) -> str:
    """The first thing in an empty list or object."""
    inner = text[outer.start + 1 : outer.end - 1].rstrip()
    before, after = text[: outer.start + 1] + inner, text[outer.end - 1 :]
    if "\n" not in text.strip():
        return f"{before}{name}{json.dumps(value, ensure_ascii=False)}{after}"
    close = _indent_at(text, outer.start)
    indent = close + style.unit
    rendered = style.render(value, indent, text)
    return f"{before}{style.newline}{indent}{name}{rendered}{style.newline}{close}{after}"


def _comments(between: str) -> str:
    """White space between removed things goes, comments stay."""
    return between if between.strip() else ""


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
