"""A copy of a store in one tar, taken while others write; and a store made of it, with a name of its own.

In the tar is what cannot be made again: the log and its seals, what waits (spool, staging, applying), settings, and
what was erased. Not in it: knowledge files and cache, which a replay makes; the store's name, the backups of hosts'
files and consents, which are this machine's. Every file is read while no writer is in the middle of a line, and as long
as its last whole line; so every event that was acknowledged before is in it, unless its file cannot be read: on a disk
that goes bad, all others are saved. `manifest.json`, the last file, has the digest of each, and what is missing.
"""

import io
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec
from msgspec import Struct

from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import OpenStore
from eventlog.app.setup.seal import settled, verify_sealed
from eventlog.fast import os
from eventlog.fast.sha import sha256
from eventlog.format import timestamps
from eventlog.format.errors import BadRequest, NotStored, system_reason
from eventlog.log import days
from eventlog.log.rewrite import rewrite
from eventlog.log.verify import VerifyResult
from eventlog.settings.load import load
from eventlog.store import Store, day_of
from eventlog.store.dayfile import read_settled
from eventlog.store.files import (
    MODE_PRIVATE,
    file_stamp,
    make_dirs,
    read,
    read_regular,
    remove,
    replace_file,
    sync_dir,
    write_temporary,
)
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica, mark_reported, replica_of

if TYPE_CHECKING:
    from eventlog.store import CacheName

_MANIFEST = "manifest.json"
_FORMAT = 1
_BEFORE_LOG = ("seals.jsonl", "config.yaml")  # no seal is of lines that the log in the backup lacks
_AFTER_LOG = ("rewritten.jsonl", "redactions.jsonl", "redactions.keys")
_FILES = (*_BEFORE_LOG, *_AFTER_LOG)
_FOLDERS = ("spool", "applying", "staging", "log")  # what is on its way into the log is in either, or in both
_MADE_AGAIN: tuple["CacheName", ...] = (
    "knowledge.db", "search.sqlite", "meaning.sqlite", "conversations.index", "redacted.seen", "swept",
    "settings.json", "copies.json",
)  # fmt: skip


class _BackupFile(Struct):
    """The size of a file in a backup, and its digest (SHA-256)."""

    bytes: int
    sha256: str


class _Manifest(Struct):
    """Contents of a backup: of which store, from when, and each file by its path below the store.

    `missing` has the files that could not be read, and why.
    """

    format: int
    created: str
    replica: str
    files: dict[str, _BackupFile] = {}
    missing: dict[str, str] = {}


class _RestoreResult(NamedTuple):
    """Outcome of a restore: the manifest, the result of verify, the new name, and files that were there already."""

    manifest: _Manifest
    verified: VerifyResult
    replica: str
    existing: list[str]


def create_backup(opened: OpenStore, path: Path) -> tuple[Path, _Manifest]:
    """Write a backup to a new file, or to a directory under a name with its time.

    Raises BadRequest where the file exists, NotStored, or Busy where a writer or a replay does not let go.
    """
    store, now = opened.store, opened.machine.now()
    name = replica_of(store)
    if path.is_dir():
        path /= f"eventlog-{name or 'store'}-{now[:19].replace(':', '')}.tar"
    if path.exists():
        raise BadRequest("exists already", where=str(path), hint="name another file")
    manifest = _Manifest(_FORMAT, now, name)
    with settled(store) if Path(store.log).is_dir() else nullcontext():  # what is moved or erased is in it once
        replace_file(str(path), lambda target: _write(store, manifest, target))
    return path, manifest


def prune(store: Store, *, dry_run: bool = False) -> dict[str, int]:
    """Delete the files that are made of nothing but the log, when no replay is at work; return them with their sizes.

    With `dry_run` they stay. Raises NotStored, or BadRequest where a day cannot be read: nobody could make them again.
    """
    if bad := days.unreadable(store.log):
        raise BadRequest(f"cannot be read: {bad[0].reason}", where=bad[0].file, hint="eventlog doctor tells what to do")
    paths = (f"{store.cached(name)}{suffix}" for name in _MADE_AGAIN for suffix in ("", "-wal", "-shm", "-journal"))
    found = {path: Path(path).stat().st_size for path in paths if Path(path).is_file()}
    with locked(store, store.lock("replay")) if found and not dry_run else nullcontext():
        for path in sorted(found, reverse=True) if not dry_run else ():  # a journal goes before its database
            remove(path, must=True)
    return found


def restore_backup(opened: OpenStore, path: Path) -> _RestoreResult:
    """Make a store of a backup, name it, look at every line, and rebuild; raises BadRequest or NotStored.

    A restore that was killed on its way is finished.
    """
    store = opened.store
    if not os.path.isdir(_moving(store)) and any(
        file_stamp(file)[0] for day in days.list_days(store.log) for file in day.files
    ):
        raise BadRequest("has events already", where=store.root, hint="name an empty one with --store")
    try:
        with tarfile.open(path, "r:") as tar:
            manifest = _check(tar, path)
            restored = _extract(tar, manifest, store)
    except (tarfile.TarError, EOFError) as error:
        raise BadRequest(f"is no backup: {error}", where=str(path)) from error
    except OSError as error:
        raise NotStored(f"cannot be restored: {system_reason(error)[0]}", where=str(error.filename or path)) from error
    with suppress(NotStored):  # a store with a name has one of its own already
        make_replica(store, manifest.replica)
        mark_reported(store)
    shutil.rmtree(_moving(store), ignore_errors=True)
    found, _ = verify_sealed(opened.log)
    try:
        replay_store(opened._replace(settings=load(store).settings))  # those that were restored
    except NotStored as error:
        hint = "the log is restored whole; free some space, then: eventlog replay"
        raise NotStored(error.what.removeprefix("not stored: "), where=error.where, hint=hint) from error
    return _RestoreResult(manifest, found, replica_of(store), restored)


def _write(store: Store, manifest: _Manifest, target: BinaryIO) -> None:
    with tarfile.open(fileobj=target, mode="w") as tar:
        for name in _names(store):
            try:
                data = _content_of(Path(store.root, name))
            except OSError as error:
                if os.path.lexists(f"{store.root}/{name}"):  # else there is none, or it was taken in meanwhile
                    manifest.missing[name] = system_reason(error)[0]
            else:
                manifest.files[name] = _BackupFile(len(data), sha256(data))
                _add(tar, name, data, manifest.created)
        _add(tar, _MANIFEST, msgspec.json.encode(manifest), manifest.created)


def _add(tar: tarfile.TarFile, name: str, data: bytes, created: str) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), 0o600, timestamps.to_ms(created) // 1000
    tar.addfile(info, io.BytesIO(data))


def _names(store: Store) -> Iterator[str]:
    """Yield the names of the files of a backup, the log's after those of what waits for it."""
    folders = [folder for folder in _FOLDERS if Path(store.root, folder).is_dir()]
    inside = (f"{folder}/{name}" for folder in folders for name in sorted(os.listdir(f"{store.root}/{folder}")))
    for name in chain(_BEFORE_LOG, inside, _AFTER_LOG):
        path = Path(store.root, name)
        is_copied = path.is_file() and not path.is_symlink() and not name.endswith((".tmp", ".lock"))
        if is_copied or name in _FILES or _is_day(path):
            yield name


def _is_day(path: Path) -> bool:
    return path.parent.name == "log" and bool(day_of(path.name))


def _content_of(path: Path) -> bytes:
    """Read a file of a backup, of a day file whole lines only; raises OSError, or Busy."""
    data = read_settled(str(path)) if _is_day(path) else read_regular(str(path))
    return data[: data.rfind(b"\n") + 1] if _is_day(path) else data


def _check(tar: tarfile.TarFile, path: Path) -> _Manifest:
    """Read the whole backup and compare its digests; raises BadRequest naming the first file that is another."""
    found = {member.name: member for member in tar.getmembers() if member.isfile()}
    if _MANIFEST not in found:
        raise BadRequest("is no whole backup: it has no manifest.json", where=str(path))
    try:
        manifest = msgspec.json.decode(_member(tar, _MANIFEST), type=_Manifest)
    except ValueError as error:
        raise BadRequest(f"its manifest.json cannot be read: {error}", where=str(path)) from error
    if manifest.format != _FORMAT:
        raise BadRequest(f"is of format {manifest.format}", where=str(path), hint="update eventlog")
    for name, wanted in manifest.files.items():
        folder, _, file = name.partition("/")
        if name not in _FILES and (folder not in _FOLDERS or "/" in file or file in ("", ".", "..")):
            raise BadRequest(f"holds {name!r}, which is no file of a store", where=str(path))
        data = _member(tar, name) if name in found else b""
        if name not in found or _BackupFile(len(data), sha256(data)) != wanted:
            raise BadRequest(f"{name} is not what the manifest says", where=str(path), hint="the backup is damaged")
    return manifest


def _member(tar: tarfile.TarFile, name: str) -> bytes:
    opened = tar.extractfile(name)
    return opened.read() if opened else b""


def _extract(tar: tarfile.TarFile, manifest: _Manifest, store: Store) -> list[str]:
    """Write the files beside the store, synced, and move them in, days last; return those that were there already."""
    beside, moving = f"{store.root}.restoring-{os.urandom(4).hex()}", _moving(store)
    try:
        make_dirs(beside)  # also for a backup without files
        for name in manifest.files:
            make_dirs(os.path.dirname(f"{beside}/{name}"))
            write_temporary(f"{beside}/{name}", _member(tar, name), durable=True, mode=0o600)
        shutil.rmtree(moving, ignore_errors=True)
        os.replace(beside, moving)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    existing: list[str] = []
    for name in sorted(manifest.files, key=lambda name_of: (name_of.startswith("log/"), name_of)):
        path, restored = f"{store.root}/{name}", f"{moving}/{name}"
        make_dirs(os.path.dirname(path))
        if name.startswith("log/"):
            _move_day(restored, path)
        elif not os.path.exists(path):
            os.replace(restored, path)
        elif read(path) != read(restored):
            existing.append(name)
    for folder in {os.path.dirname(f"{store.root}/{name}") for name in manifest.files}:
        sync_dir(folder)
    return existing


def _moving(store: Store) -> str:
    """Name the directory of files that a restore moves in: it is there until all are."""
    return f"{store.root}.restoring"


def _move_day(restored: str, path: str) -> None:
    """Move a file of the log in, before what a hook has recorded there meanwhile; raises OSError or NotStored."""
    try:
        os.link(restored, path)  # it takes the place of nothing
    except OSError:  # the day has begun here, or the disk has no links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, MODE_PRIVATE))
        before = read_regular(restored)
        rewrite(path, lambda now: None if now.startswith(before) else before + now)
