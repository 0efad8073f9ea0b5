"""Registering our hook with a host, and taking it back."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple

from eventlog import files
from eventlog.app.install import backup, hook_entries, host_file
from eventlog.app.install.json_spans import parse
from eventlog.errors import BadRequest
from eventlog.hooks.command import command
from eventlog.hosts.profile import HostProfile, Scope, profiles
from eventlog.store import Store


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

    def directory(self, host: HostProfile) -> Path:
        """Find the host's own directory."""
        moved = self.environ.get(host.home_variable, "") if host.home_variable else ""
        return Path(moved) if moved else self.home / host.home


class FileChange(NamedTuple):
    """What became of one file."""

    path: Path
    done: Literal["installed", "unchanged", "removed", "absent"]


def profile_of(agent: str) -> HostProfile:
    """Find the profile of an agent by its name on the command line; raises BadRequest."""
    known = profiles()
    if agent not in known:
        raise BadRequest(f"there is no agent {agent!r}", hint=f"known are {', '.join(known)}")
    return known[agent]


def install(target: InstallTarget, host: HostProfile, scope: Scope, *, shared: bool = False) -> FileChange:
    """Add what is missing of our entries; the second time changes nothing. Raises BadRequest or NotStored.

    With `shared`, sessions begin as ones that others than the user listen to.
    """
    path, home = target.file(host, scope), str(target.home)
    commands = {event: command(host.agent, event, target.store, home, shared=shared) for event in host.hooks.events}
    return change(target.store, path, lambda text: hook_entries.merge(text, host.hooks, commands), hook_entries.strip)


def uninstall(target: InstallTarget, host: HostProfile, scope: Scope) -> FileChange:
    """Take out exactly our entries; the bytes before, where nobody else has changed the file. Raises as `install`."""
    new = {"hooks": {}, **host.hooks.document}
    return restore(target.store, target.file(host, scope), hook_entries.strip, lambda text: _says_nothing(text, new))


def change(store: Store, path: Path, edit: Callable[[str], str], strip: Callable[[str], str]) -> FileChange:
    """Write the edited text where it differs; what was there without us is kept for `restore`."""
    with _alone(store):
        return _change(store, path, edit, strip)


def restore(store: Store, path: Path, strip: Callable[[str], str], is_nothing: Callable[[str], bool]) -> FileChange:
    """Undo `change`: exactly, else by taking out what is ours."""
    with _alone(store):
        return _restore(store, path, strip, is_nothing)


def _alone(store: Store) -> AbstractContextManager[object]:
    """One at a time: a file, its backup and the directories made for it change together."""
    return files.lock(store.lock("install"))


def _change(store: Store, path: Path, edit: Callable[[str], str], strip: Callable[[str], str]) -> FileChange:
    now = host_file.read(path)
    text = host_file.text_of(now, path)
    after = _in_place(path, edit, text).encode()
    if now == after:
        return FileChange(path, "unchanged")
    before = None if now is None else strip(text).encode()
    made = host_file.write(path, after)
    backup.keep(store, path, now, before, after, made)
    return FileChange(path, "installed")


def _restore(store: Store, path: Path, strip: Callable[[str], str], is_nothing: Callable[[str], bool]) -> FileChange:
    now, known = host_file.read(path), backup.find(store, path)
    if now is None:
        backup.forget(store, path)
        return FileChange(path, "absent")
    text = host_file.text_of(now, path)
    left: bytes | None = _in_place(path, strip, text).encode()
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


def _in_place(path: Path, edit: Callable[[str], str], text: str) -> str:
    """The edited text; what is wrong with the file is told with its name, and that it was left alone."""
    try:
        return edit(text)
    except BadRequest as error:
        hint = error.hint or "correct the file by hand, then do it again; nothing was changed"
        raise BadRequest(error.what, where=os.fspath(path), hint=hint) from error


def _says_nothing(text: str, new: Mapping[str, object]) -> bool:
    """Whether a file holds no more than we would have created it with."""
    value = parse(text).value
    return isinstance(value, dict) and all(name in new and value[name] == new[name] for name in value)
