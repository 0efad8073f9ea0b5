"""Kilo's command line, a fork of OpenCode: the same plugin, the same payloads.

By its documentation, not run: kilo.ai/docs/automate/extending/plugins.
"""

from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.opencode import protocol as opencode

AGENT = "kilo"
SESSION_VARIABLE = "KILO_SESSION_ID"  # of its agent's shell commands: our plugin sets it
MEMORY = (("AGENTS.md", "CLAUDE.md"),), ((".config/kilo/AGENTS.md",),), False
SERVERS = "", ".config/kilo", "kilo.json", "kilo.json"
SILENT = b""

PROMPT = opencode.PROMPT
start = opencode.start
ask = opencode.ask
flush = opencode.flush


def read(payload: Payload, name: str) -> HookCall:
    """Make a call of a payload."""
    return opencode.read(payload, name, AGENT)
