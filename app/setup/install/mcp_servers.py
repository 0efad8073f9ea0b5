"""Our MCP server among those of a host: its entry in the text of the host's file, and out again; pure."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eventlog.app.setup.install import json_edit, toml_edit
from eventlog.app.setup.install.json_spans import parse, says_something
from eventlog.format.errors import BadRequest
from eventlog.hosts.profile import ServerFile

_NAME = "eventlog"
_OURS = re.compile(r"[/\\]eventlog[/\\]cli[/\\]mcp[/\\]start\.py")


def entry_of(servers: ServerFile, words: list[str]) -> dict[str, Any]:
    """Make the entry of the server that this command starts."""
    command = {"command": words} if servers.has_one_list else {"command": words[0], "args": words[1:]}
    return {**servers.entry, **command}


def add(text: str, servers: ServerFile, wanted: Mapping[str, Any]) -> str:
    """Put the entry into the text of a file, in the place of an earlier one of ours; raises BadRequest.

    What a host or a person has added to that one stays.
    """
    there = entry_in(text, servers)
    if there is not None and not is_ours(there):
        name = ".".join([*servers.keys, _NAME])
        raise BadRequest(f"{name} is another server than ours", hint="give it another name, then do it again")
    told = {**(there or {}), **wanted}
    if told == there:
        return text
    if _is_toml(servers):  # tables below ours, as a host adds for what was allowed once, are of the former command
        flat = {key: value for key, value in told.items() if not isinstance(value, dict)}
        return toml_edit.with_table(text, [*servers.keys, _NAME], flat)
    return json_edit.with_member(text, [*servers.keys, _NAME], told)


def remove(text: str, servers: ServerFile) -> str:
    """Take our entry out of the text of a file; raises BadRequest."""
    if _NAME not in text or not is_ours(entry_in(text, servers)):
        return text
    if _is_toml(servers):
        return toml_edit.without_table(text, [*servers.keys, _NAME])
    return json_edit.without_member(text, [*servers.keys, _NAME])


def entry_in(text: str, servers: ServerFile) -> Any:
    """Find what a file tells of a server with our name; None where it tells nothing. Raises BadRequest."""
    if not says_something(text):
        return None
    document = toml_edit.parsed(text) if _is_toml(servers) else parse(text).value
    return toml_edit.table_at(document, [*servers.keys, _NAME])


def is_ours(found: Any) -> bool:
    """Tell whether an entry starts our server, of this version or another."""
    return any(_OURS.search(word) for word in words_of(found))


def words_of(found: Any) -> list[str]:
    """Read the command of an entry with its arguments."""
    if not isinstance(found, dict):
        return []
    command, arguments = found.get("command"), found.get("args", [])
    words = [command] if isinstance(command, str) else command
    lists = (one for one in (words, arguments) if isinstance(one, list))
    return [word for one in lists for word in one if isinstance(word, str)]


def missing_files(found: Any) -> list[str]:
    """Name the files the command of an entry needs that are not there."""
    words = words_of(found)
    return [word for word in words if (word == words[0] or _OURS.search(word)) and not Path(word).exists()]


def _is_toml(servers: ServerFile) -> bool:
    return servers.user_file.endswith(".toml")
