"""A member of an object of a JSON file, put there and taken out with every other byte as it was; pure."""

from collections.abc import Sequence
from typing import Any

from eventlog.app.install import json_edit
from eventlog.app.install.json_spans import object_at, says_something


def with_member(text: str, keys: Sequence[str], value: Any) -> str:
    """The file with that value under the keys, in the place of another; raises NotJson or BadRequest."""
    text = text if says_something(text) else "{\n}\n"
    for depth in range(1, len(keys)):
        text = json_edit.with_default(text, keys[:depth], {})
    text = json_edit.with_default(text, keys, value)
    there = object_at(text, keys[:-1]).get(keys[-1])
    assert there is not None
    return text if there.value == value else json_edit.replace(text, there, value)


def without_member(text: str, keys: Sequence[str]) -> str:
    """The file without what is under the keys, which must be there, nor what that leaves empty."""
    outer = object_at(text, keys[:-1])
    text = json_edit.remove(text, outer, [part.key for part in outer.parts].index(keys[-1]))
    for depth in reversed(range(1, len(keys))):
        text = json_edit.without_blank(text, keys[:depth])
    return text
