"""Qwen Code asks before each command unless a rule allows it.

`qwen -p` has no shell at all unless a rule names it as `run_shell_command`: a rule for `Bash` is none to it.
Documentation: qwenlm.github.io/qwen-code-docs, configuration/settings (`permissions`).
"""

import re
from typing import Any

from eventlog.hosts.permission import Grant, Permission, Verdict, prefixes, strings

_KEYS = ("permissions", "allow")
_ENOUGH = ("run_shell_command", "run_shell_command(*)")
_OURS = re.compile(r"run_shell_command\((?:.* -m |\S*/|'.*/)?eventlog'? (?:summary|fact) \*\)")


def _items(grant: Grant) -> tuple[str, ...]:
    return tuple(f"run_shell_command({prefix} *)" for prefix in prefixes(grant))


def _judge(settings: Any, grant: Grant) -> Verdict:
    allowed = strings(settings, _KEYS)
    denied, asked = (strings(settings, ("permissions", key)) for key in ("deny", "ask"))
    rules = (*_items(grant), *_ENOUGH)
    if any(rule in denied for rule in rules):
        return "refused"
    if any(rule in asked for rule in rules):
        return "asked"
    return "allowed" if {*_items(grant)} <= {*allowed} or any(rule in allowed for rule in _ENOUGH) else "asked"


PERMISSION = Permission(
    form="json",
    user_file="settings.json",
    project_file=".qwen/settings.json",
    keys=_KEYS,
    items=_items,
    judge=_judge,
    overruled="take eventlog out of permissions.deny and permissions.ask",
    is_ours=lambda item, _: _OURS.fullmatch(item) is not None,
)
