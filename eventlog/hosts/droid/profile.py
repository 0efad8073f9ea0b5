"""Files and hooks of Factory's droid; documentation: docs.factory.ai/harness/hooks, /harness/mcp; run: 0.225.

In its `hooks.json`, which it makes by itself, events have no `hooks` around them; below that key it reads them in its
settings, as all releases do. An event in `hooks.json` hides the same one in the settings beside it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.format import codec
from eventlog.hosts.profile import Distrust, HookFile, HostProfile, RuleFile, ServerFile
from eventlog.store.files import read

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd",
)  # fmt: skip

_REMEDY = "move the hooks of hooks.json into settings.json, below `hooks`"


def _distrust(_: Path, file: Path, value: Any) -> Iterator[Distrust]:
    """Name our events that `hooks.json` has, too."""
    beside = file.with_name("hooks.json")
    hiding = codec.json_object(read(str(beside)) or b"") or {}
    if hidden := [event for event in _EVENTS if event in hiding and codec.dig(value, "hooks", event)]:
        yield Distrust(f"droid runs the hooks of {beside} for {', '.join(hidden)}, and skips ours", _REMEDY)


PROFILE = HostProfile(
    agent="droid",
    name="Factory droid",
    home=".factory",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".factory/settings.json",
        events=_EVENTS,
        own={"PostToolUse": {"matcher": "Create|Edit|ApplyPatch|Execute|TodoWrite"}},
    ),
    rules=RuleFile(project_file="AGENTS.md", user_file="AGENTS.md"),
    servers=ServerFile(entry={"type": "stdio"}),
    runs=("droid",),
    distrust=_distrust,
    after_install=f"droid skips those that hooks.json has, too: {_REMEDY}",
)
