"""Add our entries to the text of a host's hook file, and remove them; pure, and every other byte stays.

New entries go to the end of their lists: other tools' hooks keep their positions, by which Codex identifies them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from eventlog.app.setup.install.json_edit import JsonText, Node, has_content
from eventlog.format.codec import dig
from eventlog.format.errors import BadRequest
from eventlog.hooks.command import HookCommand
from eventlog.hosts.profile import HookFile

_COMMANDS = ("command", "bash", "powershell", "exec")

_PLUGIN_HEAD = "// Written by `eventlog install "
_PLUGIN_COMMANDS = re.compile(r"^const COMMANDS = (\{.*\})$", re.MULTILINE)


def merge(text: str, hooks: HookFile, commands: Mapping[str, str]) -> str:
    """Give each of the events a single entry of our own, and other events none; raises BadRequest."""
    if hooks.script:
        if has_content(text) and not text.startswith(_PLUGIN_HEAD):
            hint = "rename it, then do it again; it was not changed"
            raise BadRequest("a plugin of yours has the name of ours", hint=hint)
        line = f"const COMMANDS = {json.dumps(commands)}"
        return _PLUGIN_COMMANDS.sub(lambda _: line, hooks.script.read_text("utf-8"), count=1)
    edited = JsonText(text)
    for key, value in {**hooks.document, "hooks": {}}.items():
        edited = edited.with_default([key], value)
    for event, command in commands.items():
        edited = _merge_event(edited, event, entry(hooks, event, command))
    return _strip_events(edited, keep=commands)


def entry(hooks: HookFile, event: str, command: str) -> dict[str, Any]:
    """Make our entry for the list of an event."""
    own = dict(hooks.own.get(event, {}))
    matcher = {"matcher": own.pop("matcher")} if "matcher" in own else {}
    handler = {**hooks.handler, hooks.command_key: command, **own}
    return {**matcher, "hooks": [handler]} if hooks.shape == "nested" else {**matcher, **handler}


def has_other_matcher(value: Any, event: str, hooks: HookFile) -> bool:
    """Return whether an entry of our own in a parsed file has another matcher than `entry` makes."""
    entries, matcher = dig(value, "hooks", event), entry(hooks, event, "").get("matcher")
    own_items = filter(_is_all_own, entries if isinstance(entries, list) else ())
    return any(item.get("matcher") != matcher for item in own_items)


def strip(text: str, *, is_script: bool = False) -> str:
    """Remove our entries, and the lists that become empty, or our script; raises BadRequest."""
    if text.startswith(_PLUGIN_HEAD):  # of any version
        return ""
    if is_script or not has_content(text):
        return text
    stripped = _strip_events(JsonText(text), keep=())
    return text if stripped == text else stripped.without_blank(["hooks"])


def commands_in(value: Any) -> Iterator[tuple[str, HookCommand]]:
    """Yield event and command of every handler in a parsed file."""
    hooks = dig(value, "hooks")
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for item in entries if isinstance(entries, list) else ():
            yield from ((event, command) for command in _commands(item))


def value_of(text: str, *, is_script: bool = False) -> Any:
    """Parse a hook file, either JSON or our own script; None without any content of either. Raises BadRequest."""
    if text.startswith(_PLUGIN_HEAD):
        return {"hooks": _plugin_commands(text)}
    return None if is_script else JsonText(text).value


def _merge_event(text: JsonText, event: str, wanted: dict[str, Any]) -> JsonText:
    hooks, entries = text.object_at(["hooks"]), text.list_at(["hooks", event])
    if entries is None:
        return text.append(hooks, [wanted], event)
    own = [index for index, part in enumerate(entries.parts) if _is_all_own(part.node.value)]
    if not own:
        return text.append(entries, wanted)
    for extra in reversed(own[1:]):
        text = text.remove(_entries(text, event), extra)
    entry = _entries(text, event).parts[own[0]].node
    return text if entry.value == wanted else text.put(entry, wanted)


def _strip_events(text: JsonText, keep: Mapping[str, str] | tuple[()]) -> JsonText:
    hooks = text.object_at().get("hooks")
    for event in [part.key for part in hooks.parts] if hooks else ():
        if event is not None and event not in keep:
            text = _strip_event(text, event)
    return text


def _strip_event(text: JsonText, event: str) -> JsonText:
    remaining = text
    for index, (_, _, node) in reversed([*enumerate(_entries(text, event).parts)]):
        if _is_all_own(node.value):
            remaining = remaining.remove(_entries(remaining, event), index)
        elif any(command.is_own for command in _commands(node.value)):
            remaining = _strip_group(remaining, event, index)
    return text if remaining == text else remaining.without_blank(["hooks", event])


def _strip_group(text: JsonText, event: str, index: int) -> JsonText:
    """Remove our handlers from another tool's group."""
    handlers = _entries(text, event).parts[index].node.get("hooks")
    for position in reversed(range(len(handlers.parts) if handlers else 0)):
        group = _entries(text, event).parts[index].node.get("hooks")
        if group and any(command.is_own for command in _commands(group.parts[position].node.value)):
            text = text.remove(group, position)
    return text


def _is_all_own(value: Any) -> bool:
    found = list(_commands(value))
    return bool(found) and all(command.is_own for command in found)


def _commands(value: Any) -> Iterator[HookCommand]:
    """Yield the commands of an entry, or of the handlers in a group."""
    if not isinstance(value, dict):
        return
    yield from (HookCommand(value[key]) for key in _COMMANDS if isinstance(value.get(key), str))
    handlers = value.get("hooks")
    for handler in handlers if isinstance(handlers, list) else ():
        yield from _commands(handler)


def _entries(text: JsonText, event: str) -> Node:
    found = text.object_at(["hooks"]).get(event)
    assert found is not None
    return found


def _plugin_commands(text: str) -> dict[str, Any]:
    """Read the commands of our plugin, in the shape of other hosts' hooks."""
    found = _PLUGIN_COMMANDS.search(text)
    try:
        commands = json.loads(found[1]) if found else {}
    except ValueError:
        return {}
    return {event: [{"command": command}] for event, command in commands.items()}
