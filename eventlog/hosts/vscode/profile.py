"""VS Code's files and hooks; documentation: code.visualstudio.com/docs/copilot/customization/hooks."""

from eventlog.hosts.profile import ForeignHooks, HookFile, HostProfile, RuleFile

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "SubagentStart", "SubagentStop", "Stop",
)  # fmt: skip

PROFILE = HostProfile(
    agent="vscode",
    name="VS Code",
    home=".copilot",
    hooks=HookFile(
        user_file="hooks/eventlog-vscode.json",
        project_file=".github/hooks/eventlog-vscode.json",
        shape="flat",
        events=_EVENTS,
    ),
    rules=RuleFile(project_file="AGENTS.md"),
    programs=("code",),
    traces=(".vscode", ".config/Code"),
    also_runs=(ForeignHooks("claude", is_enough=True), ForeignHooks("copilot")),
)
