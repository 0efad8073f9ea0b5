"""Strings added to a list of a JSON file, and taken out, with every other byte as it was; pure."""

from collections.abc import Callable, Sequence

from eventlog.app.install import json_edit
from eventlog.app.install.json_spans import list_at, says_something


def with_items(text: str, keys: Sequence[str], items: Sequence[str]) -> str:
    """The file with all items in the list at `keys`; raises NotJson or BadRequest."""
    text = text if says_something(text) else "{\n}\n"
    for depth in range(1, len(keys) + 1):
        text = json_edit.with_default(text, keys[:depth], [] if depth == len(keys) else {})
    for item in items:
        there = list_at(text, keys)
        assert there is not None
        text = text if item in there.value else json_edit.append(text, there, item)
    return text


def without_items(text: str, keys: Sequence[str], is_ours: Callable[[str], bool]) -> str:
    """The file without those items, nor what that leaves empty; raises NotJson or BadRequest."""
    there = list_at(text, keys) if says_something(text) else None
    left = text
    for index, (_, _, item) in reversed([*enumerate(there.parts if there else ())]):
        if isinstance(item.value, str) and is_ours(item.value):
            outer = list_at(left, keys)
            assert outer is not None
            left = json_edit.remove(left, outer, index)
    for depth in reversed(range(len(keys)) if left != text else ()):
        left = json_edit.without_blank(left, keys[: depth + 1])
    return left
