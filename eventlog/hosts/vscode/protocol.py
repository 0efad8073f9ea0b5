"""VS Code's agent mode: Copilot's files and Claude Code's, a payload of mixed case, and no end of a session.

It also runs hooks it finds in Claude Code's settings, in this dialect. Documentation:
code.visualstudio.com/docs/copilot/customization/hooks.
"""

from eventlog.hosts.call import HookCall, Payload
from eventlog.hosts.claude.protocol import BlockedInside
from eventlog.hosts.copilot import protocol as copilot


class _VSCodeProtocol(BlockedInside):
    """The protocol of VS Code."""

    memory = (("AGENTS.md",),), (), False

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        return copilot.read(payload, name, self.agent)


PROTOCOL = _VSCodeProtocol("vscode")
