"""How other hosts are answered that run the hooks they find in Claude Code's settings.

They translate its documented answers, as far as they know them: a blocked stop they all do.
"""

from eventlog.hosts.claude import protocol as claude

SILENT = claude.SILENT

start = claude.start
ask = claude.block
flush = claude.flush
