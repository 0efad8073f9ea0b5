"""A host's file with our entries in it, and without; pure, and every byte of the rest stays.

New entries go to the end of their lists: other tools' hooks keep their positions, by which Codex knows what it trusts.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from eventlog.app.install import json_edit, script
from eventlog.app.install.json_spans import Node, parse
from eventlog.errors import BadRequest
from eventlog.hooks.command import is_ours
from eventlog.hosts.profile import HookFile

_COMMANDS = ("command", "bash", "powershell", "exec")


def merge(text: str, hooks: HookFile, commands: Mapping[str, str]) -> str:
    """Put exactly one entry of ours for each event into a file, and none for others; raises NotJson or BadRequest."""
    if hooks.script:
        return script.render(hooks.script.read_text("utf-8"), commands)
    text = text if says_something(text) else "{\n}\n"
    for key, value in hooks.document.items():
        if parse(text).get(key) is None:
            text = json_edit.append_member(text, _root(text), key, value)
    if _root(text).get("hooks") is None:
        text = json_edit.append_member(text, _root(text), "hooks", {})
    for event, command in commands.items():
        text = _merge_event(text, event, entry(hooks, event, command))
    return _strip_events(text, keep=commands)


def entry(hooks: HookFile, event: str, command: str) -> dict[str, Any]:
    """Make the entry that is added to the list of an event."""
    own = dict(hooks.events[event])
    matcher = {"matcher": own.pop("matcher")} if "matcher" in own else {}
    handler = {**hooks.handler, hooks.command_key: command, **own}
    return {**matcher, "hooks": [handler]} if hooks.shape == "nested" else {**matcher, **handler}


def strip(text: str) -> str:
    """Make the file without any entry of ours, nor what that leaves empty; raises NotJson or BadRequest."""
    if script.is_ours(text):
        return ""
    if not says_something(text):
        return text
    stripped = _strip_events(text, keep=())
    hooks = _root(stripped).get("hooks")
    if stripped != text and hooks is not None and json_edit.is_blank(stripped, hooks):
        stripped = json_edit.remove_member(stripped, _root(stripped), "hooks")
    return stripped


def commands_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield event and command of every handler in a parsed file, ours or not."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for item in entries if isinstance(entries, list) else ():
            yield from ((event, command) for command in _commands(item))


def value_of(text: str) -> Any:
    """Parse a file with hooks, be it JSON or a script of ours; raises NotJson."""
    return {"hooks": script.commands_in(text)} if script.is_ours(text) else parse(text).value


def says_something(text: str) -> bool:
    """Tell a file with anything in it from an empty one, which stands for no settings."""
    return bool(text.strip("\ufeff \t\r\n"))


def _merge_event(text: str, event: str, wanted: dict[str, Any]) -> str:
    hooks = _hooks(text)
    entries = hooks.get(event)
    if entries is None:
        return json_edit.append_member(text, hooks, event, [wanted])
    if not isinstance(entries.value, list):
        raise BadRequest(f"hooks.{event} is not a list", hint="correct the file by hand, then do it again")
    ours = [index for index, node in enumerate(entries.items) if _is_all_ours(node.value)]
    if not ours:
        return json_edit.append_item(text, entries, wanted)
    for extra in reversed(ours[1:]):
        text = json_edit.remove_item(text, _entries(text, event), extra)
    kept = _entries(text, event).items[ours[0]]
    return text if kept.value == wanted else json_edit.replace(text, kept, wanted)


def _strip_events(text: str, keep: Mapping[str, str] | tuple[()]) -> str:
    hooks = _root(text).get("hooks")
    events = [name for name, _, _ in hooks.members] if hooks else []
    for event in events:
        if event not in keep:
            text = _strip_event(text, event)
    return text


def _strip_event(text: str, event: str) -> str:
    entries = _entries(text, event)
    before = text
    for index in reversed(range(len(entries.items))):
        node = entries.items[index]
        if _is_all_ours(node.value):
            text = json_edit.remove_item(text, _entries(text, event), index)
        elif any(map(is_ours, _commands(node.value))):
            text = _strip_group(text, event, index)
    if text != before and json_edit.is_blank(text, _entries(text, event)):
        text = json_edit.remove_member(text, _hooks(text), event)
    return text


def _strip_group(text: str, event: str, index: int) -> str:
    """Someone put our handler into a group of theirs."""
    handlers = _entries(text, event).items[index].get("hooks")
    for position in reversed(range(len(handlers.items) if handlers else 0)):
        group = _entries(text, event).items[index].get("hooks")
        if group and any(map(is_ours, _commands(group.items[position].value))):
            text = json_edit.remove_item(text, group, position)
    return text


def _is_all_ours(value: Any) -> bool:
    found = list(_commands(value))
    return bool(found) and all(map(is_ours, found))


def _commands(value: Any) -> Iterator[str]:
    """Yield the commands of an entry, or of the handlers in a group."""
    if not isinstance(value, dict):
        return
    yield from (value[key] for key in _COMMANDS if isinstance(value.get(key), str))
    handlers = value.get("hooks")
    for handler in handlers if isinstance(handlers, list) else ():
        yield from _commands(handler)


def _root(text: str) -> Node:
    root = parse(text)
    if not isinstance(root.value, dict):
        raise BadRequest("not a JSON object", hint="correct the file by hand, then do it again")
    return root


def _hooks(text: str) -> Node:
    hooks = _root(text).get("hooks")
    if hooks is None or not isinstance(hooks.value, dict):
        raise BadRequest("hooks is not a JSON object", hint="correct the file by hand, then do it again")
    return hooks


def _entries(text: str, event: str) -> Node:
    found = _hooks(text).get(event)
    assert found is not None
    return found
