"""Whether a host is willing to run what is installed."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.install import hook_entries
from eventlog.hooks.command import is_ours

_UPPER = re.compile(r"(?<!^)(?=[A-Z])")


def disabled(value: Any) -> str:
    """The setting of a host's file that switches all its hooks off; "" where none does."""
    if not isinstance(value, dict):
        return ""
    if value.get("disableAllHooks") is True:
        return "disableAllHooks"
    hooks = value.get("hooks")
    return "hooks.enabled" if isinstance(hooks, dict) and hooks.get("enabled") is False else ""


class Trust(NamedTuple):
    """Our events that Codex was never told to trust, and those it trusts another command for."""

    missing: list[str]
    outdated: list[str]


def trust_of_codex(directory: Path, file: Path, value: Any) -> Trust:
    """By `[hooks.state]` of its `config.toml`: a hook is known there by file, event, and its positions in the file."""
    state = _state(directory / "config.toml")
    trusted = [(event, digest, _trusted_hash(state.get(key))) for event, key, digest in _hooks(file, value)]
    return Trust(
        [event for event, _, known in trusted if not known],
        [event for event, digest, known in trusted if known not in ("", digest)],
    )


def _hooks(file: Path, value: Any) -> Iterator[tuple[str, str, str]]:
    """Event, key and digest of each of our hooks."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group, entry in enumerate(groups if isinstance(groups, list) else ()):
            handlers = entry.get("hooks") if isinstance(entry, dict) else None
            for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if any(is_ours(command) for _, command in hook_entries.commands_in({"hooks": {event: [handler]}})):
                    label = _UPPER.sub("_", event).lower()
                    yield event, f"{file}:{label}:{group}:{number}", _digest(label, entry.get("matcher"), handler)


def _digest(label: str, matcher: object, handler: dict[str, Any]) -> str:
    """As Codex takes it of a hook's definition (0.142; nothing promises that it stays so)."""
    known = {"async": False, "timeout": 600, **handler}
    identity: dict[str, object] = {
        "event_name": label,
        "hooks": [{name: known.get(name) for name in ("async", "command", "timeout", "type")}],
    }
    if matcher:
        identity["matcher"] = matcher
    compact = json.dumps(identity, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(compact.encode()).hexdigest()}"


def _state(path: Path) -> dict[str, Any]:
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    hooks = config.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    return state if isinstance(state, dict) else {}


def _trusted_hash(entry: Any) -> str:
    return str(entry.get("trusted_hash") or "") if isinstance(entry, dict) else ""
