"""GitHub Copilot CLI's files, hooks and permissions; documentation: docs.github.com/copilot/reference/hooks-reference.

It asks before each command (`copilot -p` refuses it), and keeps approvals only for one place at a time. Before it asks,
it calls the hooks of `permissionRequest` (from 1.0.18 on), and a hook that allows is enough, also where the program
lies outside of the project. So the rule is a hook of ours that allows exactly our saving commands. It reads commands
as a POSIX shell does: on Windows, where another shell runs them, there is no rule (`copilot help permissions`).
"""

import json
import re
import shlex
import sys
from pathlib import Path, PurePath
from typing import Any

from eventlog.hooks.command import CANNOT_FAIL
from eventlog.hooks.prompts import interpreter
from eventlog.hosts.profile import (
    SECONDS,
    ForeignHooks,
    Grant,
    HookFile,
    HostProfile,
    NoPermission,
    Permission,
    PluginFormat,
    RuleFile,
    ServerFile,
    Verdict,
)

_SHELL = "powershell" if sys.platform == "win32" else "bash"

_EVENTS = (
    "sessionStart", "userPromptSubmitted", "postToolUse", "preCompact", "agentStop", "subagentStart",
    "subagentStop", "sessionEnd",
)  # fmt: skip

_EVENT = "permissionRequest"
_SCRIPT = str(Path(__file__).with_name("permit.py"))
_PERMITS = re.compile(r"""/eventlog/hosts/\w+/permit\.py'? """)  # of any version


def _items(grant: Grant) -> tuple[str, ...]:
    command = shlex.join([interpreter(), "-I", "-S", _SCRIPT, grant.program, grant.store]) + CANNOT_FAIL
    handler = {"type": "command", "bash": command, "timeoutSec": SECONDS}
    return (json.dumps({"version": 1, "hooks": {_EVENT: [handler]}}, indent=2, ensure_ascii=False) + "\n",)


def _judge(hooks: Any, grant: Grant) -> Verdict:
    return "allowed" if hooks == json.loads(_items(grant)[0]) else "asked"


def _is_own(text: str, grant: Grant) -> bool:
    del grant
    try:
        found = json.loads(text)
        (handler,) = found["hooks"].pop(_EVENT)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    command = handler.get("bash") if isinstance(handler, dict) else None
    return not found["hooks"] and isinstance(command, str) and _PERMITS.search(command) is not None


def _remedy(grant: Grant) -> str:
    """Name the options that let its agent save, needed at each start."""
    place = PurePath(grant.program.strip("'")).parent
    return f'copilot --allow-tool "shell({grant.program}:*)" --add-dir {place}, each time: it keeps no such rule'


_RULE = Permission(
    form="own", user_file="hooks/eventlog-permit.json", items=_items, judge=_judge, judge_tools=_judge, is_own=_is_own
)
NO_RULE = NoPermission("asked", _remedy)
_PERMISSION = NO_RULE if sys.platform == "win32" else _RULE

PROFILE = HostProfile(
    agent="copilot",
    name="GitHub Copilot CLI",
    home=".copilot",
    home_variable="COPILOT_HOME",
    hooks=HookFile(
        user_file="hooks/eventlog.json",
        project_file=".github/hooks/eventlog.json",
        refuses=("comment", "trailing_comma", "byte_order_mark"),
        shape="flat",
        events=_EVENTS,
        handler={"type": "command", _SHELL: "", "timeoutSec": SECONDS},
        command_key=_SHELL,
        document={"version": 1},
    ),
    rules=RuleFile(project_file="AGENTS.md"),
    permission=_PERMISSION,
    servers=ServerFile(entry={"type": "local", "tools": ["*"]}),
    plugin=PluginFormat(  # beside a `plugin.json` of Agent Plugins it would read no hooks
        install="copilot plugin marketplace add {directory} && copilot plugin install eventlog@eventlog",
        folder="copilot",
        manifest=".plugin/plugin.json",
        root="${CLAUDE_PLUGIN_ROOT}",
        names_root_to_servers=False,
        fields={"skills": "skills/", "hooks": "hooks/hooks.json", "mcpServers": ".mcp.json"},
        catalog=".plugin/marketplace.json",
        listing={"source": "./copilot"},
    ),
    also_runs=(ForeignHooks("claude", ("project",), is_enough=True), ForeignHooks("vscode")),
    runs=("copilot",),
    marks=("COPILOT_CLI",),
)
