"""GitHub Copilot CLI's files and hooks; documentation: docs.github.com/copilot/reference/hooks-reference."""

import sys

from eventlog.hosts.profile import SECONDS, ForeignHooks, HookFile, HostProfile, MemoryFiles, RuleFile, ServerFile

_SHELL = "powershell" if sys.platform == "win32" else "bash"

_EVENTS = (
    "sessionStart", "userPromptSubmitted", "postToolUse", "preCompact", "agentStop", "subagentStart",
    "subagentStop", "sessionEnd",
)  # fmt: skip

PROFILE = HostProfile(
    agent="copilot",
    name="GitHub Copilot CLI",
    home=".copilot",
    home_variable="COPILOT_HOME",
    hooks=HookFile(
        user_file="hooks/eventlog.json",
        project_file=".github/hooks/eventlog.json",
        shape="flat",
        events=_EVENTS,
        handler={"type": "command", _SHELL: "", "timeoutSec": SECONDS},
        command_key=_SHELL,
        document={"version": 1},
    ),
    rules=RuleFile(project_file="AGENTS.md"),
    memory=MemoryFiles(project=(("AGENTS.md",), (".github/copilot-instructions.md",)), home=((".copilot/AGENTS.md",),)),
    servers=ServerFile("mcp-config.json", entry={"type": "local", "tools": ["*"]}),
    also_runs=(ForeignHooks("claude", ("project",), is_enough=True), ForeignHooks("vscode")),
    runs=("copilot",),
    marks=("COPILOT_CLI",),
)
