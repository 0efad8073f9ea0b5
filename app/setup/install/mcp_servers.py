"""Add the entry of our MCP server to the text of a host's file, and remove it; pure."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eventlog.app.setup.install import json_edit, toml_edit
from eventlog.app.setup.install.json_edit import has_content, parse
from eventlog.format.codec import dig
from eventlog.format.errors import BadRequest
from eventlog.hosts.profile import ServerFile

_NAME = "eventlog"
_OURS = re.compile(r"[/\\]eventlog[/\\]cli[/\\]mcp[/\\]start\.py")


def entry_of(servers: ServerFile, words: list[str]) -> dict[str, Any]:
    """Make the entry of a server from its command."""
    command = {"command": words} if servers.has_one_list else {"command": words[0], "args": words[1:]}
    return {**servers.entry, **command}


def add(text: str, servers: ServerFile, wanted: Mapping[str, Any]) -> str:
    """Add the entry to the text of a file, replacing our earlier entry; raises BadRequest.

    Fields that a host or a person has added to that entry stay.
    """
    present = entry_in(text, servers)
    if present is not None and not is_ours(present):
        name = ".".join([*servers.keys, _NAME])
        raise BadRequest(f"{name} is another server than ours", hint="give it another name, then do it again")
    merged = {**(present or {}), **wanted}
    if merged == present:
        return text
    if servers.is_toml:  # a host's tables below ours, of single permissions, belong to the former command
        flat = {key: value for key, value in merged.items() if not isinstance(value, dict)}
        return toml_edit.with_table(text, [*servers.keys, _NAME], flat)
    return json_edit.with_member(text, [*servers.keys, _NAME], merged)


def remove(text: str, servers: ServerFile) -> str:
    """Remove our entry from the text of a file; raises BadRequest."""
    if _NAME not in text or not is_ours(entry_in(text, servers)):
        return text
    if servers.is_toml:
        return toml_edit.without_table(text, [*servers.keys, _NAME])
    return json_edit.without_member(text, [*servers.keys, _NAME])


def entry_in(text: str, servers: ServerFile) -> Any:
    """Find the entry of a server with our name in a text; None for none. Raises BadRequest."""
    if not has_content(text):
        return None
    document = toml_edit.parsed(text) if servers.is_toml else parse(text).value
    return dig(document, *servers.keys, _NAME)


def is_ours(entry: Any) -> bool:
    """Return whether an entry starts our server, of any version."""
    return any(_OURS.search(word) for word in _words(entry))


def _words(entry: Any) -> list[str]:
    """Read the command of an entry with its arguments."""
    if not isinstance(entry, dict):
        return []
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [command] if isinstance(command, str) else command
    lists = (words if isinstance(words, list) else [], arguments if isinstance(arguments, list) else [])
    return [word for part in lists for word in part if isinstance(word, str)]


def missing_files(entry: Any) -> list[str]:
    """List the missing files of an entry's command."""
    words = _words(entry)
    return [word for word in words if (word == words[0] or _OURS.search(word)) and not Path(word).exists()]
