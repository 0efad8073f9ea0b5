"""The places between machines: files by name, each written by one machine; a directory, a git repository, a relay.

A remote lists names, reads files, and publishes: new files and removals, as one step where that can be. Names of files
of two machines never collide, so nothing is ever merged. Who was not fast enough reads again and publishes again.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from eventlog.app.open_store import Machine
from eventlog.app.sync.keyring import LARGEST
from eventlog.fast import os
from eventlog.format.errors import BadRequest, NotStored, Offline, UntrustedRemote, system_reason
from eventlog.projects.root import in_full
from eventlog.secrets import scrub_text
from eventlog.store import Store
from eventlog.store.files import ENDING, make_dirs, read, read_regular, remove, replace_file
from eventlog.store.shared_files import sweep_tree

_FOLDER, _STREAM = "dir:", "nats://"
_PROGRAMS = frozenset((".DS_Store", ".dropbox", ".dropbox.cache", ".stfolder", ".stignore", ".stversions", ".sync"))
_SYSTEMS = frozenset(("Thumbs.db", "desktop.ini", "lost+found"))
_DEEPEST = 2  # folders above a segment


class Remote(Protocol):
    """The operations of a place between machines; each raises Offline where it cannot be reached."""

    stream: str | None  # of a relay, which is filled again when it is empty: when its stream was created; else None

    def names(self) -> set[str]:
        """List the files there are now; raises UntrustedRemote where the place holds something else."""

    def read(self, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Read files as they were when they were listed; those that are gone are left out."""

    def publish(self, files: Mapping[str, bytes], removed: Collection[str]) -> bool:
        """Write files in their order, then remove others; False where the remote has changed since it was listed."""


class _FolderRemote:
    """A directory that a sync program, a network or a stick carries from machine to machine."""

    stream: str | None = None

    def __init__(self, path: str) -> None:
        self._path = path
        self._marker: dict[str, bytes] = {}  # what every machine may write, as it was read

    def names(self) -> set[str]:
        """List the files of the directory, to a certain depth; raises Offline where a disk is not mounted."""
        self._marker = {}
        try:
            return set(self._below("", _DEEPEST))
        except OSError as error:
            raise _unreachable(error, self._path) from error

    def read(self, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Read files, of those that are too long the beginning; those that are gone are left out."""
        for name in names:
            try:
                data = read_regular(f"{self._path}/{name}", LARGEST)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unreachable(error, self._path) from error
            if "/" not in name:
                self._marker[name] = data
            yield name, data

    def publish(self, files: Mapping[str, bytes], removed: Collection[str]) -> bool:
        """Write files beside their places and rename them; remove others, and what was left half.

        Raises NotStored, also where something cannot be removed, or UntrustedRemote for a link below the directory.
        """
        real = os.path.realpath(self._path)
        for folder in {name.rpartition("/")[0] for name in (*files, *removed)}:
            if os.path.realpath(f"{real}/{folder}") != os.path.normpath(f"{real}/{folder}"):
                hint = "remove the link, then sync again"
                raise UntrustedRemote("is a symbolic link", where=f"{self._path}/{folder}", hint=hint)
        for name, data in files.items():
            path = f"{self._path}/{name}"
            if "/" not in name and not os.path.islink(path) and read(path, LARGEST) != self._marker.get(name):
                return False
            replace_file(path, data)
        for name in files:
            if name.endswith("/head.age"):  # nobody else writes to the folder of this machine
                sweep_tree(f"{self._path}/{name.removesuffix('/head.age')}", before=math.inf)
        stays = None
        for name in removed:
            try:
                remove(f"{self._path}/{name}", must=True)
            except NotStored as error:  # the others go
                stays = error
        if stays:
            raise NotStored(f"was to be removed: {stays.what}", where=stays.where, hint=stays.hint)
        return True

    def _below(self, folder: str, deepest: int) -> Iterator[str]:
        with os.scandir(f"{self._path}/{folder}") as entries:
            for entry in entries:
                name = f"{folder}{entry.name}"
                if entry.name in _PROGRAMS | _SYSTEMS or entry.name.endswith(ENDING):
                    continue
                if deepest and entry.is_dir(follow_symlinks=False):
                    yield from self._below(f"{name}/", deepest - 1)
                elif entry.is_file(follow_symlinks=False):
                    yield name


def full_address(address: str, machine: Machine) -> str:
    """Write the address of a remote with its path in full; raises BadRequest for other texts, and for a password."""
    if address.startswith(_FOLDER):
        path = in_full(address.removeprefix(_FOLDER), machine.home)
        if not address.removeprefix(_FOLDER):
            raise BadRequest("names no directory", where=address, hint="write dir:/path/to/directory")
        return f"{_FOLDER}{Path(path).absolute()}"
    if address.startswith(_STREAM):
        from eventlog.app.sync.nats_remote import NatsRemote

        return NatsRemote.in_full(address)
    if address.startswith("-") or not address.strip() or "\n" in address:
        hint = "give a git URL, a bare repository, dir:PATH, or nats://HOST/STREAM"
        raise BadRequest("is no remote", where=address or "REMOTE", hint=hint)
    path = in_full(address, machine.home)
    if Path(path).exists():
        return str(Path(path).absolute())
    if (shown := scrub_text(address)) != address:  # files, errors and `ps` would show it
        hint = "leave it out, and give it to git's credential helper or ~/.netrc: git help gitcredentials"
        raise BadRequest("holds a password or a token, which others would read", where=shown, hint=hint)
    return address


def open_remote(address: str, store: Store, machine: Machine, clone: str = "", *, make: bool = False) -> Remote:
    """Open the remote at a full address; git keeps its objects in the store, or in the directory `clone`.

    With `make` a directory is created unless it exists; raises NotStored.
    """
    if address.startswith(_FOLDER):
        if make:
            try:
                make_dirs(address.removeprefix(_FOLDER))
            except OSError as error:
                raise NotStored(f"not stored: {system_reason(error)[0]}", where=address) from error
        return _FolderRemote(address.removeprefix(_FOLDER))
    if address.startswith(_STREAM):
        from eventlog.app.sync.nats_remote import NatsRemote

        return NatsRemote(address, f"{store.sync}/nats.creds", machine.environ)
    from eventlog.app.sync.git_remote import GitRemote

    return GitRemote(address, clone or f"{store.sync}/git", machine.environ)


def _unreachable(error: OSError, path: str) -> Offline | UntrustedRemote:
    what, _ = system_reason(error)
    if isinstance(error, NotADirectoryError):
        return UntrustedRemote("is a file", where=path, hint="name a directory")
    return Offline(what, where=path, hint="it is tried again at the next sync")
