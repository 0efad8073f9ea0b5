"""Read and write the files of knowledge bases; no other code does.

Confinement  a path is that of a configured base. Its target, with every symbolic link followed, must lie in the tree
             of the base (the home, the project, else the file's own directory), outside `.git`, and be a regular file
             or absent. What opens is looked at again: a link may have been planted meanwhile.
Wholeness    a write exchanges the whole file, and keeps its mode and links; a save by another program in
             that moment is not overwritten.
Addresses    `https://` is read with GET and written with PUT and `If-Match`; needs the extra `url`.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest, EventLogError, NotStored, library, system_reason
from eventlog.projections.bases.base_file import BaseFile, Bases
from eventlog.projections.bases.ledger import Ledger, ledgers
from eventlog.projections.current.conversations import Knowledge
from eventlog.projects.root import HOME, in_full
from eventlog.settings.schema import PROJECT
from eventlog.store.files import make_dirs, not_stored
from eventlog.store.shared_files import (
    FDS,
    ChangedMeanwhile,
    NotConfined,
    read_below,
    real_path,
    replace_if_unchanged,
    sweep,
)

_NEW_IN_HOME, _NEW_IN_PROJECT = 0o600, 0o644
_SECONDS = 10.0
_OK, _NOT_FOUND, _CHANGED = 200, 404, 412


class Refused(EventLogError):
    """A file that must not, or cannot, be written; the entries for it wait for a person."""


class StorageBusy(NotStored):
    """A file that another program is writing; trying again may help."""


class LocalFile:
    """A file on this machine.

    Of this and of a remote file, `shown` is the path or address as configured, `identity` the same for all spellings.
    """

    def __init__(self, shown: str, path: Path, tree: Path, mode: int) -> None:
        self.shown = shown
        self._path, self._tree = _confined(path, tree, shown), tree
        self.identity = str(self._path)
        self._mode = mode
        self._seen: bytes | None = None

    def read(self) -> bytes | None:
        """Read the bytes, None where the file is absent; raises Refused, also for another encoding than UTF-8."""
        try:
            self._seen = read_below(self._tree, self._path, -1)
        except FileNotFoundError:
            self._seen = None
        except NotConfined as error:
            raise Refused(f"a symbolic link {error}", where=self.shown) from error
        except OSError as error:
            raise Refused(f"cannot be read: {system_reason(error)[0]}", where=self.shown) from error
        if self._seen and (b"\0" in self._seen or self._seen.startswith((b"\xff\xfe", b"\xfe\xff"))):
            raise Refused("is not UTF-8 text", where=self.shown, hint="save it as UTF-8")
        return self._seen

    def write(self, data: bytes) -> None:
        """Replace what `read` returned by a whole new file.

        Raises StorageBusy where that has changed, Refused where it lies elsewhere by now, or NotStored.
        """
        try:
            with self._held() as path:
                sweep(path)
                mode = stat.S_IMODE(os.lstat(path).st_mode) if self._seen is not None else self._mode
                replace_if_unchanged(path, data, self._seen, mode=mode)
        except (ChangedMeanwhile, FileNotFoundError) as error:
            raise StorageBusy("was saved by another program meanwhile", where=self.shown, hint="try again") from error

    @contextmanager
    def _held(self) -> Iterator[str]:
        """Yield the path of the file in its directory, which stays open: a link in its place leads nowhere."""
        directory = self._path.parent
        try:
            make_dirs(str(directory))
            fd = os.open(directory, os.O_RDONLY)
        except OSError as error:
            raise not_stored(error, self.identity) from error
        try:
            real_path(fd, self._tree)
            held = Path(FDS, str(fd))
            yield str((held if held.is_dir() else directory) / self._path.name)
        except NotConfined as error:
            raise Refused(f"a symbolic link {error}", where=self.shown) from error
        except NotStored as error:
            raise NotStored(error.what, where=self.identity, hint=error.hint) from error
        finally:
            os.close(fd)


class _RemoteFile:
    """A file behind an address, whose server must send a version (ETag) so that changes are noticed."""

    def __init__(self, url: str) -> None:
        self.shown = self.identity = url
        self._etag: str | None = None

    def read(self) -> bytes | None:
        """Read the file with GET; None where the server has none yet."""
        answer = self._request("GET")
        if answer.status_code == _NOT_FOUND:
            self._etag = None
            return None
        if answer.status_code != _OK:
            raise Refused(f"the server answers {answer.status_code} to GET", where=self.shown)
        self._etag = answer.headers.get("etag")
        if self._etag is None:
            raise Refused("the server names no version (ETag), so changes could not be noticed", where=self.shown)
        return bytes(answer.content)

    def write(self, data: bytes) -> None:
        """Send the file with PUT, on condition that its version is still that of GET."""
        condition = {"If-Match": self._etag} if self._etag is not None else {"If-None-Match": "*"}
        headers = {"Content-Type": "text/markdown; charset=utf-8", **condition}
        answer = self._request("PUT", content=data, headers=headers)
        if answer.status_code == _CHANGED:
            raise StorageBusy("changed on the server while it was being read (412)", where=self.shown, hint="try again")
        if not answer.is_success:
            raise Refused(f"the server answers {answer.status_code} to PUT", where=self.shown)

    def _request(self, method: str, **content: Any) -> Any:
        try:
            httpx = library("httpx", "url")
        except BadRequest as error:
            raise Refused(error.what, where=self.shown, hint=error.hint) from error
        try:
            return httpx.request(
                method, self.shown, timeout=_SECONDS, follow_redirects=False, verify=_certificates(), **content
            )
        except httpx.HTTPError as error:
            raise NotStored(f"the server cannot be reached: {error}", where=self.shown) from error


BaseStorage = LocalFile | _RemoteFile


class _BaseTarget(NamedTuple):
    """A file of a knowledge base with its ledger and storage."""

    place: BaseFile
    ledger: Ledger
    target: BaseStorage


def storage_of(place: BaseFile, bases: Bases, home: str) -> BaseStorage | None:
    """Open the storage of a file; None where its project is not on this machine. Raises Refused."""
    base = bases[place.base]
    if base.url is not None and not base.url.startswith("file://"):
        return _RemoteFile(base.url)
    shown = unquote(urlsplit(base.url).path) if base.url is not None else base.path or ""
    if shown.startswith(PROJECT):
        tree = Path(place.project)
        path = tree / shown.removeprefix(PROJECT)
        return LocalFile(str(path), path, tree, _NEW_IN_PROJECT) if tree.is_dir() else None
    if shown.startswith(HOME):
        return LocalFile(shown, Path(in_full(shown, home)), Path(home), _NEW_IN_HOME)
    return LocalFile(shown, Path(shown), Path(shown).parent, _NEW_IN_HOME)


def base_files(opened: OpenStore, name: str) -> list[Path]:
    """Find the local files of the knowledge bases with this name, or with this file name."""
    bases, found = opened.settings.knowledge_bases, []
    for base, settings in bases.items():
        if not (settings.path or "").startswith(PROJECT):
            with suppress(Refused):
                target = storage_of(BaseFile(base), bases, opened.machine.home)
                if isinstance(target, LocalFile) and name in (base, PurePath(target.shown).name):
                    found.append(Path(target.identity))
    return found


def base_targets(opened: OpenStore, state: Knowledge) -> list[_BaseTarget]:
    """List every file of a knowledge base that has events, without those that must not be written."""
    found = []
    for place, ledger in ledgers(state, opened.settings.knowledge_bases, opened.replica).items():
        with suppress(Refused):
            target = storage_of(place, opened.settings.knowledge_bases, opened.machine.home)
            found += [_BaseTarget(place, ledger, target)] if target else []
    return found


@cache
def _certificates() -> Any:
    """Load the system's certificates, once: that takes longer than most answers."""
    import httpx

    return httpx.create_ssl_context()


def _confined(path: Path, tree: Path, shown: str) -> Path:
    """Resolve a path with all its links; raises Refused where it leads out of the tree or to no regular file."""
    try:
        real = Path(real_path(path, tree))
    except NotConfined as error:
        raise Refused(f"a symbolic link {error}", where=shown) from error
    if ".git" in real.relative_to(os.path.realpath(tree)).parts:
        raise Refused("nothing is ever written inside .git", where=shown)
    try:
        mode = real.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return real
    except OSError as error:  # links in a circle among them
        raise Refused(f"cannot be looked at: {error}", where=shown) from error
    if not stat.S_ISREG(mode):
        raise Refused("is not a regular file", where=shown, hint="name a file in `knowledge_bases`")
    return real
