"""Permissions of a host: what it asks before its agent may save, and the narrowest rule by which it does not; pure.

A rule is told in the words of its host, made from the program an agent calls us by and the store's directory. Each
room that has one keeps it in `permission.py`, with the documentation or the observation it was taken from.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from eventlog.hosts.saving import TOOLS, VERBS
from eventlog.hosts.steps import dig

Verdict = Literal["allowed", "asked", "refused"]
Form = Literal["json", "toml", "own"]


class Grant(NamedTuple):
    """The commands to allow: our saving verbs, of this program, writing into this directory."""

    program: str  # as a shell reads it
    store: str  # absolute


class Permission(NamedTuple):
    """Where the rule stands and what it says.

    `json` and `toml` add `items` to the list at `keys` of a file shared with others; `own` is a file of ours that says
    `items[0]`. `judge` reads the parsed file (None: there is none); `overruled` is the remedy where our rule stands in
    it and something else takes the leave away. `unsafe` tells where rules of ours for commands, which earlier releases
    wrote, allow more than saving.
    """

    form: Form
    user_file: str  # below the host's directory
    items: Callable[[Grant], tuple[str, ...]]
    judge: Callable[[Any, Grant], Verdict]
    is_ours: Callable[[str, Grant], bool]
    overruled: str = ""
    project_file: str = ""  # below the project's; "" where the user's file speaks for all projects
    keys: tuple[str, ...] = ()
    unsafe: str = ""


class NoPermission(NamedTuple):
    """A host without a lasting rule for one command: what happens, and the options it takes instead."""

    verdict: Verdict
    remedy: Callable[[Grant], str]


def prefixes(grant: Grant) -> tuple[str, ...]:
    """How each of our saving commands begins."""
    return tuple(f"{grant.program} {verb}" for verb in VERBS)


def listed(
    shape: str, enough: tuple[str, ...], overrules: Mapping[str, Verdict], project_file: str, unsafe: str = ""
) -> Permission:
    """Make the rule of a host that lists what it allows in `settings.json`, under `permissions.allow`.

    `shape` is a rule with `{}` for how a command begins; each of `enough` allows them all. A rule that also stands in
    one of the lists `overrules`, the stronger first, gets their verdict. The rules for our tools are added to those.
    Where it is `unsafe` to allow a command by how it begins, no rule for one is written, and earlier ones go.
    """
    tools = tuple(f"mcp__eventlog__{tool}" for tool in TOOLS)
    head, tail = map(re.escape, shape.split("{}"))
    ours = re.compile(rf"{head}(?:.* -m |\S*/|'.*/)?eventlog'? (?:{'|'.join(VERBS)}){tail}")

    def commands(grant: Grant) -> tuple[str, ...]:
        return tuple(shape.format(prefix) for prefix in prefixes(grant))

    def judge(settings: Any, grant: Grant) -> Verdict:
        for key, verdict in overrules.items():
            if {*commands(grant), *enough}.intersection(strings(settings, ("permissions", key))):
                return verdict
        allowed = {*strings(settings, _ALLOW)}
        is_ruled = not unsafe and allowed.issuperset(commands(grant))
        return "allowed" if is_ruled or allowed.intersection(enough) else "asked"

    return Permission(
        form="json",
        user_file="settings.json",
        project_file=project_file,
        keys=_ALLOW,
        items=lambda grant: tools if unsafe else (*commands(grant), *tools),
        judge=judge,
        overruled=unsafe or f"take eventlog out of {' and '.join(f'permissions.{key}' for key in overrules)}",
        unsafe=unsafe,
        is_ours=lambda item, _: item in tools or ours.fullmatch(item) is not None,
    )


_ALLOW = ("permissions", "allow")


def strings(found: Any, keys: Sequence[str]) -> list[str]:
    """The strings of the list at these keys; none where there is no such list."""
    there = dig(found, *keys)
    return [item for item in there if isinstance(item, str)] if isinstance(there, list) else []
