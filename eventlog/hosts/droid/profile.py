"""Files and hooks of Factory's droid; documentation: docs.factory.ai/harness/hooks, /harness/mcp; run: 0.225.

In its `hooks.json`, which it makes by itself, events have no `hooks` around them; below that key it reads them in its
settings, as all releases do.
"""

from eventlog.hosts.profile import HookFile, HostProfile, RuleFile, ServerFile

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd",
)  # fmt: skip

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
)
