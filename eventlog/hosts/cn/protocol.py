"""Continue's command line, `cn`: Claude Code's protocol, with an empty `transcript_path` and no turn id.

It also runs the hooks in Claude Code's settings. A stop always says that it continues for a hook; no answer to it
reaches the agent. Its schema has the events below, but 1.5 calls hooks for tools only: a session is seen from the first
tool on. By its source, not run: github.com/continuedev/continue, extensions/cli/src/hooks.
"""

from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.claude import protocol as claude

AGENT = "continue"
MEMORY = (("AGENTS.md",), ("CLAUDE.md",)), (), False
SILENT = b""

PROMPT = claude.PROMPT
start = claude.start
ask = claude.ask_with_prompt
flush = claude.flush


def read(payload: Payload, name: str) -> HookCall:
    """Make a call of a payload."""
    if name == "Stop":
        payload = {**payload, "stop_hook_active": False}
    call = claude.read(payload, name, AGENT)
    call.may_ask = call.name == PROMPT
    return call
