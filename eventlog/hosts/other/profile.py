"""The profile of hosts without a room of their own."""

from collections.abc import Mapping

from eventlog.hosts.profile import MemoryFiles

MEMORY: Mapping[str, MemoryFiles] = dict.fromkeys(("amp", "windsurf", "droid"), MemoryFiles(project=(("AGENTS.md",),)))
