"""Claude Code asks before each command (`claude -p` refuses it) unless a rule allows it.

Documentation: code.claude.com/docs/en/permissions. Of a line of several commands each is looked at by itself.
"""

import re
from typing import Any

from eventlog.hosts.permission import Grant, Permission, Verdict, prefixes, strings

_KEYS = ("permissions", "allow")
_ENOUGH = ("Bash", "Bash(*)", "Bash(:*)")
_OURS = re.compile(r"Bash\((?:.* -m |\S*/|'.*/)?eventlog'? (?:summary|fact):\*\)")


def _items(grant: Grant) -> tuple[str, ...]:
    return tuple(f"Bash({prefix}:*)" for prefix in prefixes(grant))


def _judge(settings: Any, grant: Grant) -> Verdict:
    allowed, denied = strings(settings, _KEYS), strings(settings, ("permissions", "deny"))
    if any(rule in denied for rule in (*_items(grant), *_ENOUGH)):
        return "refused"
    return "allowed" if {*_items(grant)} <= {*allowed} or any(rule in allowed for rule in _ENOUGH) else "asked"


PERMISSION = Permission(
    form="json",
    user_file="settings.json",
    project_file=".claude/settings.json",
    keys=_KEYS,
    items=_items,
    judge=_judge,
    overruled="take eventlog out of permissions.deny",
    is_ours=lambda item, _: _OURS.fullmatch(item) is not None,
)
