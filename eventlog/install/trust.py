"""Whether a host is willing to run what is installed."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.install import hookfile
from eventlog.install.command import is_ours

_UPPER = re.compile(r"(?<!^)(?=[A-Z])")


def disabled(value: Any) -> str:
    """The setting of a host's file that switches all its hooks off; "" where none does."""
    if not isinstance(value, dict):
        return ""
    if value.get("disableAllHooks") is True:
        return "disableAllHooks"
    hooks = value.get("hooks")
    return "hooks.enabled" if isinstance(hooks, dict) and hooks.get("enabled") is False else ""


def untrusted_by_codex(directory: Path, file: Path, value: Any) -> list[str]:
    """Our events that Codex has not been told to trust, by `[hooks.state]` of its `config.toml`.

    A hook is known there by file, event, and its positions in the file.
    """
    state = _state(directory / "config.toml")
    return [event for event, key in _keys(file, value) if not _is_trusted(state.get(key))]


def _keys(file: Path, value: Any) -> Iterator[tuple[str, str]]:
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group, entry in enumerate(groups if isinstance(groups, list) else ()):
            handlers = entry.get("hooks") if isinstance(entry, dict) else None
            for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if any(is_ours(command) for _, command in hookfile.commands_in({"hooks": {event: [handler]}})):
                    yield event, f"{file}:{_UPPER.sub('_', event).lower()}:{group}:{number}"


def _state(path: Path) -> dict[str, Any]:
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    hooks = config.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    return state if isinstance(state, dict) else {}


def _is_trusted(entry: Any) -> bool:
    return isinstance(entry, dict) and bool(entry.get("trusted_hash"))
