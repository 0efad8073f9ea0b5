"""Register our hook, permission and MCP server with a host, and unregister them."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from eventlog.app.setup.install import hook_entries, host_file, mcp_servers, permissions
from eventlog.app.setup.install.host_file import FileChange, change, restore
from eventlog.app.setup.install.json_edit import parse
from eventlog.format.errors import BadRequest
from eventlog.hooks.command import command, server_command
from eventlog.hosts import agent_name, room_name, server_files
from eventlog.hosts.profile import (
    BOTH_SCOPES,
    Grant,
    HostProfile,
    NoPermission,
    Permission,
    Scope,
    profiles,
)
from eventlog.settings.cached import wants_failures, wants_files
from eventlog.store import Store


class InstallTarget(NamedTuple):
    """The target of an installation: the store, the user's home, the project, and the environment."""

    store: Store
    home: Path
    project: Path
    environ: Mapping[str, str]
    dry_run: bool = False  # only tell which files would change

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
        users, projects = server_files(agent_name(host.agent), str(self.home), str(self.project), self.environ)
        path = projects if scope == "project" else users
        return Path(path) if path else None

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
    before = host.hooks.before_files if wants_files(store) else ()
    return (*host.hooks.events, *before, *(host.hooks.after_failures if wants_failures(store) else ()))


def install(
    target: InstallTarget, host: HostProfile, scope: Scope, *, shared: bool = False, live: bool = False
) -> FileChange:
    """Add our missing hook entries; the second time changes nothing. Raises BadRequest or NotStored.

    With `shared`, sessions start as shared: others than the user read them. With `live`, hooks ask a server first.
    """
    path, home = target.file(host, scope), str(target.home)
    events = wanted_events(target.store, host)
    commands = {event: command(host.agent, event, target.store, home, shared=shared, live=live) for event in events}
    strip = _strip(target, host, path)
    return change(
        target.store, path, lambda text: hook_entries.merge(text, host.hooks, commands), strip, dry_run=target.dry_run
    )


def uninstall(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange:
    """Remove our entries, and a permission in the same file; raises as `install`.

    Restore the bytes from before us where nobody else has changed the file.
    """
    new, path = {"hooks": {}, **host.hooks.document}, target.file(host, scope)
    registered = _parse(path)
    done = restore(target.store, path, _strip(target, host, path), lambda text: not text or _is_new(text, new))
    _forget_trust(target, host, path, registered)
    return done


def is_distrusted(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    """Return whether the host may skip our hooks in its file of that scope, until the user trusts them."""
    path = target.file(host, scope)
    value = _parse(path)
    return host.distrust is not None and any(host.distrust(target.directory(host), path, value))


def allow(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange | None:
    """Add the rule that lets the agent save unasked; None where the host has none. Raises as `install`."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    if rule is None:
        return None
    path = target.rule_file(host, rule, scope)
    strip = _strip(target, host, path)
    return change(target.store, path, lambda text: permissions.add(text, rule, grant), strip, dry_run=target.dry_run)


def register_server(
    target: InstallTarget, host: HostProfile, scope: Scope, *, shared: bool = False
) -> FileChange | None:
    """Add our MCP server to the host's; None where it has no file for that. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    wanted = mcp_servers.entry_of(servers, server_command(host.agent, target.store, str(target.home), shared=shared))
    strip = _strip(target, host, path)
    return change(
        target.store, path, lambda text: mcp_servers.add(text, servers, wanted), strip, dry_run=target.dry_run
    )


def unregister_server(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange | None:
    """Remove our MCP server; None where the host has no file for that. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    return _take_out(target, host, path, lambda text: mcp_servers.remove(text, servers))


def server_entry(target: InstallTarget, host: HostProfile, scope: Scope) -> object:
    """Find the entry of a server with our name in the host's file; None for none. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    text = host_file.read_text(path)
    try:
        return mcp_servers.entry_in(text, servers)
    except BadRequest as error:
        raise BadRequest(error.what, where=str(path), hint=error.hint) from error


def has_server(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    """Return whether the host starts our MCP server, by its file of that scope. Raises as `install`."""
    return mcp_servers.is_ours(server_entry(target, host, scope))


def disallow(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange | None:
    """Remove the rule that lets the agent save unasked; None where the host has none. Raises as `install`."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    if rule is None:
        return None
    path = target.rule_file(host, rule, scope)
    return _take_out(target, host, path, lambda text: permissions.remove(text, rule, grant))


def unsafe_rules(target: InstallTarget, host: HostProfile) -> list[Path]:
    """List the files with an earlier release's rule that allows more than saving. Raises as `install`."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    if rule is None or not rule.unsafe:
        return []
    paths = {target.rule_file(host, rule, scope): None for scope in BOTH_SCOPES}
    return [path for path in paths if permissions.has_unsafe(host_file.read_text(path), rule, grant)]


def saving(target: InstallTarget, host: HostProfile) -> permissions.Saving | None:
    """Return whether the host lets its agent save unasked, by tool where it starts our server; None: not documented."""
    found, grant = host.permission, permissions.grant_of(target.store)
    if isinstance(found, NoPermission):
        return permissions.Saving(found.verdict, found.remedy(grant))
    if found is None:
        return None
    paths = {target.rule_file(host, found, scope): None for scope in BOTH_SCOPES}
    texts = [host_file.read_text(path) for path in paths]
    by_tool = any(has_server(target, host, scope) for scope in BOTH_SCOPES)
    verdict = permissions.judge(texts, found, grant, by_tool=by_tool)
    return permissions.Saving(verdict, _remedy(host, found, grant, texts) if verdict != "allowed" else "")


def _take_out(target: InstallTarget, host: HostProfile, path: Path, remove: Callable[[str], str]) -> FileChange:
    """Undo a change that we made in a file: exactly, where it is the last change."""
    strip = _strip(target, host, path)
    text = host_file.read_text(path)
    if host_file.edit_of(path, remove, text) == host_file.edit_of(path, strip, text):
        return restore(target.store, path, strip, lambda left: not left.strip() or _is_empty_object(left))
    changed = change(target.store, path, remove, strip)
    return FileChange(path, "removed" if changed.done == "installed" else "absent")


def _is_empty_object(text: str) -> bool:
    return text.lstrip().startswith("{") and parse(text).value == {}


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
    """Make the edit that removes all of our entries from a file of the host, whichever it holds."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    has_hooks = path in [target.file(host, scope) for scope in BOTH_SCOPES]
    has_rule = rule is not None and path in [target.rule_file(host, rule, scope) for scope in BOTH_SCOPES]

    servers = host.servers if path in [target.server_file(host, scope) for scope in BOTH_SCOPES] else None

    def strip(text: str) -> str:
        left = permissions.remove(text, rule, grant) if rule and has_rule else text
        left = mcp_servers.remove(left, servers) if servers else left
        return hook_entries.strip(left) if has_hooks else left

    return strip


def _remedy(host: HostProfile, rule: Permission, grant: Grant, texts: list[str]) -> str:
    is_present = any(text.strip() and permissions.add(text, rule, grant) == text for text in texts)
    return rule.overruled if is_present else f"eventlog install {host.agent} --allow"


def _is_new(text: str, new: Mapping[str, object]) -> bool:
    """Return whether a file holds no more than a new file from us."""
    value = parse(text).value
    return isinstance(value, dict) and all(name in new and value[name] == new[name] for name in value)
