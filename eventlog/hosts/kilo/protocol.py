"""Kilo's command line, a fork of OpenCode: the same plugin, the same payloads.

Documentation: kilo.ai/docs/automate/extending/plugins; run: 7.7.9.
"""

from eventlog.hosts.opencode.protocol import OpenCodeProtocol


class _KiloProtocol(OpenCodeProtocol):
    """The protocol of Kilo."""

    session_variable = "KILO_SESSION_ID"  # our plugin sets it
    memory = (("AGENTS.md", "CLAUDE.md"),), ((".config/kilo/AGENTS.md",),), False
    servers = "", ".config/kilo", "kilo.json", "kilo.json"


PROTOCOL = _KiloProtocol("kilo")
