"""Factory's droid: Claude Code's protocol and event names, with tools of its own names; no turn id, no id of a helper.

By its documentation, not run: docs.factory.ai/harness/hooks.
"""

from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.claude import protocol as claude

AGENT = "droid"
MEMORY = (("AGENTS.md",),), ((".factory/AGENTS.md",),), False
SERVERS = "", ".factory", "mcp.json", ".factory/mcp.json"
SILENT = b""

PROMPT = claude.PROMPT
start = claude.start
ask = claude.block
flush = claude.flush


def read(payload: Payload, name: str) -> HookCall:
    """Make a call of a payload."""
    return claude.read(payload, name, AGENT)
