"""Permission to save: add a host's narrowest rule for our saving commands to its file, and remove it; pure.

Each host's room has the rule and the place for it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.setup.install import json_edit, toml_edit
from eventlog.app.setup.install.json_edit import has_content, parse
from eventlog.format.errors import BadRequest
from eventlog.hooks import prompts
from eventlog.hosts.profile import Grant, HostProfile, Permission, Verdict
from eventlog.store import Store


class Saving(NamedTuple):
    """A host's verdict on its agent's saving unasked, and the fix, "" for none."""

    verdict: Verdict
    fix: str


def rule_of(host: HostProfile) -> Permission | None:
    """Find the host's rule; None where it has none for single commands, or none is documented."""
    return host.permission if isinstance(host.permission, Permission) else None


def grant_of(store: Store) -> Grant:
    """Make the grant for the program, as agents call it, and the store."""
    return Grant(prompts.program(), str(Path(store.root).absolute()))


def add(text: str, rule: Permission, grant: Grant) -> str:
    """Add the rule to the text of its file, replacing our earlier rule; raises BadRequest."""
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
    """Remove the rule from the text of its file; raises BadRequest."""
    match rule.form:
        case "json":
            return json_edit.without_items(text, rule.keys, lambda item: rule.is_ours(item, grant))
        case "toml":
            return toml_edit.without_item(text, *rule.keys, *rule.items(grant))
        case "own":
            return "" if rule.is_ours(text, grant) else text


def has_unsafe(text: str, rule: Permission, grant: Grant) -> bool:
    """Return whether the text has a rule from us that allows more than saving; raises BadRequest."""
    if not rule.unsafe:
        return False
    return json_edit.without_items(text, rule.keys, lambda item: _is_outdated(item, rule, grant)) != text


def _is_outdated(item: str, rule: Permission, grant: Grant) -> bool:
    return rule.is_ours(item, grant) and item not in rule.items(grant)


def judge(texts: Iterable[str], rule: Permission, grant: Grant, *, by_tool: bool) -> Verdict:
    """Decide by the texts of all files of the host's rules; a refusal overrules a permission."""
    judged = rule.judge_tools if by_tool else rule.judge
    verdicts = [judged(_parsed(text, rule), grant) for text in texts]
    return next((verdict for verdict in ("refused", "allowed") if verdict in verdicts), "asked")


def _parsed(text: str, rule: Permission) -> Any:
    if not has_content(text):
        return None
    try:
        return parse(text).value if rule.user_file.endswith(".json") else toml_edit.parsed(text)
    except BadRequest:
        return None
