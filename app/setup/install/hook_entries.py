"""Add our entries to the text of a host's hook file, and remove them; pure, and every other byte stays.

New entries go to the end of their lists: other tools' hooks keep their positions, by which Codex identifies them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from eventlog.app.setup.install import json_edit
from eventlog.app.setup.install.json_edit import Node, has_content, list_at, object_at, parse
from eventlog.format.codec import dig
from eventlog.hooks.command import is_ours
from eventlog.hosts.profile import HookFile

_COMMANDS = ("command", "bash", "powershell", "exec")

_PLUGIN_HEAD = "// Written by `eventlog install "
_PLUGIN_COMMANDS = re.compile(r"^const COMMANDS = (\{.*\})$", re.MULTILINE)


def merge(text: str, hooks: HookFile, commands: Mapping[str, str]) -> str:
    """Give each of the events a single entry of our own, and other events none; raises NotJson or BadRequest."""
    if hooks.script:
        return _plugin(hooks.script.read_text("utf-8"), commands)
    text = text if has_content(text) else "{\n}\n"
    for key, value in {**hooks.document, "hooks": {}}.items():
        text = json_edit.with_default(text, [key], value)
    for event, command in commands.items():
        text = _merge_event(text, event, entry(hooks, event, command))
    return _strip_events(text, keep=commands)


def entry(hooks: HookFile, event: str, command: str) -> dict[str, Any]:
    """Make our entry for the list of an event."""
    own = dict(hooks.own.get(event, {}))
    matcher = {"matcher": own.pop("matcher")} if "matcher" in own else {}
    handler = {**hooks.handler, hooks.command_key: command, **own}
    return {**matcher, "hooks": [handler]} if hooks.shape == "nested" else {**matcher, **handler}


def strip(text: str) -> str:
    """Remove our entries, and the lists that become empty; raises NotJson or BadRequest."""
    if _is_plugin(text):
        return ""
    if not has_content(text):
        return text
    stripped = _strip_events(text, keep=())
    return text if stripped == text else json_edit.without_blank(stripped, ["hooks"])


def commands_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield event and command of every handler in a parsed file."""
    hooks = dig(value, "hooks")
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for item in entries if isinstance(entries, list) else ():
            yield from ((event, command) for command in _commands(item))


def value_of(text: str) -> Any:
    """Parse a hook file, either JSON or our own script; raises NotJson."""
    return {"hooks": _plugin_commands(text)} if _is_plugin(text) else parse(text).value


def _merge_event(text: str, event: str, wanted: dict[str, Any]) -> str:
    hooks, entries = object_at(text, ["hooks"]), list_at(text, ["hooks", event])
    if entries is None:
        return json_edit.append(text, hooks, [wanted], event)
    own = [index for index, part in enumerate(entries.parts) if _is_all_ours(part.node.value)]
    if not own:
        return json_edit.append(text, entries, wanted)
    for extra in reversed(own[1:]):
        text = json_edit.remove(text, _entries(text, event), extra)
    entry = _entries(text, event).parts[own[0]].node
    return text if entry.value == wanted else json_edit.replace(text, entry, wanted)


def _strip_events(text: str, keep: Mapping[str, str] | tuple[()]) -> str:
    hooks = object_at(text).get("hooks")
    for event in [part.key for part in hooks.parts] if hooks else ():
        if event is not None and event not in keep:
            text = _strip_event(text, event)
    return text


def _strip_event(text: str, event: str) -> str:
    left = text
    for index, (_, _, node) in reversed([*enumerate(_entries(text, event).parts)]):
        if _is_all_ours(node.value):
            left = json_edit.remove(left, _entries(left, event), index)
        elif any(map(is_ours, _commands(node.value))):
            left = _strip_group(left, event, index)
    return text if left == text else json_edit.without_blank(left, ["hooks", event])


def _strip_group(text: str, event: str, index: int) -> str:
    """Remove our handlers from another tool's group."""
    handlers = _entries(text, event).parts[index].node.get("hooks")
    for position in reversed(range(len(handlers.parts) if handlers else 0)):
        group = _entries(text, event).parts[index].node.get("hooks")
        if group and any(map(is_ours, _commands(group.parts[position].node.value))):
            text = json_edit.remove(text, group, position)
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


def _entries(text: str, event: str) -> Node:
    found = object_at(text, ["hooks"]).get(event)
    assert found is not None
    return found


def _plugin(template: str, commands: Mapping[str, str]) -> str:
    """Put the commands, by event, into the plugin."""
    line = f"const COMMANDS = {json.dumps(commands)}"
    return _PLUGIN_COMMANDS.sub(lambda _: line, template, count=1)


def _is_plugin(text: str) -> bool:
    """Return whether a file is our plugin, of any version."""
    return text.startswith(_PLUGIN_HEAD)


def _plugin_commands(text: str) -> dict[str, Any]:
    """Read the commands of our plugin, in the shape of other hosts' hooks."""
    found = _PLUGIN_COMMANDS.search(text)
    try:
        commands = json.loads(found[1]) if found else {}
    except ValueError:
        return {}
    return {event: [{"command": command}] for event, command in commands.items()}
