"""A plugin of ours, for hosts that run programs instead of commands: a file of our own, commands in one line; pure."""

import json
import re
from collections.abc import Mapping
from typing import Any

_HEAD = "// Written by `eventlog install "
_COMMANDS = re.compile(r"^const COMMANDS = (\{.*\})$", re.MULTILINE)


def render(template: str, commands: Mapping[str, str]) -> str:
    """Put the commands, by event, into the plugin."""
    told = f"const COMMANDS = {json.dumps(commands)}"
    return _COMMANDS.sub(lambda _: told, template, count=1)


def is_ours(text: str) -> bool:
    """Tell whether a file is a plugin we wrote, of this version or another."""
    return text.startswith(_HEAD)


def commands_in(text: str) -> dict[str, Any]:
    """Read the commands of a plugin of ours, in the shape of other hosts' hooks."""
    found = _COMMANDS.search(text)
    try:
        commands = json.loads(found[1]) if found else {}
    except ValueError:
        return {}
    return {event: [{"command": command}] for event, command in commands.items()}
