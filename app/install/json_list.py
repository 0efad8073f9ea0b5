"""Strings added to a list of a JSON file, and taken out, with every other byte as it was; pure."""

from collections.abc import Callable, Sequence

from eventlog.app.install import json_edit
from eventlog.app.install.json_spans import Node, parse
from eventlog.errors import BadRequest


def with_items(text: str, keys: Sequence[str], items: Sequence[str]) -> str:
    """The file with all items in the list at `keys`; raises NotJson or BadRequest."""
    text = text if text.strip("\ufeff \t\r\n") else "{\n}\n"
    for depth, key in enumerate(keys):
        outer = _object(text, keys[:depth])
        if outer.get(key) is None:
            text = json_edit.append_member(text, outer, key, [] if depth == len(keys) - 1 else {})
    for item in items:
        there = _list(text, keys)
        text = text if there and item in there.value else json_edit.append_item(text, _present(there), item)
    return text


def without_items(text: str, keys: Sequence[str], is_ours: Callable[[str], bool]) -> str:
    """The file without those items, nor what that leaves empty; raises NotJson or BadRequest."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    there, before = _list(text, keys), text
    for index in reversed(range(len(there.items) if there else 0)):
        found = _present(there).items[index].value
        if isinstance(found, str) and is_ours(found):
            text = json_edit.remove_item(text, _present(_list(text, keys)), index)
    for depth in reversed(range(len(keys)) if text != before else ()):
        outer = _object(text, keys[:depth])
        inner = outer.get(keys[depth])
        if inner is not None and json_edit.is_blank(text, inner):
            text = json_edit.remove_member(text, outer, keys[depth])
    return text


def _object(text: str, keys: Sequence[str]) -> Node:
    node = parse(text)
    for key in keys:
        node = _present(node.get(key))
    if not isinstance(node.value, dict):
        raise BadRequest(f"{'.'.join(keys) or 'the file'} is not a JSON object", hint="correct the file by hand")
    return node


def _list(text: str, keys: Sequence[str]) -> Node | None:
    node: Node | None = parse(text)
    for key in keys:
        node = node.get(key) if node else None
    if node is not None and not isinstance(node.value, list):
        raise BadRequest(f"{'.'.join(keys)} is not a list", hint="correct the file by hand, then do it again")
    return node


def _present(node: Node | None) -> Node:
    assert node is not None
    return node
