"""VS Code's agent mode: Copilot's files and Claude Code's, a payload of mixed case, and no end of a session.

It also runs hooks it finds in Claude Code's settings, in this dialect. Documentation:
code.visualstudio.com/docs/copilot/customization/hooks.
"""

from eventlog.fast import fastjson
from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.claude import protocol as claude
from eventlog.hosts.copilot import protocol as copilot

AGENT = "vscode"
MEMORY = (("AGENTS.md",),), (), False
SILENT = b""

start = claude.start
flush = claude.flush


def read(payload: Payload, name: str) -> HookCall:
    """Make a call of a payload."""
    return copilot.read(payload, name, AGENT)


def ask(request: str) -> bytes:
    """Continue the turn with a request, given where VS Code looks for it."""
    decision: dict[str, object] = {"decision": "block", "reason": request}
    return fastjson.dumps({"hookSpecificOutput": {"hookEventName": "Stop", **decision}})
