"""Codex CLI's files, hooks and permissions; documentation: developers.openai.com/codex/hooks, /guides/agents-md, /mcp.

It runs only trusted hooks, identified by a digest in its `config.toml`. It runs commands unasked in a sandbox that can
write the project and the temporary directory only (/config-reference: `sandbox_mode`, `sandbox_workspace_write`).
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from eventlog.format.codec import dig
from eventlog.hooks.command import HookCommand
from eventlog.hosts.profile import (
    Distrust,
    Grant,
    HookFile,
    HostProfile,
    Permission,
    PluginFormat,
    RuleFile,
    ServerFile,
    Verdict,
    strings,
)

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SubagentStart", "SubagentStop",
    "SessionEnd",
)  # fmt: skip

_REMEDY = "run /hooks in Codex"
_UPPER = re.compile(r"(?<!^)(?=[A-Z])")


def _distrust(directory: Path, file: Path, value: Any) -> Iterator[Distrust]:
    """Compare our hooks in a file with `[hooks.state]`, whose keys are file, event, and positions of a hook."""
    state = _state(directory / "config.toml")
    hooks = [(event, digest, dig(state, key)) for event, key, digest in _hooks(file, value)]
    off = [event for event, _, noted in hooks if dig(noted, "enabled") is False]
    missing = [event for event, _, noted in hooks if not dig(noted, "trusted_hash")]
    outdated = [event for event, digest, noted in hooks if (dig(noted, "trusted_hash") or digest) != digest]
    if off:
        yield Distrust(f"Codex was told to skip the hooks for {', '.join(off)}", _REMEDY)
    if missing:
        which = "our hooks" if len(missing) == len(hooks) else f"the hooks for {', '.join(missing)}"
        yield Distrust(f"Codex does not trust {which} yet, and skips them", _REMEDY)
    if outdated:
        events = ", ".join(outdated)
        yield Distrust(
            f"Codex seems to trust another command for {events}, and would skip this one", _REMEDY, is_guess=True
        )


def _without_trust(config: str, file: Path, value: Any) -> str:
    """Remove our hooks in a file from the text of `config.toml`; every other byte stays."""
    remaining = config
    for _, key, _ in _hooks(file, value):
        remaining = _without_table(remaining, f"hooks.state.{json.dumps(key, ensure_ascii=False)}")
    if remaining != config and not re.search(r"^\s*\[hooks\.state\.", remaining, re.MULTILINE):
        remaining = _without_table(remaining, "hooks.state")
    return remaining


def _without_table(text: str, name: str) -> str:
    """Remove a table of plain lines, and the blank line before it, or after it."""
    lines = rf"^\[{re.escape(name)}\][ \t]*(?:\r?\n|\Z)(?:[\w-]+[ \t]*=[^\n]*(?:\n|\Z))*"
    return re.sub(rf"(?:(?<=\n)\r?\n{lines}|{lines}(?:\r?\n)?)", "", text, count=1, flags=re.MULTILINE)


def _hooks(file: Path, value: Any) -> Iterator[tuple[str, str, str]]:
    """Yield event, key and digest of each of our hooks."""
    hooks = dig(value, "hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group, entry in enumerate(groups if isinstance(groups, list) else ()):
            handlers = dig(entry, "hooks")
            for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and HookCommand(handler.get("command")).is_own:
                    label = _UPPER.sub("_", event).lower()
                    yield event, f"{file}:{label}:{group}:{number}", _digest(label, entry.get("matcher"), handler)


def _digest(label: str, matcher: object, handler: dict[str, Any]) -> str:
    """Compute Codex's digest of a hook's definition (observed in 0.142; undocumented)."""
    complete = {"async": False, "timeout": 600, **handler}
    identity: dict[str, object] = {
        "event_name": label,
        "hooks": [{name: complete.get(name) for name in ("async", "command", "timeout", "type")}],
    }
    if matcher:
        identity["matcher"] = matcher
    import hashlib  # of no use to callers that want the profile only

    compact = json.dumps(identity, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(compact.encode()).hexdigest()}"


def _state(path: Path) -> dict[str, Any]:
    import tomllib  # as above

    try:
        config = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return {}
    state = dig(config, "hooks", "state")
    return state if isinstance(state, dict) else {}


_KEYS = ("sandbox_workspace_write", "writable_roots")


def _judge(config: Any, grant: Grant) -> Verdict:
    mode = dig(config, "sandbox_mode")
    store = PurePath(grant.store)
    inside = any(store == PurePath(root) or PurePath(root) in store.parents for root in strings(config, _KEYS))
    return "allowed" if mode == "danger-full-access" or (inside and mode != "read-only") else "refused"


_PERMISSION = Permission(
    form="toml",
    user_file="config.toml",
    keys=_KEYS,
    items=lambda grant: (grant.store,),
    judge=_judge,
    judge_tools=lambda *_: "allowed",  # it asks before destructive tools only, and starts servers outside its sandbox
    overruled='sandbox_mode = "workspace-write" in config.toml',
    is_own=lambda item, grant: item == grant.store,
)

PROFILE = HostProfile(
    agent="codex",
    name="Codex CLI",
    home=".codex",
    home_variable="CODEX_HOME",
    hooks=HookFile(
        user_file="hooks.json",
        project_file=".codex/hooks.json",
        refuses=("comment", "trailing_comma", "byte_order_mark"),
        events=_EVENTS,
        before_files=("PreToolUse",),
        own={
            "PreToolUse": {"matcher": "apply_patch|Bash"},
            "SessionEnd": {"timeout": 3},  # the most it allows
        },
    ),
    rules=RuleFile(project_file="AGENTS.md", user_file="AGENTS.md"),
    permission=_PERMISSION,
    servers=ServerFile(keys=("mcp_servers",), is_toml=True),  # docs: /codex/mcp
    plugin=PluginFormat(  # docs: /codex/plugins/build; beside a `plugin.json` of Agent Plugins it would read no hooks
        install="codex plugin marketplace add {directory} && codex plugin add eventlog@eventlog",
        folder="codex",
        manifest=".codex-plugin/plugin.json",
        root="${CLAUDE_PLUGIN_ROOT}",
        names_root_to_servers=False,
        fields={"skills": "./skills/", "mcpServers": "./.mcp.json"},
        catalog=".agents/plugins/marketplace.json",
        listing={
            "source": {"source": "local", "path": "./codex"},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
            "category": "Productivity",
        },
    ),
    switches={"features.hooks": False, "features.codex_hooks": False, "allow_managed_hooks_only": True},
    settings_files=(".codex/config.toml", "/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"),
    distrust=_distrust,
    trust_file="config.toml",
    without_trust=_without_trust,
    after_install="Codex skips hooks it was not told to trust: run /hooks in it once",
    runs=("codex",),
    marks=("CODEX_SANDBOX", "CODEX_THREAD_ID"),
)
