"""Register with a host, and unregister: our hooks, permission, MCP server and rules, each a part of a file of its."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial, reduce
from pathlib import Path
from typing import Literal, NamedTuple

from eventlog.app.setup.install import hook_entries, host_file
from eventlog.app.setup.install.host_file import FileChange, change, edit_of, read_text, restore
from eventlog.app.setup.install.json_edit import JsonText
from eventlog.app.setup.install.parts import Rules, Saving, SavingRule, ServerEntry, rule_text, starts_server
from eventlog.fast import os
from eventlog.format.errors import BadRequest, BadSettings
from eventlog.hooks import prompts
from eventlog.hooks.command import command, server_command
from eventlog.hosts import agent_name, protocol, room_name
from eventlog.hosts.profile import BOTH_SCOPES, Grant, HostProfile, NoPermission, Permission, Scope, profiles
from eventlog.settings.cached import wants_recall
from eventlog.settings.load import load, parse
from eventlog.store import Store
from eventlog.store.files import read, replace_file
from eventlog.store.locks import locked
from eventlog.store.shared_files import NotConfined, real_path

_LONGEST_NAME = 100  # bytes
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

    def write_timezone(self) -> str:
        """Write the system's time zone into a `config.yaml` that does not exist, and return it; "" where it is UTC.

        Raises NotStored.
        """
        name = _system_timezone(self.environ)
        if name.endswith("UTC") or os.path.lexists(self.store.config):
            return ""
        data = f"timezone: {name}\n".encode()
        try:
            parse(data, self.store.config)
        except BadSettings:  # what the system has is no name of a time zone
            return ""
        if not self.dry_run:
            replace_file(self.store.config, data)
        return name


def _system_timezone(environ: Mapping[str, str]) -> str:
    """Return the name of the system's time zone, as the environment, a link or a file has it; UTC where none does."""
    where = environ.get("TZ", "").lstrip(":") or os.path.realpath("/etc/localtime")
    name = where.partition("zoneinfo/")[2] or ("" if where.startswith("/") else where)
    return name or (read("/etc/timezone", _LONGEST_NAME) or b"").decode(errors="replace").strip() or "UTC"


class _Part(NamedTuple):
    """A part of an installation: the host's file it stands in, and the edits of its text that add and remove it."""

    path: Path
    add: Callable[[str], str]
    remove: Callable[[str], str]


class Installation(NamedTuple):
    """An installation into a host; what reads its files raises BadRequest."""

    target: InstallTarget
    host: HostProfile

    @classmethod
    def of(cls, target: InstallTarget, agent: str) -> "Installation":
        """Find the host of an agent by any of its names; raises BadRequest."""
        hosts, room = profiles(), room_name(agent)
        if room not in hosts:
            raise BadRequest(f"no agent {agent!r}", hint=f"known: {', '.join(hosts)}")
        return cls(target, hosts[room])

    def install(self, scope: Scope, part: InstallPart = "hooks") -> FileChange | None:
        """Add a part to the host's file, once; None where it has no file for that.

        Raises NotStored, or BadRequest, also where a link of a project leads out of it.
        """
        added = self._part(scope, part)
        if added is None:
            return None
        target = self.target
        if scope == "project" and added.path.is_relative_to(target.project):  # a link that came with a clone
            try:
                real_path(added.path, target.project)
            except NotConfined as error:
                hint = "put a file of the project in its place, or: eventlog install --user"
                raise BadRequest(f"a symbolic link {error}", where=str(added.path), hint=hint) from error
        return change(target.store, added.path, added.add, self._strip(added.path), dry_run=target.dry_run)

    def uninstall(self, scope: Scope, part: InstallPart = "hooks") -> FileChange | None:
        """Remove a part from the host's file: exactly, where it is the last of us there; with hooks, all parts.

        Restore the bytes from before us where nobody else has changed the file. Raises as `install`.
        """
        removed = self._part(scope, part)
        if removed is None:
            return None
        path, strip, store = removed.path, self._strip(removed.path), self.target.store
        remove, text = strip if part == "hooks" else removed.remove, read_text(path)
        if edit_of(path, remove, text) != edit_of(path, strip, text):
            changed = change(store, path, remove, strip)
            return FileChange(path, "removed" if changed.done == "installed" else "absent")
        registered = _parse(path) if part == "hooks" else None
        done = restore(
            store, path, strip, lambda remaining: _is_new(remaining, {"hooks": {}, **self.host.hooks.document})
        )
        if part == "hooks":
            self._forget_trust(path, registered)
        return done

    def file(self, scope: Scope) -> Path:
        """Find the file of the host's hooks."""
        hooks = self.host.hooks
        return self.target.project / hooks.project_file if scope == "project" else self.directory / hooks.user_file

    def server_file(self, scope: Scope) -> Path | None:
        """Find the file of the host's MCP servers; None where it has none there."""
        target, files_of = self.target, protocol(agent_name(self.host.agent)).server_files
        users, projects = files_of(str(target.home), str(target.project), target.environ)
        path = projects if scope == "project" else users
        return Path(path) if path else None

    @property
    def directory(self) -> Path:
        """The host's own directory."""
        return self.host.directory(str(self.target.home), self.target.environ)

    @property
    def rule(self) -> Permission | None:
        """The host's rule; None where it has none for single commands, or none is documented."""
        return self.host.permission if isinstance(self.host.permission, Permission) else None

    @property
    def wanted_events(self) -> tuple[str, ...]:
        """The events to register our hook for, by the settings of the store."""
        hooks, store = self.host.hooks, self.target.store
        before = hooks.before_files if wants_recall(store, "file") else ()
        return (*hooks.events, *before, *(hooks.after_failures if wants_recall(store, "failure") else ()))

    def sharers(self, scope: Scope) -> "list[Installation]":
        """List the other hosts that read the same rule file."""
        others = [other for other in profiles().values() if other.agent != self.host.agent]
        same = [other for other in others if other.rules.project_file == self.host.rules.project_file]
        return [Installation(self.target, other) for other in same] if scope == "project" else []

    def is_distrusted(self, scope: Scope) -> bool:
        """Return whether the host may skip our hooks in its file of that scope, until the user trusts them."""
        path = self.file(scope)
        value = _parse(path)
        return self.host.distrust is not None and any(self.host.distrust(self.directory, path, value))

    def server_entry(self, scope: Scope) -> object:
        """Find the entry of a server with our name in the host's file; None for none."""
        path, servers = self.server_file(scope), self.host.servers
        if path is None or servers is None:
            return None
        text = read_text(path)
        try:
            return ServerEntry(servers, []).present(text)
        except BadRequest as error:
            raise BadRequest(error.what, where=str(path), hint=error.hint) from error

    def unsafe_rules(self) -> list[Path]:
        """List the files with an earlier release's rule that allows more than saving."""
        if self.rule is None or not self.rule.unsafe:
            return []
        rule, paths = SavingRule(self.rule, self._grant), dict.fromkeys(map(self.rule_file, BOTH_SCOPES))
        return [path for path in paths if edit_of(path, rule.without_outdated, text := read_text(path)) != text]

    def saving(self) -> Saving | None:
        """Return whether the host lets its agent save unasked, by tool with our server; None if undocumented."""
        found = self.host.permission
        if isinstance(found, NoPermission):
            return Saving(found.verdict, found.remedy(self._grant))
        if found is None:
            return None
        texts = list(map(read_text, dict.fromkeys(map(self.rule_file, BOTH_SCOPES))))
        rule = SavingRule(found, self._grant)
        verdict = rule.judge(texts, by_tool=self.has_server())
        if verdict == "allowed":
            return Saving(verdict, "")
        is_present = any(text.strip() and rule.add(text) == text for text in texts)
        return Saving(verdict, found.overruled if is_present else f"eventlog install {self.host.agent} --allow")

    # ------------------------------------------------------------------------------------------ its parts

    def _part(self, scope: Scope, part: InstallPart) -> _Part | None:
        """Describe a part of an installation; None where the host has no file for it."""
        target, host = self
        match part:
            case "hooks":
                strip = partial(hook_entries.strip, is_script=host.hooks.script is not None)
                return _Part(self.file(scope), self._with_hooks, strip)
            case "permission" if self.rule:
                rule = SavingRule(self.rule, self._grant)
                return _Part(self.rule_file(scope), rule.add, rule.remove)
            case "server" if host.servers and (path := self.server_file(scope)):
                words = server_command(host.agent, target.store, str(target.home), shared=target.shared)
                server = ServerEntry(host.servers, words)
                return _Part(path, server.add, server.remove)
            case "rules" if scope == "project" or host.rules.user_file:
                rules = Rules(host.rules, lambda: self._rules_text(scope))
                users = self.directory / (host.rules.user_file or "")
                path = target.project / host.rules.project_file if scope == "project" else users
                return _Part(path, rules.add, rules.remove)
        return None

    @property
    def _grant(self) -> Grant:
        """The grant for the program, as agents call it, and the store."""
        return Grant(prompts.program(), str(Path(self.target.store.root).absolute()))

    def rule_file(self, scope: Scope) -> Path:
        """Find the file of the host's permissions, where it has a rule."""
        assert self.rule
        if scope == "project" and self.rule.project_file:
            return self.target.project / self.rule.project_file
        return self.directory / self.rule.user_file

    def _with_hooks(self, text: str) -> str:
        target, host = self
        commands = {
            event: command(host.agent, event, target.store, str(target.home), shared=target.shared, live=target.live)
            for event in self.wanted_events
        }
        return hook_entries.merge(text, host.hooks, commands)

    def _rules_text(self, scope: Scope) -> str:
        has_tools = any(reader.has_server() for reader in (self, *self.sharers(scope)))
        store, locale = prompts.store_option(self.target.store), load(self.target.store).settings.locale
        return rule_text(locale, prompts.program(), store=store, has_tools=has_tools)

    def has_server(self) -> bool:
        """Return whether the host starts our MCP server, by any of its files."""
        return any(starts_server(self.server_entry(scope)) for scope in BOTH_SCOPES)

    def _strip(self, path: Path) -> Callable[[str], str]:
        """Make the edit that removes all our parts from a file of the host, whichever it holds."""
        described = (self._part(scope, part) for part in _PARTS for scope in BOTH_SCOPES)
        removes = [part.remove for part in described if part and part.path == path]
        return lambda text: reduce(lambda remaining, remove: remove(remaining), removes, text)

    def _forget_trust(self, path: Path, registered: object) -> None:
        """Remove our hooks, registered in that file with that value, from the host's trusted hooks, if readable."""
        if self.host.without_trust is None:
            return
        trust_file, store = self.directory / self.host.trust_file, self.target.store
        with locked(store, store.lock("install")), suppress(BadRequest):
            text = read_text(trust_file)
            remaining = self.host.without_trust(text, path, registered)
            if remaining != text:
                host_file.rewrite(trust_file, remaining.encode())


def _parse(path: Path) -> object:
    """Parse a file of the host's hooks; None where it is missing or invalid."""
    try:
        return hook_entries.value_of(read_text(path))
    except BadRequest:
        return None


def _is_new(text: str, new: Mapping[str, object]) -> bool:
    """Return whether a file holds no more than a new file from us, or nothing."""
    if not text.strip() or not text.lstrip().startswith("{"):
        return not text.strip()
    value = JsonText(text).value
    return isinstance(value, dict) and all(name in new and value[name] == new[name] for name in value)
