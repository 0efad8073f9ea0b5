"""Files and hooks of Continue's command line; source: github.com/continuedev/continue, extensions/cli; run: 1.5.47."""

from eventlog.hosts.profile import ForeignHooks, HookFile, HostProfile, RuleFile

_RULE = "---\nname: eventlog\nalwaysApply: true\n---\n\n"
_EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionEnd")

PROFILE = HostProfile(
    agent="cn",
    name="Continue",
    home=".continue",
    home_variable="CONTINUE_GLOBAL_DIR",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".continue/settings.json",
        events=_EVENTS,
        own={"PostToolUse": {"matcher": "Edit|MultiEdit|Write|Bash"}},
    ),
    rules=RuleFile(project_file=".continue/rules/eventlog.md", user_file="rules/eventlog.md", head=_RULE),
    also_runs=(ForeignHooks("claude", is_enough=True),),
    runs=("cn",),
)
