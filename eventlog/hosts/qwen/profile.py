"""Qwen Code's files and hooks; documentation: qwenlm.github.io/qwen-code-docs, features/hooks and configuration."""

from eventlog.hosts.profile import SECONDS, HookFile, HostProfile, MemoryFiles, RuleFile, ServerFile

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SubagentStart", "SubagentStop", "PreCompact",
    "SessionEnd",
)  # fmt: skip

PROFILE = HostProfile(
    agent="qwen",
    name="Qwen Code",
    home=".qwen",
    home_variable="QWEN_HOME",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".qwen/settings.json",
        shape="nested",
        events=_EVENTS,
        own={"PostToolUse": {"matcher": "write_file|edit|notebook_edit|run_shell_command|todo_write"}},
        handler={"name": "eventlog", "type": "command", "command": "", "timeout": SECONDS},
    ),
    rules=RuleFile(project_file="QWEN.md", user_file="QWEN.md"),
    memory=MemoryFiles(project=(("QWEN.md",),), home=((".qwen/QWEN.md",),), has_imports=True),
    servers=ServerFile("settings.json", ".qwen/settings.json"),
    runs=("qwen",),
    marks=("QWEN_CODE",),
)
