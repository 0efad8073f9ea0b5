"""Changes of a JSON text that touch nothing but what they add or take away.

What is added takes the shape of its surroundings: indentation, line ends, or everything on one line.
"""

import json
import re
from typing import Any

from eventlog.app.install.json_spans import Node, blank

_INDENT = re.compile(r"\n([ \t]+)\"")


def append_item(text: str, items: Node, value: Any) -> str:
    """With one more item at the end of a list."""
    last = items.items[-1] if items.items else None
    return _append(text, items, last.start if last else None, last.end if last else None, _Style(text), value, "")


def append_member(text: str, members: Node, key: str, value: Any) -> str:
    """With one more member at the end of an object."""
    last = members.members[-1] if members.members else None
    start, end = (last[1], last[2].end) if last else (None, None)
    return _append(text, members, start, end, _Style(text), value, f"{json.dumps(key)}: ")


def replace(text: str, node: Node, value: Any) -> str:
    """With another value in the place of one."""
    style = _Style(text)
    return text[: node.start] + style.render(value, _indent_at(text, node.start), text) + text[node.end :]


def remove_item(text: str, items: Node, index: int) -> str:
    """Without an item of a list."""
    spans = [(node.start, node.end) for node in items.items]
    return _remove(text, items, spans, index)


def remove_member(text: str, members: Node, key: str) -> str:
    """Without a member of an object, which must be there."""
    spans = [(start, node.end) for _, start, node in members.members]
    names = [name for name, _, _ in members.members]
    return _remove(text, members, spans, names.index(key))


def is_blank(text: str, outer: Node) -> bool:
    """Tell whether there is nothing in an object or list, not even a comment."""
    return not text[outer.start + 1 : outer.end - 1].strip()


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


def _append(text: str, outer: Node, start: int | None, end: int | None, style: _Style, value: Any, key: str) -> str:
    if start is None or end is None:
        return _fill(text, outer, style, value, key)
    tail = text[end : outer.end - 1]
    kept = tail.rstrip()
    at = end + len(kept)
    if "\n" not in text[outer.start : start] and "\n" not in kept:  # the first item stands beside the bracket
        return f"{text[:end]},{kept} {key}{json.dumps(value, ensure_ascii=False)}{text[at:]}"
    indent = _indent_at(text, start)
    return f"{text[:end]},{kept}{style.newline}{indent}{key}{style.render(value, indent, text)}{text[at:]}"


def _fill(text: str, outer: Node, style: _Style, value: Any, key: str) -> str:
    """The first thing in an empty list or object."""
    inner = text[outer.start + 1 : outer.end - 1].rstrip()
    before, after = text[: outer.start + 1] + inner, text[outer.end - 1 :]
    if "\n" not in text.strip():
        return f"{before}{key}{json.dumps(value, ensure_ascii=False)}{after}"
    close = _indent_at(text, outer.start)
    indent = close + style.unit
    rendered = style.render(value, indent, text)
    return f"{before}{style.newline}{indent}{key}{rendered}{style.newline}{close}{after}"


def _remove(text: str, outer: Node, spans: list[tuple[int, int]], index: int) -> str:
    """The exact reverse of appending, where nothing was added since."""
    start, end = spans[index]
    if index + 1 < len(spans):
        following = spans[index + 1][0]
        comma = blank(text, end)
        return text[:start] + _comments(text[end:comma]) + _comments(text[comma + 1 : following]) + text[following:]
    if index == 0:
        inner = _comments(text[outer.start + 1 : start] + text[end : outer.end - 1])
        return text[: outer.start + 1] + inner + text[outer.end - 1 :]
    previous = spans[index - 1][1]
    comma = blank(text, previous)
    return text[:previous] + (text[previous:comma] + text[comma + 1 : start]).rstrip() + text[end:]


def _comments(between: str) -> str:
    """White space between removed things goes, comments stay."""
    return between if between.strip() else ""


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
