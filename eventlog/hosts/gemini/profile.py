"""Gemini CLI's files, hooks, permissions; documentation: github.com/google-gemini/gemini-cli, docs/hooks and docs/cli.

It asks before each command (`gemini -p` refuses it) unless a policy allows it: every `.toml` below `policies/` counts,
and it checks each command of a line (geminicli.com/docs/reference/policy-engine).
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from eventlog.format.codec import dig
from eventlog.hosts.profile import (
    MILLISECONDS,
    Grant,
    HookFile,
    HostProfile,
    Permission,
    PluginFormat,
    RuleFile,
    ServerFile,
    Verdict,
)
from eventlog.hosts.save_commands import TOOLS

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
    return (_HEAD + _RULE.format(prefixes=_quoted(grant.prefixes), tools=_quoted(TOOLS)),)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(json.dumps(word, ensure_ascii=False) for word in words)


def _judge(policy: Any, grant: Grant) -> Verdict:
    return "allowed" if any({*grant.saving} <= names for _, names in _allowing(policy, "commandPrefix")) else "asked"


def _judge_tools(policy: Any, _: Grant) -> Verdict:
    found = _allowing(policy, "toolName")
    return "allowed" if any(server == "eventlog" and TOOLS[0] in names for server, names in found) else "asked"


def _allowing(policy: Any, key: str) -> Iterator[tuple[object, set[str]]]:
    """Yield the server and the names of each rule that allows what `key` lists."""
    rules = dig(policy, "rule")
    for rule in rules if isinstance(rules, list) else ():
        names = dig(rule, key)
        if dig(rule, "decision") == "allow" and isinstance(names, list):
            yield dig(rule, "mcpName"), {*map(str, names)}


_PERMISSION = Permission(
    form="own",
    user_file="policies/eventlog.toml",
    items=_items,
    judge=_judge,
    judge_tools=_judge_tools,
    is_own=lambda text, _: text.startswith(_HEAD),
)

PROFILE = HostProfile(
    agent="gemini",
    name="Gemini CLI",
    home=".gemini",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".gemini/settings.json",
        refuses=("trailing_comma", "byte_order_mark"),
        events=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"),
        own={
            "AfterTool": {"matcher": "write_file|replace|run_shell_command|write_todos"},
            "PreCompress": {"matcher": "manual"},
        },
        handler={"name": "eventlog", "type": "command", "command": "", "timeout": MILLISECONDS},
    ),
    rules=RuleFile(project_file="GEMINI.md", user_file="GEMINI.md"),
    permission=_PERMISSION,
    servers=ServerFile(),
    plugin=PluginFormat(  # docs: extensions/reference; events of other hosts in its hooks are shown as errors
        folder="gemini",
        install="gemini extensions install {directory}/gemini",
        manifest="gemini-extension.json",
        root="${extensionPath}",
        servers="",
    ),
    settings_files=("/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json"),
    switches={"hooksConfig.enabled": False, "hooksConfig.disabled": "eventlog"},
    runs=("gemini",),
    marks=("GEMINI_CLI",),
)
