"""Register with a host, and unregister: our hooks, permission, MCP server and rules, each a part of a file of its."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Literal, NamedTuple

from eventlog.app.setup.install import hook_entries, host_file
from eventlog.app.setup.install.host_file import FileChange, change, restore
from eventlog.app.setup.install.json_edit import JsonText
from eventlog.app.setup.install.parts import (
    Rules,
    Saving,
    SavingRule,
    ServerEntry,
    grant_of,
    rule_of,
    rule_text,
    shares_rules,
    starts_server,
)
from eventlog.format.errors import BadRequest
from eventlog.hooks import prompts
from eventlog.hooks.command import command, server_command
from eventlog.hosts import agent_name, protocol, room_name
from eventlog.hosts.profile import (
    BOTH_SCOPES,
    HostProfile,
    NoPermission,
    Permission,
    Scope,
    profiles,
)
from eventlog.settings.cached import wants_recall
from eventlog.settings.load import load
from eventlog.store import Store

InstallPart = Literal["hooks", "permission", "server", "rules"]
_PARTS: tuple[InstallPart, ...] = ("permission", "server", "hooks", "rules")  # in the order they are taken out


class InstallTarget(NamedTuple):
    """The target of an installation: the store, the user's home, the project, and the environment."""

    store: Store
    home: Path
    project: Path
    environ: Mapping[str, str]
    dry_run: bool = False  # only tell which files would change
    shared: bool = False  # sessions start as shared: others than the user read them
    live: bool = False  # hooks ask a server first

    def file(self, host: HostProfile, scope: Scope) -> Path:
        """Find the file of the host's hooks."""
        return (
            self.project / host.hooks.project_file
            if scope == "project"
            else self.directory(host) / host.hooks.user_file
        )

    def rule_file(self, host: HostProfile, rule: Permission, scope: Scope) -> Path:
        """Find the file of the host's permissions."""
        if scope == "project" and rule.project_file:
            return self.project / rule.project_file
        return self.directory(host) / rule.user_file

    def server_file(self, host: HostProfile, scope: Scope) -> Path | None:
        """Find the file of the host's MCP servers; None where it has none there."""
        users, projects = protocol(agent_name(host.agent)).server_files(str(self.home), str(self.project), self.environ)
        path = projects if scope == "project" else users
        return Path(path) if path else None

    def rules_file(self, host: HostProfile, scope: Scope) -> Path | None:
        """Find the file the host reads rules from; None where it reads none there."""
        if scope == "project":
            return self.project / host.rules.project_file
        return self.directory(host) / host.rules.user_file if host.rules.user_file else None

    def directory(self, host: HostProfile) -> Path:
        """Find the host's own directory."""
        return host.directory(str(self.home), self.environ)


def profile_of(agent: str) -> HostProfile:
    """Find the profile of an agent by any of its names; raises BadRequest."""
    hosts, room = profiles(), room_name(agent)
    if room not in hosts:
        raise BadRequest(f"there is no agent {agent!r}", hint=f"known are {', '.join(hosts)}")
    return hosts[room]


def wanted_events(store: Store, host: HostProfile) -> tuple[str, ...]:
    """List the events to register our hook for, by the settings of the store."""
    before = host.hooks.before_files if wants_recall(store, "file") else ()
    return (*host.hooks.events, *before, *(host.hooks.after_failures if wants_recall(store, "failure") else ()))


class _Part(NamedTuple):
    """A part of an installation: the host's file it stands in, and the edits of its text that add and remove it."""

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str], str]


def _part_of(target: InstallTarget, host: HostProfile, scope: Scope, part: InstallPart) -> _Part | None:
    """Describe a part of an installation; None where the host has no file for it."""
    match part:
        case "hooks":
            return _Part(target.file(host, scope), lambda text: _with_hooks(text, target, host), hook_entries.strip)
        case "permission" if rule := rule_of(host):
            saving_rule = SavingRule(rule, grant_of(target.store))
            return _Part(target.rule_file(host, rule, scope), saving_rule.add, saving_rule.remove)
        case "server" if host.servers and (path := target.server_file(host, scope)):
            words = server_command(host.agent, target.store, str(target.home), shared=target.shared)
            server = ServerEntry(host.servers, words)
            return _Part(path, server.add, server.remove)
        case "rules" if path := target.rules_file(host, scope):
            rules = Rules(host.rules, lambda: _rules_text(target, host, scope))
            return _Part(path, rules.add, rules.remove)
    return None


def _with_hooks(text: str, target: InstallTarget, host: HostProfile) -> str:
    commands = {
        event: command(host.agent, event, target.store, str(target.home), shared=target.shared, live=target.live)
        for event in wanted_events(target.store, host)
    }
    return hook_entries.merge(text, host.hooks, commands)


def _rules_text(target: InstallTarget, host: HostProfile, scope: Scope) -> str:
    readers = (host, *shares_rules(host, scope))
    has_tools = any(_has_server(target, reader, place) for reader in readers for place in BOTH_SCOPES)
    store, locale = prompts.store_option(target.store), load(target.store).settings.locale
    return rule_text(locale, prompts.program(), store=store, has_tools=has_tools)


def install(target: InstallTarget, host: HostProfile, scope: Scope, part: InstallPart = "hooks") -> FileChange | None:
    """Add a part to the host's file; the second time changes nothing. None where it has no file for that part.

    Raises BadRequest or NotStored.
    """
    added = _part_of(target, host, scope, part)
    if added is None:
        return None
    return change(target.store, added.path, added.add, _strip(target, host, added.path), dry_run=target.dry_run)


def uninstall(target: InstallTarget, host: HostProfile, scope: Scope, part: InstallPart = "hooks") -> FileChange | None:
    """Remove a part from the host's file: exactly, where it is the last of us there; with hooks, all parts.

    Restore the bytes from before us where nobody else has changed the file. Raises as `install`.
    """
    removed = _part_of(target, host, scope, part)
    if removed is None:
        return None
    path, strip = removed.path, _strip(target, host, removed.path)
    remove, text = strip if part == "hooks" else removed.remove, host_file.read_text(path)
    if host_file.edit_of(path, remove, text) != host_file.edit_of(path, strip, text):
        changed = change(target.store, path, remove, strip)
        return FileChange(path, "removed" if changed.done == "installed" else "absent")
    registered = _parse(path) if part == "hooks" else None
    done = restore(target.store, path, strip, lambda left: _is_new(left, {"hooks": {}, **host.hooks.document}))
    if part == "hooks":
        _forget_trust(target, host, path, registered)
    return done


def is_distrusted(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    """Return whether the host may skip our hooks in its file of that scope, until the user trusts them."""
    path = target.file(host, scope)
    value = _parse(path)
    return host.distrust is not None and any(host.distrust(target.directory(host), path, value))


def server_entry(target: InstallTarget, host: HostProfile, scope: Scope) -> object:
    """Find the entry of a server with our name in the host's file; None for none. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    text = host_file.read_text(path)
    try:
        return ServerEntry(servers, []).present(text)
    except BadRequest as error:
        raise BadRequest(error.what, where=str(path), hint=error.hint) from error


def _has_server(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    """Return whether the host starts our MCP server, by its file of that scope. Raises as `install`."""
    return starts_server(server_entry(target, host, scope))


def unsafe_rules(target: InstallTarget, host: HostProfile) -> list[Path]:
    """List the files with an earlier release's rule that allows more than saving. Raises as `install`."""
    rule = rule_of(host)
    if rule is None or not rule.unsafe:
        return []
    paths = {target.rule_file(host, rule, scope): None for scope in BOTH_SCOPES}
    return [path for path in paths if SavingRule(rule, grant_of(target.store)).is_unsafe(host_file.read_text(path))]


def saving(target: InstallTarget, host: HostProfile) -> Saving | None:
    """Return whether the host lets its agent save unasked, by tool where it starts our server; None: not documented."""
    found, grant = host.permission, grant_of(target.store)
    if isinstance(found, NoPermission):
        return Saving(found.verdict, found.remedy(grant))
    if found is None:
        return None
    paths = {target.rule_file(host, found, scope): None for scope in BOTH_SCOPES}
    texts = [host_file.read_text(path) for path in paths]
    by_tool = any(_has_server(target, host, scope) for scope in BOTH_SCOPES)
    rule = SavingRule(found, grant)
    verdict = rule.judge(texts, by_tool=by_tool)
    if verdict == "allowed":
        return Saving(verdict, "")
    is_present = any(text.strip() and rule.add(text) == text for text in texts)
    return Saving(verdict, found.overruled if is_present else f"eventlog install {host.agent} --allow")


def _forget_trust(target: InstallTarget, host: HostProfile, path: Path, registered: object) -> None:
    """Remove our hooks, registered in that file with that value, from the host's trusted hooks, if they can be read."""
    if host.without_trust is None:
        return
    trust_file = target.directory(host) / host.trust_file
    with host_file.lock(target.store), suppress(BadRequest):
        text = host_file.read_text(trust_file)
        left = host.without_trust(text, path, registered)
        if left != text:
            host_file.rewrite(trust_file, left)


def _parse(path: Path) -> object:
    """Parse a file of the host's hooks; None where it is missing or invalid."""
    try:
        return hook_entries.value_of(host_file.read_text(path))
    except BadRequest:
        return None


def _strip(target: InstallTarget, host: HostProfile, path: Path) -> Callable[[str], str]:
    """Make the edit that removes all our parts from a file of the host, whichever it holds."""
    described = (_part_of(target, host, scope, part) for part in _PARTS for scope in BOTH_SCOPES)
    removes = [part.remove for part in described if part and part.path == path]
    return lambda text: reduce(lambda left, remove: remove(left), removes, text)


def _is_new(text: str, new: Mapping[str, object]) -> bool:
    """Return whether a file holds no more than a new file from us, or nothing."""
    if not text.strip() or not text.lstrip().startswith("{"):
        return not text.strip()
    value = JsonText(text).value
    return isinstance(value, dict) and all(name in new and value[name] == new[name] for name in value)
