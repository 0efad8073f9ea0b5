"""Gemini CLI's files and hooks; documentation: github.com/google-gemini/gemini-cli, docs/hooks and docs/cli."""

from eventlog.hosts.profile import MILLISECONDS, HookFile, HostProfile, MemoryFiles, RuleFile, ServerFile

PROFILE = HostProfile(
    agent="gemini",
    name="Gemini CLI",
    home=".gemini",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".gemini/settings.json",
        shape="nested",
        events=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"),
        own={
            "AfterTool": {"matcher": "write_file|replace|run_shell_command|write_todos"},
            "PreCompress": {"matcher": "manual"},
        },
        handler={"name": "eventlog", "type": "command", "command": "", "timeout": MILLISECONDS},
    ),
    rules=RuleFile(project_file="GEMINI.md", user_file="GEMINI.md"),
    memory=MemoryFiles(project=(("GEMINI.md",),), home=((".gemini/GEMINI.md",),), has_imports=True),
    servers=ServerFile("settings.json", ".gemini/settings.json"),
    runs=("gemini",),
    marks=("GEMINI_CLI",),
)
