"""Files and hooks of Factory's droid; documentation, not run: docs.factory.ai/harness/hooks, /harness/mcp."""

from eventlog.hosts.profile import HookFile, HostProfile, RuleFile, ServerFile

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop", "PreCompact", "SessionEnd",
)  # fmt: skip

PROFILE = HostProfile(
    agent="droid",
    name="Factory droid",
    home=".factory",
    hooks=HookFile(
        user_file="hooks.json",
        project_file=".factory/hooks.json",
        events=_EVENTS,
        own={"PostToolUse": {"matcher": "Create|Edit|ApplyPatch|Execute|TodoWrite"}},
    ),
    rules=RuleFile(project_file="AGENTS.md", user_file="AGENTS.md"),
    servers=ServerFile(entry={"type": "stdio"}),
    runs=("droid",),
)
