"""OpenCode, which runs plugins and no commands: our `plugin.js` calls the hook with payloads of Claude Code.

The id of its user's message identifies a turn; `agent_id` is the session of a subagent. The answer to a start or a
prompt becomes part of the system message. `opencode run` hands on its prompt in quotes.
Documentation: opencode.ai/docs/plugins; seen in 1.18.
"""

from eventlog.hosts.call import HookCall, Payload, text
from eventlog.hosts.claude.protocol import ClaudeLike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.hosts.call import MemoryFiles


class OpenCodeProtocol(ClaudeLike):
    """The protocol of our plugin."""

    session_variable = "OPENCODE_SESSION_ID"  # our plugin sets it
    memory: "MemoryFiles" = (("AGENTS.md",),), ((".config/opencode/AGENTS.md",),), False
    servers = "OPENCODE_CONFIG_DIR", ".config/opencode", "opencode.json", "opencode.json"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        if prompt := text(payload, "prompt"):
            inner = prompt[1:-1]
            payload = {**payload, "prompt": inner if prompt == f'"{inner}"' and '"' not in inner else prompt}
        call = super().read(payload, name)
        call.may_ask = call.name == self.prompt
        return call


PROTOCOL = OpenCodeProtocol("opencode")
