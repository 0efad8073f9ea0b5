"""Registering our hook with a host, and taking it back."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple

from eventlog import files
from eventlog.errors import BadRequest
from eventlog.install import backup, hookfile, hostfile
from eventlog.install.command import command
from eventlog.install.jsontext import parse
from eventlog.install.layouts import LAYOUTS, Layout, Scope
from eventlog.store import Store


class Place(NamedTuple):
    """Where to install: whose home, which project, and what the environment moves."""

    store: Store
    home: Path
    project: Path
    environ: Mapping[str, str]

    def file(self, layout: Layout, scope: Scope) -> Path:
        """The host's file."""
        return self.project / layout.project_file if scope == "project" else self.directory(layout) / layout.user_file

    def directory(self, layout: Layout) -> Path:
        """The host's own directory."""
        moved = self.environ.get(layout.home_variable, "") if layout.home_variable else ""
        return Path(moved) if moved else self.home / layout.home


class Outcome(NamedTuple):
    """What became of one file."""

    path: Path
    done: Literal["installed", "unchanged", "removed", "absent"]


def layout_of(agent: str) -> Layout:
    """The layout of an agent by its name on the command line; raises BadRequest."""
    if agent not in LAYOUTS:
        raise BadRequest(f"there is no agent {agent!r}", hint=f"known are {', '.join(LAYOUTS)}")
    return LAYOUTS[agent]


def install(place: Place, layout: Layout, scope: Scope, *, shared: bool = False) -> Outcome:
    """Add what is missing of our entries; the second time changes nothing. Raises BadRequest or NotStored.

    With `shared`, sessions begin as ones that others than the user listen to.
    """
    path, home = place.file(layout, scope), str(place.home)
    commands = {event: command(layout.agent, event, place.store, home, shared=shared) for event in layout.events}
    return change(place.store, path, lambda text: hookfile.merge(text, layout, commands), hookfile.strip)


def uninstall(place: Place, layout: Layout, scope: Scope) -> Outcome:
    """Take out exactly our entries; the bytes before, where nobody else has changed the file. Raises as `install`."""
    new = {"hooks": {}, **layout.document}
    return restore(place.store, place.file(layout, scope), hookfile.strip, lambda text: _says_nothing(text, new))


def change(store: Store, path: Path, edit: Callable[[str], str], strip: Callable[[str], str]) -> Outcome:
    """Write the edited text where it differs; what was there without us is kept for `restore`."""
    with _alone(store):
        return _change(store, path, edit, strip)


def restore(store: Store, path: Path, strip: Callable[[str], str], is_nothing: Callable[[str], bool]) -> Outcome:
    """Undo `change`: exactly, else by taking out what is ours."""
    with _alone(store):
        return _restore(store, path, strip, is_nothing)


def _alone(store: Store) -> AbstractContextManager[object]:
    """One at a time: a file, its backup and the directories made for it change together."""
    return files.lock(f"{store.cache}/install.lock")


def _change(store: Store, path: Path, edit: Callable[[str], str], strip: Callable[[str], str]) -> Outcome:
    now = hostfile.read(path)
    text = hostfile.text_of(now, path)
    after = _in_place(path, edit, text).encode()
    if now == after:
        return Outcome(path, "unchanged")
    before = None if now is None else strip(text).encode()
    made = hostfile.write(path, after)
    backup.keep(store, path, now, before, after, made)
    return Outcome(path, "installed")


def _restore(store: Store, path: Path, strip: Callable[[str], str], is_nothing: Callable[[str], bool]) -> Outcome:
    now, known = hostfile.read(path), backup.find(store, path)
    if now is None:
        backup.forget(store, path)
        return Outcome(path, "absent")
    text = hostfile.text_of(now, path)
    left: bytes | None = _in_place(path, strip, text).encode()
    if left == now:
        return Outcome(path, "absent")
    if known and known.after == backup.fingerprint(now):
        left = known.data
    elif (not known or known.data is None) and left is not None and is_nothing(left.decode()):
        left = None
    if left is None:
        hostfile.remove(path, known.made_dirs if known else ())
    else:
        hostfile.write(path, left)
    backup.forget(store, path)
    return Outcome(path, "removed")


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
