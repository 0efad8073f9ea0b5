"""The agent's leave to save: the host's narrowest rule for our saving commands, in its file and out again; pure.

Where the rule stands and what it says lies in each host's room.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.setup.install import json_edit, toml_edit
from eventlog.app.setup.install.json_spans import parse, says_something
from eventlog.format.errors import BadRequest
from eventlog.hooks import prompts
from eventlog.hosts.profile import Grant, HostProfile, NoPermission, Permission, Verdict
from eventlog.store import Store


class Saving(NamedTuple):
    """A host's verdict on its agent's saving by default permissions, and the fix ("": nothing need be done)."""

    verdict: Verdict
    fix: str


def known(host: HostProfile) -> Permission | NoPermission | None:
    """Find what is known of the host's permissions; None where nothing is."""
    return host.permission


def rule_of(host: HostProfile) -> Permission | None:
    """Find the host's rule; None where it keeps none for single commands, or none is known."""
    found = known(host)
    return found if isinstance(found, Permission) else None


def grant_of(store: Store) -> Grant:
    """Tell what is to be allowed: the program as agents are told to call it, and the store."""
    return Grant(prompts.program(), str(Path(store.root).absolute()))


def add(text: str, rule: Permission, grant: Grant) -> str:
    """Add the rule to the text of its file, in the place of an earlier one of ours; raises BadRequest."""
    items = rule.items(grant)
    match rule.form:
        case "json":
            current = json_edit.without_items(text, rule.keys, lambda item: _is_outdated(item, rule, grant))
            return json_edit.with_items(current, rule.keys, items)
        case "toml":
            return toml_edit.with_item(text, *rule.keys, *items)
        case "own":
            return items[0]


def remove(text: str, rule: Permission, grant: Grant) -> str:
    """Take the rule out of the text of its file; raises BadRequest."""
    match rule.form:
        case "json":
            return json_edit.without_items(text, rule.keys, lambda item: rule.is_ours(item, grant))
        case "toml":
            return toml_edit.without_item(text, *rule.keys, *rule.items(grant))
        case "own":
            return "" if rule.is_ours(text, grant) else text


def has_unsafe(text: str, rule: Permission, grant: Grant) -> bool:
    """Tell whether a rule of ours stands there that allows more than saving; raises BadRequest."""
    if not rule.unsafe:
        return False
    return json_edit.without_items(text, rule.keys, lambda item: _is_outdated(item, rule, grant)) != text


def _is_outdated(item: str, rule: Permission, grant: Grant) -> bool:
    return rule.is_ours(item, grant) and item not in rule.items(grant)


def judge(texts: Iterable[str], rule: Permission, grant: Grant) -> Verdict:
    """Tell what the host does, by the texts of all files its rules stand in; a refusal wins over a leave."""
    verdicts = [rule.judge(_parsed(text, rule), grant) for text in texts]
    return next((verdict for verdict in ("refused", "allowed") if verdict in verdicts), "asked")


def _parsed(text: str, rule: Permission) -> Any:
    if not says_something(text):
        return None
    try:
        return parse(text).value if rule.user_file.endswith(".json") else toml_edit.parsed(text)
    except BadRequest:
        return None
