"""Where the files of knowledge bases lie, and the only code that reads and writes them.

Confinement  a path is that of a configured base. What it leads to, with every symbolic link followed, must lie in the
             tree the base is in (the home, the project, else the file's own directory), outside `.git`, and be a
             regular file or nothing at all.
Wholeness    a file is exchanged for a whole new one, with its mode, its links kept; a save in that moment stays.
Addresses    `https://` is read with GET and written with PUT and `If-Match`; needs the extra `url`.
"""

import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from eventlog.app.open_store import OpenStore
from eventlog.format.error_text import of_system
from eventlog.format.errors import EventLogError, NotStored
from eventlog.format.events import PlanEntry
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.ledgers import ledgers
from eventlog.projections.bases.names import BaseFile, Bases, base_file_of, is_in_projects
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.projects.home import HOME, in_full
from eventlog.settings.schema import PROJECT
from eventlog.store.exchange_file import Overtaken, exchange_file, sweep
from eventlog.store.safe_read import NotConfined, check_kind, real_path

_NEW_IN_HOME, _NEW_IN_PROJECT = 0o600, 0o644
_SECONDS = 10.0
_OK, _NOT_FOUND, _CHANGED = 200, 404, 412


class Refused(EventLogError):
    """A file that may not, or cannot, be written; the entries for it wait for a person."""


class StorageBusy(NotStored):
    """Someone else is writing there; trying again may help."""


class BaseStorage(Protocol):
    """One file of a knowledge base, wherever it is."""

    shown: str  # the path or address as people know it
    identity: str  # the same for all ways to name it on this machine

    def read(self) -> bytes | None:
        """Read its bytes, None where it is not there; raises Refused."""

    def write(self, data: bytes) -> None:
        """Replace what was read, or Busy is raised; raises NotStored or Refused."""


def storage_of(place: BaseFile, bases: Bases, home: str) -> BaseStorage | None:
    """Find the file of a place; None where it belongs to a project that is not on this machine. Raises Refused."""
    base = bases[place.base]
    if base.url is not None and not base.url.startswith("file://"):
        return RemoteFile(base.url)
    shown = unquote(urlsplit(base.url).path) if base.url is not None else base.path or ""
    if shown.startswith(PROJECT):
        tree = Path(place.project)
        path = tree / shown.removeprefix(PROJECT)
        return LocalFile(str(path), path, tree, _NEW_IN_PROJECT) if tree.is_dir() else None
    if shown.startswith(HOME):
        return LocalFile(shown, Path(in_full(shown, home)), Path(home), _NEW_IN_HOME)
    return LocalFile(shown, Path(shown), Path(shown).parent, _NEW_IN_HOME)


class LocalFile:
    """A file on this machine."""

    def __init__(self, shown: str, path: Path, tree: Path, mode: int) -> None:
        self.shown = shown
        self._path = _confined(path, tree, shown)
        self.identity = str(self._path)
        self._mode = mode
        self._seen: bytes | None = None

    def read(self) -> bytes | None:
        """Read its bytes; text in another encoding than UTF-8 is refused."""
        self._seen = self._now()
        if self._seen and (b"\0" in self._seen or self._seen.startswith((b"\xff\xfe", b"\xfe\xff"))):
            raise Refused("is not UTF-8 text", where=self.shown, hint="save it as UTF-8")
        return self._seen

    def write(self, data: bytes) -> None:
        """Exchange it for a whole new file."""
        sweep(self.identity)
        try:
            mode = stat.S_IMODE(self._path.stat().st_mode) if self._seen is not None else self._mode
            exchange_file(self.identity, data, self._seen, mode=mode)
        except (Overtaken, FileNotFoundError) as error:
            raise StorageBusy("was saved by another program meanwhile", where=self.shown, hint="try again") from error

    def _now(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Refused(f"cannot be read: {of_system(error)[0]}", where=self.shown) from error


class RemoteFile:
    """A file behind an address, which must tell its version (ETag) for changes to be noticed."""

    def __init__(self, url: str) -> None:
        self.shown = self.identity = url
        self._etag: str | None = None

    def read(self) -> bytes | None:
        """GET; None where the server has nothing there yet."""
        answer = self._ask("GET")
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
        """PUT, on condition that nobody has written since GET."""
        condition = {"If-Match": self._etag} if self._etag is not None else {"If-None-Match": "*"}
        headers = {"Content-Type": "text/markdown; charset=utf-8", **condition}
        answer = self._ask("PUT", content=data, headers=headers)
        if answer.status_code == _CHANGED:
            raise StorageBusy("changed on the server while it was being read (412)", where=self.shown, hint="try again")
        if not answer.is_success:
            raise Refused(f"the server answers {answer.status_code} to PUT", where=self.shown)

    def _ask(self, method: str, **content: Any) -> Any:
        try:
            import httpx
        except ImportError as error:
            hint = "pip install 'agent-eventlog[url]'"
            raise Refused("addresses need httpx, which is not installed", where=self.shown, hint=hint) from error
        try:
            return httpx.request(
                method, self.shown, timeout=_SECONDS, follow_redirects=False, verify=_certificates(), **content
            )
        except httpx.HTTPError as error:
            raise NotStored(f"the server cannot be reached: {error}", where=self.shown) from error


@cache
def _certificates() -> Any:
    """Load whom the system trusts, once: it takes longer than most answers."""
    import httpx

    return httpx.create_ssl_context()


def _confined(path: Path, tree: Path, shown: str) -> Path:
    """Follow a path to where it really leads; raises Refused where that is not allowed."""
    try:
        real = real_path(path, tree)
    except NotConfined as error:
        raise Refused(f"a symbolic link {error}", where=shown) from error
    if ".git" in real.relative_to(os.path.realpath(tree)).parts:
        raise Refused("nothing is ever written inside .git", where=shown)
    try:
        check_kind(real.stat().st_mode)
    except NotConfined as error:
        raise Refused(str(error), where=shown, hint="name a file in `knowledge_bases`") from error
    except (FileNotFoundError, NotADirectoryError):
        return real
    except OSError as error:  # links in a circle among them
        raise Refused(f"cannot be looked at: {error}", where=shown) from error
    return real


def storage_named(entry: PlanEntry, bases: Bases, home: str) -> BaseStorage | None:
    """Find the file an entry means, None where it means none on this machine; raises Refused."""
    place = base_file_of(entry.key, entry.project, bases)
    return storage_of(place, bases, home) if place else None


class BaseTarget(NamedTuple):
    """A file of a knowledge base: which it is, what the log says of it, and where it lies."""

    place: BaseFile
    ledger: Ledger
    target: BaseStorage


def base_files(opened: OpenStore, name: str) -> list[Path]:
    """Find the files on this machine of the knowledge base that is called so, or whose file is."""
    bases, found = opened.settings.knowledge_bases, []
    for base in bases:
        with suppress(Refused):
            target = storage_of(BaseFile(base), bases, opened.machine.home) if not is_in_projects(bases[base]) else None
            if isinstance(target, LocalFile) and name in (base, PurePath(target.shown).name):
                found.append(Path(target.identity))
    return found


def base_targets(opened: OpenStore, state: Knowledge) -> list[BaseTarget]:
    """List every knowledge base the log says anything of, and its file; those that may not be written are left out."""
    found = []
    for place, ledger in ledgers(state, opened.settings.knowledge_bases, opened.replica).items():
        try:
            target = storage_of(place, opened.settings.knowledge_bases, opened.machine.home)
        except Refused:
            continue
        found += [BaseTarget(place, ledger, target)] if target else []
    return found
