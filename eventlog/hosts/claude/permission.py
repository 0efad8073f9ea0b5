"""Claude Code asks before each command (`claude -p` refuses it) unless a rule allows it.

Documentation: code.claude.com/docs/en/permissions. Of a line of several commands each is looked at by itself.
"""

from eventlog.hosts.permission import listed

PERMISSION = listed("Bash({}:*)", ("Bash", "Bash(*)", "Bash(:*)"), {"deny": "refused"}, ".claude/settings.json")
