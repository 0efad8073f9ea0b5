"""Gemini CLI asks before each command (`gemini -p` refuses it) unless a policy allows it.

Every `.toml` below `policies/` counts; of a line of several commands each is looked at by itself.
Documentation: geminicli.com/docs/reference/policy-engine.
"""

import json
from collections.abc import Iterable
from typing import Any

from eventlog.hosts.permission import Grant, Permission, Verdict, prefixes
from eventlog.hosts.saving import TOOLS
from eventlog.hosts.steps import dig

_HEAD = "# Written by `eventlog install gemini --allow`; `eventlog uninstall gemini` removes it.\n"
_RULE = """\
[[rule]]
toolName = "run_shell_command"
commandPrefix = [{prefixes}]
decision = "allow"
priority = 100

[[rule]]
mcpName = "eventlog"
toolName = [{tools}]
decision = "allow"
priority = 100
"""


def _items(grant: Grant) -> tuple[str, ...]:
    return (_HEAD + _RULE.format(prefixes=_quoted(prefixes(grant)), tools=_quoted(TOOLS)),)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(json.dumps(word, ensure_ascii=False) for word in words)


def _judge(policy: Any, grant: Grant) -> Verdict:
    rules = dig(policy, "rule")
    for rule in rules if isinstance(rules, list) else ():
        named = dig(rule, "commandPrefix") if dig(rule, "decision") == "allow" else None
        if isinstance(named, list) and {*prefixes(grant)} <= {*map(str, named)}:
            return "allowed"
    return "asked"


PERMISSION = Permission(
    form="own",
    user_file="policies/eventlog.toml",
    items=_items,
    judge=_judge,
    is_ours=lambda text, _: text.startswith(_HEAD),
)
