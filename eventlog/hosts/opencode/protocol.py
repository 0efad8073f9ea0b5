"""OpenCode, which runs plugins and no commands: our `plugin.js` calls the hook with payloads of Claude Code.

The id of its user's message identifies a turn; `agent_id` is the session of a subagent. The answer to a start or a
prompt becomes part of the system message. `opencode run` hands on its prompt in quotes.
Documentation: opencode.ai/docs/plugins; seen in 1.18.
"""

from eventlog.hosts.call import HookCall, Payload, text
from eventlog.hosts.claude import protocol as claude

AGENT = "opencode"
SESSION_VARIABLE = "OPENCODE_SESSION_ID"  # of its agent's shell commands: our plugin sets it
MEMORY = (("AGENTS.md",),), ((".config/opencode/AGENTS.md",),), False
SERVERS = "OPENCODE_CONFIG_DIR", ".config/opencode", "opencode.json", "opencode.json"
SILENT = b""

PROMPT = claude.PROMPT
start = claude.start
ask = claude.ask_with_prompt
flush = claude.flush


def read(payload: Payload, name: str, agent: str = AGENT) -> HookCall:
    """Make a call of a payload."""
    if prompt := text(payload, "prompt"):
        payload = {**payload, "prompt": _unquoted(prompt)}
    call = claude.read(payload, name, agent)
    call.may_ask = call.name == claude.PROMPT
    return call


def _unquoted(prompt: str) -> str:
    inner = prompt[1:-1]
    return inner if prompt == f'"{inner}"' and '"' not in inner else prompt
