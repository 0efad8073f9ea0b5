"""Where each host keeps its hooks, in which shape, and which events are registered; one table.

Timeouts are in each host's unit. Only events named in its documentation: Cursor ignores the whole file for one name
it does not know.
"""

import sys
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Shape = Literal["nested", "flat"]
Scope = Literal["user", "project"]

_SECONDS, _MILLISECONDS = 10, 10_000
_SHELL = "powershell" if sys.platform == "win32" else "bash"


class HostConfig(NamedTuple):
    """One host's configuration of hooks."""

    agent: str  # as commands call it
    name: str  # as its makers call it
    home: str  # its directory under the user's home
    home_variable: str  # of the environment, moves that directory; "" where nothing does
    user_file: str  # below its directory
    project_file: str  # below the project's
    shape: Shape
    events: Mapping[str, Mapping[str, Any]]  # what differs from `handler`; for nested shapes also `matcher`
    handler: Mapping[str, Any]  # the command still empty
    command_key: str = "command"
    document: Mapping[str, Any] = {}  # what a new file needs beside `hooks`
    programs: tuple[str, ...] = ()  # by which its presence is told, or by these directories of the home:
    traces: tuple[str, ...] = ()


_CLAUDE = HostConfig(
    agent="claude",
    name="Claude Code",
    home=".claude",
    home_variable="CLAUDE_CONFIG_DIR",
    user_file="settings.json",
    project_file=".claude/settings.json",
    shape="nested",
    events={
        "SessionStart": {},
        "UserPromptSubmit": {},
        "PostToolUse": {"matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash", "async": True},
        "Stop": {},
        "SubagentStart": {},
        "SubagentStop": {},
        "PreCompact": {},
        "SessionEnd": {"timeout": 5},  # all hooks at the end share 1.5 s, unless one asks for more
    },
    handler={"type": "command", "command": "", "timeout": _SECONDS},
    traces=(".claude",),
    programs=("claude",),
)

_CURSOR = HostConfig(
    agent="cursor",
    name="Cursor",
    home=".cursor",
    home_variable="",
    user_file="hooks.json",
    project_file=".cursor/hooks.json",
    shape="flat",
    events={
        "sessionStart": {},
        "beforeSubmitPrompt": {},
        "afterFileEdit": {},
        "afterShellExecution": {},
        "preCompact": {},
        "stop": {"loop_limit": 1},
        "subagentStart": {},
        "subagentStop": {},
        "sessionEnd": {},
    },
    handler={"command": "", "timeout": _SECONDS},
    document={"version": 1},
    traces=(".cursor",),
    programs=("cursor", "cursor-agent"),
)

_CODEX = HostConfig(
    agent="codex",
    name="Codex CLI",
    home=".codex",
    home_variable="CODEX_HOME",
    user_file="hooks.json",
    project_file=".codex/hooks.json",
    shape="nested",
    events={
        "SessionStart": {"matcher": "startup|resume|clear|compact"},
        "UserPromptSubmit": {},
        "PostToolUse": {},
        "PreCompact": {},
        "Stop": {},
        "SubagentStart": {},
        "SubagentStop": {},
        "SessionEnd": {"timeout": 3},  # the most it allows
    },
    handler={"type": "command", "command": "", "timeout": _SECONDS},
    traces=(".codex",),
    programs=("codex",),
)

_GEMINI = HostConfig(
    agent="gemini",
    name="Gemini CLI",
    home=".gemini",
    home_variable="",
    user_file="settings.json",
    project_file=".gemini/settings.json",
    shape="nested",
    events={
        "SessionStart": {},
        "BeforeAgent": {},
        "AfterTool": {"matcher": "write_file|replace|run_shell_command|write_todos"},
        "AfterAgent": {},
        "PreCompress": {},
        "SessionEnd": {},
    },
    handler={"name": "eventlog", "type": "command", "command": "", "timeout": _MILLISECONDS},
    traces=(".gemini",),
    programs=("gemini",),
)

_COPILOT = HostConfig(
    agent="copilot",
    name="GitHub Copilot CLI",
    home=".copilot",
    home_variable="COPILOT_HOME",
    user_file="hooks/eventlog.json",
    project_file=".github/hooks/eventlog.json",
    shape="flat",
    events={
        "sessionStart": {},
        "userPromptSubmitted": {},
        "postToolUse": {},
        "preCompact": {},
        "agentStop": {},
        "subagentStart": {},
        "subagentStop": {},
        "sessionEnd": {},
    },
    handler={"type": "command", _SHELL: "", "timeoutSec": _SECONDS},
    command_key=_SHELL,
    document={"version": 1},
    traces=(".copilot",),
    programs=("copilot",),
)

_VSCODE = HostConfig(
    agent="vscode",
    name="VS Code",
    home=".copilot",
    home_variable="",
    user_file="hooks/eventlog-vscode.json",
    project_file=".github/hooks/eventlog-vscode.json",
    shape="flat",
    events={
        "SessionStart": {},
        "UserPromptSubmit": {},
        "PostToolUse": {},
        "PreCompact": {},
        "SubagentStart": {},
        "SubagentStop": {},
        "Stop": {},
    },
    handler={"type": "command", "command": "", "timeout": _SECONDS},
    traces=(".vscode", ".config/Code"),
    programs=("code",),
)

HOST_CONFIGS: Mapping[str, HostConfig] = {
    one.agent: one for one in (_CLAUDE, _CURSOR, _CODEX, _GEMINI, _COPILOT, _VSCODE)
}


def entry(host: HostConfig, event: str, command: str) -> dict[str, Any]:
    """What is added to the list of an event."""
    own = dict(host.events[event])
    matcher = {"matcher": own.pop("matcher")} if "matcher" in own else {}
    handler = {**host.handler, host.command_key: command, **own}
    return {**matcher, "hooks": [handler]} if host.shape == "nested" else {**matcher, **handler}
