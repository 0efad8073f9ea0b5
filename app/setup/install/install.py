"""Registering our hook with a host, and taking it back."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from eventlog.app.setup.install import backup, hook_entries, host_file, mcp_servers, permissions
from eventlog.app.setup.install.json_spans import parse
from eventlog.format.errors import BadRequest
from eventlog.hooks.command import command, server_command
from eventlog.hosts import room_name
from eventlog.hosts.profile import (
    BOTH_SCOPES,
    Grant,
    HostProfile,
    NoPermission,
    Permission,
    Scope,
    profiles,
)
from eventlog.settings.cached import wants_files
from eventlog.store import Store
from eventlog.store.locks import locked


class InstallTarget(NamedTuple):
    """Where to install: whose home, which project, and what the environment moves."""

    store: Store
    home: Path
    project: Path
    environ: Mapping[str, str]

    def file(self, host: HostProfile, scope: Scope) -> Path:
        """Find the file the host keeps its hooks in."""
        return (
            self.project / host.hooks.project_file
            if scope == "project"
            else self.directory(host) / host.hooks.user_file
        )

    def rule_file(self, host: HostProfile, rule: Permission, scope: Scope) -> Path:
        """Find the file the host keeps what it allows in."""
        if scope == "project" and rule.project_file:
            return self.project / rule.project_file
        return self.directory(host) / rule.user_file

    def server_file(self, host: HostProfile, scope: Scope) -> Path | None:
        """Find the file the host keeps its MCP servers in; None where it has none there."""
        servers = host.servers
        if servers is None or (scope == "project" and not servers.project_file):
            return None
        if scope == "project":
            return self.project / servers.project_file
        is_moved = bool(host.home_variable and self.environ.get(host.home_variable))
        beside = self.home if servers.is_in_home and not is_moved else self.directory(host)
        return beside / servers.user_file

    def directory(self, host: HostProfile) -> Path:
        """Find the host's own directory."""
        return host.directory(str(self.home), self.environ)


class FileChange(NamedTuple):
    """One file of a host, and what was done to it."""

    path: Path
    done: Literal["installed", "unchanged", "removed", "absent"]


def profile_of(agent: str) -> HostProfile:
    """Find the profile of an agent by any of its names; raises BadRequest."""
    known, room = profiles(), room_name(agent)
    if room not in known:
        raise BadRequest(f"there is no agent {agent!r}", hint=f"known are {', '.join(known)}")
    return known[room]


def wanted_events(store: Store, host: HostProfile) -> tuple[str, ...]:
    """List the events our hook is to be called for, as the settings of the store are."""
    return (*host.hooks.events, *(host.hooks.before_files if wants_files(store) else ()))


def install(target: InstallTarget, host: HostProfile, scope: Scope, *, shared: bool = False) -> FileChange:
    """Add what is missing of our entries; the second time changes nothing. Raises BadRequest or NotStored.

    With `shared`, sessions begin as ones that others than the user listen to.
    """
    path, home = target.file(host, scope), str(target.home)
    events = wanted_events(target.store, host)
    commands = {event: command(host.agent, event, target.store, home, shared=shared) for event in events}
    return change(
        target.store, path, lambda text: hook_entries.merge(text, host.hooks, commands), _strip(target, host, path)
    )


def uninstall(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange:
    """Take out exactly our entries; the bytes before, where nobody else has changed the file. Raises as `install`.

    A permission that stands in the same file goes with them.
    """
    new, path = {"hooks": {}, **host.hooks.document}, target.file(host, scope)
    registered = _value(path)
    done = restore(target.store, path, _strip(target, host, path), lambda text: not text or _says_nothing(text, new))
    _forget_trust(target, host, path, registered)
    return done


def is_distrusted(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    """Tell whether the host may skip our hooks in its file of that scope, until told to trust them."""
    path = target.file(host, scope)
    value = _value(path)
    return host.distrust is not None and any(host.distrust(target.directory(host), path, value))


def allow(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange | None:
    """Let the agent save unasked; None where the host has no rule for that. Raises as `install`."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    if rule is None:
        return None
    path = target.rule_file(host, rule, scope)
    return change(target.store, path, lambda text: permissions.add(text, rule, grant), _strip(target, host, path))


def register_server(
    target: InstallTarget, host: HostProfile, scope: Scope, *, shared: bool = False
) -> FileChange | None:
    """Let the host start our MCP server; None where it has no file for that. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    wanted = mcp_servers.entry_of(servers, server_command(host.agent, target.store, str(target.home), shared=shared))
    return change(target.store, path, lambda text: mcp_servers.add(text, servers, wanted), _strip(target, host, path))


def unregister_server(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange | None:
    """Take our MCP server out; None where the host has no file for that. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    return _take_out(target, host, path, lambda text: mcp_servers.remove(text, servers))


def server_entry(target: InstallTarget, host: HostProfile, scope: Scope) -> object:
    """Find what the host's file tells of a server with our name; None for nothing. Raises as `install`."""
    path, servers = target.server_file(host, scope), host.servers
    if path is None or servers is None:
        return None
    text = host_file.text_of(host_file.read(path), path)
    try:
        return mcp_servers.entry_in(text, servers)
    except BadRequest as error:
        raise BadRequest(error.what, where=str(path), hint=error.hint) from error


def has_server(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    """Tell whether the host starts our MCP server, by its file of that scope. Raises as `install`."""
    return mcp_servers.is_ours(server_entry(target, host, scope))


def disallow(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange | None:
    """Take that rule out; None where the host has none. Raises as `install`."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    if rule is None:
        return None
    path = target.rule_file(host, rule, scope)
    return _take_out(target, host, path, lambda text: permissions.remove(text, rule, grant))


def unsafe_rules(target: InstallTarget, host: HostProfile) -> list[Path]:
    """List the files with a rule of ours, of an earlier release, that allows more than saving. Raises as `install`."""
    rule, grant = permissions.rule_of(host), permissions.grant_of(target.store)
    if rule is None or not rule.unsafe:
        return []
    paths = {target.rule_file(host, rule, scope): None for scope in BOTH_SCOPES}
    return [
        path for path in paths if permissions.has_unsafe(host_file.text_of(host_file.read(path), path), rule, grant)
    ]


def saving(target: InstallTarget, host: HostProfile) -> permissions.Saving | None:
    """Tell whether the agent may save by the host's default permissions; None where that is not known."""
    found, grant = permissions.known(host), permissions.grant_of(target.store)
    if isinstance(found, NoPermission):
        return permissions.Saving(found.verdict, found.remedy(grant))
    if found is None:
        return None
    paths = {target.rule_file(host, found, scope): None for scope in BOTH_SCOPES}
    texts = [host_file.text_of(host_file.read(path), path) for path in paths]
    verdict = permissions.judge(texts, found, grant)
    return permissions.Saving(verdict, _remedy(host, found, grant, texts) if verdict != "allowed" else "")


def change(store: Store, path: Path, edit: Callable[[str], str], strip: Callable[[str], str]) -> FileChange:
    """Write the edited text where it differs; what was there without us is kept for `restore`."""
    with _alone(store):
        now = host_file.read(path)
        text = host_file.text_of(now, path)
        after = _in_place(path, edit, text).encode()
        if (now or b"") == after:  # a file that another process has removed meanwhile is not made for nothing
            return FileChange(path, "unchanged")
        before = None if now is None else strip(text).encode()
        made = host_file.write(path, after)
        backup.keep(store, path, now, before, after, made)
        return FileChange(path, "installed")


def restore(store: Store, path: Path, strip: Callable[[str], str], is_nothing: Callable[[str], bool]) -> FileChange:
    """Undo `change`: exactly, else by taking out what is ours."""
    with _alone(store):
        now, known = host_file.read(path), backup.find(store, path)
        if now is None:
            backup.forget(store, path)
            return FileChange(path, "absent")
        left: bytes | None = _in_place(path, strip, host_file.text_of(now, path)).encode()
        if left == now:
            return FileChange(path, "absent")
        if known and known.after == backup.fingerprint(now):
            left = known.data
        elif (not known or known.data is None) and left is not None and is_nothing(left.decode()):
            left = None
        if left is None:
            host_file.remove(path, known.made_dirs if known else ())
        else:
            host_file.write(path, left)
        backup.forget(store, path)
        return FileChange(path, "removed")


def _take_out(target: InstallTarget, host: HostProfile, path: Path, remove: Callable[[str], str]) -> FileChange:
    """Undo one of our changes of a file: exactly, where it is the last one there."""
    strip = _strip(target, host, path)
    text = host_file.text_of(host_file.read(path), path)
    if _in_place(path, remove, text) == _in_place(path, strip, text):
        return restore(target.store, path, strip, lambda left: not left.strip() or _is_empty_object(left))
    changed = change(target.store, path, remove, strip)
    return FileChange(path, "removed" if changed.done == "installed" else "absent")


def _is_empty_object(text: str) -> bool:
    return text.lstrip().startswith("{") and parse(text).value == {}


def _forget_trust(target: InstallTarget, host: HostProfile, path: Path, registered: object) -> None:
    """Take out what the host noted of our hooks in a file, which held this value; what is unreadable stays."""
    if host.without_trust is None:
        return
    noted = target.directory(host) / host.trust_file
    with _alone(target.store), suppress(BadRequest):
        text = host_file.text_of(host_file.read(noted), noted)
        left = host.without_trust(text, path, registered)
        if left != text:
            host_file.write(noted, left.encode())


def _value(path: Path) -> object:
    """Parse a file of the host's hooks; None where there is none, or nothing in it that can be understood."""
    try:
        return hook_entries.value_of(host_file.text_of(host_file.read(path), path))
    except BadRequest:
        return None


def _strip(target: InstallTarget, host: HostProfile, path: Path) -> Callable[[str], str]:
    """Make what takes all that is ours out of one of the host's files, whichever of our things stand in it."""
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
    is_there = any(text.strip() and permissions.add(text, rule, grant) == text for text in texts)
    return rule.overruled if is_there else f"eventlog install {host.agent} --allow"


def _alone(store: Store) -> AbstractContextManager[object]:
    """One at a time: a file, its backup and the directories made for it change together."""
    return locked(store, store.lock("install"))


def _in_place(path: Path, edit: Callable[[str], str], text: str) -> str:
    """The edited text; what is wrong with the file is told with its name, and that it was left alone."""
    try:
        return edit(text)
    except BadRequest as error:
        hint = error.hint or "correct the file by hand, then do it again; nothing was changed"
        raise BadRequest(error.what, where=os.fspath(path), hint=hint) from error


def _says_nothing(text: str, new: Mapping[str, object]) -> bool:
    """Tell whether a file holds no more than we would have created it with."""
    value = parse(text).value
    return isinstance(value, dict) and all(name in new and value[name] == new[name] for name in value)
