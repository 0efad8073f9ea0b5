"""Continue's command line, `cn`: Claude Code's protocol, with an empty `transcript_path` and no turn id.

It also runs the hooks in Claude Code's settings. A stop always says that it continues for a hook; no answer to it
reaches the agent. Its schema has the events below, but 1.5 calls hooks for tools only: a session is seen from the first
tool on. Source: github.com/continuedev/continue, extensions/cli/src/hooks; run: 1.5.47.
"""

from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.claude.protocol import ClaudeLike


class _ContinueProtocol(ClaudeLike):
    """The protocol of Continue's command line."""

    memory = (("AGENTS.md",), ("CLAUDE.md",)), (), False

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        call = super().read({**payload, "stop_hook_active": False} if name == "Stop" else payload, name)
        call.may_ask = call.name == self.prompt
        return call


PROTOCOL = _ContinueProtocol("continue")
