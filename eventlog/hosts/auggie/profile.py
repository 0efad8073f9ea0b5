"""Auggie's files and hooks; documentation, not run: docs.augmentcode.com/cli/hooks, /cli/integrations, /cli/rules."""

from eventlog.hosts.profile import MILLISECONDS, HookFile, HostProfile, RuleFile, ServerFile

_EVENTS = ("SessionStart", "PromptSubmit", "PostToolUse", "Stop", "SessionEnd")

PROFILE = HostProfile(
    agent="auggie",
    name="Auggie",
    home=".augment",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".augment/settings.json",
        events=_EVENTS,
        own={"PostToolUse": {"matcher": "save-file|str-replace-editor|remove-files|launch-process"}},
        handler={"type": "command", "command": "", "timeout": MILLISECONDS},
    ),
    rules=RuleFile(project_file="AGENTS.md"),
    servers=ServerFile(),
    runs=("auggie",),
)
