"""The check of the store itself: a directory of its owner's, that can be written, where nothing waits."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eventlog.format import timestamps
from eventlog.format.errors import record_reason, system_reason
from eventlog.hooks import error_log
from eventlog.store import Store, spool

_TRIED = 4096  # bytes: a block of most file systems
_NEEDED = ("knowledge.db", "locks")
_NOT_OURS = 0o077  # rights of others


class Problem(NamedTuple):
    """Something wrong, and what to do about it; `pending` is a step that only the person can make."""

    what: str
    fix: str
    serious: bool = True
    pending: bool = False


def examine(store: Store) -> Iterator[Problem]:
    """Everything wrong with the store."""
    yield from _ownership(store)
    yield from _writing(store)
    yield from _waiting(store)
    yield from _lost(store)


def _ownership(store: Store) -> Iterator[Problem]:
    """Others who may read the store know what its owner says; who may write its settings decides where plans go."""
    for path in (Path(store.root), Path(store.log), Path(store.config)):
        try:
            found = path.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid != os.geteuid():
            yield Problem(f"{path} belongs to another user", f"chown {os.geteuid()} {path}")
        if mode & (_NOT_OURS if stat.S_ISDIR(found.st_mode) else 0o022):
            yield Problem(f"{path} is open to other users (mode {mode:o})", f"chmod go-rwx {path}")


def _writing(store: Store) -> Iterator[Problem]:
    places = (Path(store.log), *Path(store.log).parents)
    existing = next(path for path in places if os.path.lexists(path))
    if not existing.is_dir():
        yield _refused(existing, NotADirectoryError(errno.ENOTDIR, ""))
    elif os.statvfs(existing).f_flag & os.ST_RDONLY:
        yield _refused(existing, OSError(errno.EROFS, ""))
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield Problem(f"{existing} cannot be written", f"chmod u+w {existing}")
    else:
        yield from _tried(existing.parent if existing == Path(store.log) else existing)
    yield from _unusable(Path(store.cache))


def _unusable(cache: Path) -> Iterator[Problem]:
    """Name a part of the cache that a replay cannot write; on a read-only disk, that is told already."""
    fix = f"chmod -R u+rwX {cache}, or remove it"
    if os.path.lexists(cache) and not cache.is_dir():
        yield Problem(f"{cache} cannot be used: it is no directory, and each replay reads the whole log", f"rm {cache}")
        return
    for path in (cache, *(cache / name for name in _NEEDED)):
        if _is_refused(path, os.R_OK | os.W_OK):
            yield Problem(f"{path} cannot be used: each replay reads the whole log", fix)
    knowledge = cache.with_name("knowledge")
    if _is_refused(knowledge, os.W_OK | os.X_OK):
        yield Problem(f"{knowledge} cannot be written: replay needs it", f"chmod -R u+rwX {knowledge}")


def _is_refused(path: Path, rights: int) -> bool:
    """Tell whether there is something we have not these rights of, though the disk can be written."""
    return os.path.lexists(path) and not os.access(path, rights) and not _is_read_only(path)


def _is_read_only(path: Path) -> bool:
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _refused(place: Path, error: OSError) -> Problem:
    what, remedy = system_reason(error)
    return Problem(f"{place} cannot be written: {what}", remedy)


def _tried(directory: Path) -> Iterator[Problem]:
    """A full disk lets itself be opened; only writing tells."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"\n" * _TRIED)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        told = _refused(directory, error)
        yield told._replace(fix="free some space: until then hooks lose events") if is_full else told


def _lost(store: Store) -> Iterator[Problem]:
    """Tell of events that are nowhere, until a person has removed what counts them."""
    lost = error_log.lost(store)
    if lost is None:
        return
    first, last = (timestamps.from_ns(ns)[:19] for ns in (lost.first_ns, lost.last_ns))
    reasons = [record_reason(str(failure.get("error"))).rpartition(": ")[2] for failure in error_log.noted(store)]
    why = f": {reasons[-1]}" if reasons else ""
    many = f"{lost.events:,} hook event{'s' * (lost.events != 1)} could not be stored"
    fix = f"keep some space free; to hear no more of it: rm {' '.join(lost.counters)}"
    yield Problem(f"{many}, from {first} to {last}{why}", fix)


def _waiting(store: Store) -> Iterator[Problem]:
    """Name what hooks could not append, and what the log would not take."""
    if waiting := spool.waiting(store):
        count = f"{len(waiting):,} event{'s wait' if len(waiting) > 1 else ' waits'}"
        yield Problem(
            f"{count} in {store.spool}: hooks found the log locked, or could not write it",
            f"eventlog replay appends them; if they stay, `fuser -v {store.log}/*` names who holds the log",
        )
    for path in spool.refused(store):
        yield Problem(f"{path} is no event and was set aside", "read it, then remove it")
