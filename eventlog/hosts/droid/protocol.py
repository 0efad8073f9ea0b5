"""Factory's droid: Claude Code's protocol and event names, with tools of its own names; no turn id, no id of a helper.

Without a terminal it tells of no prompt. Documentation: docs.factory.ai/harness/hooks; run: 0.225.
"""

from eventlog.hosts.claude.protocol import Blocked


class _DroidProtocol(Blocked):
    """The protocol of droid."""

    memory = (("AGENTS.md",),), ((".factory/AGENTS.md",),), False
    servers = "", ".factory", "mcp.json", ".factory/mcp.json"


PROTOCOL = _DroidProtocol("droid")
