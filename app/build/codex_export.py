"""Copies of each project's MEMORY.md for Codex, where it keeps its memories (`codex_memory: {enabled: true}`).

One way only: nothing is ever read from there into the log, and no knowledge file has words of subagents. Files of
ours are named `eventlog-<project>.md`; a copy that somebody else has changed stays as it is. Where the export was
turned off, or leads elsewhere by now, the copies go: what is forgotten would stay in them.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from eventlog.format.errors import NotStored
from eventlog.projections.views.markdown import is_untouched
from eventlog.projects.root import in_full
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.files import read, replace_file

_PREFIX = "eventlog-"


class ExportResult(Struct):
    """The copies written, removed and left alone, by name."""

    written: list[str] = []
    removed: list[str] = []
    left: list[str] = []  # changed by someone else


def export(store: Store, settings: Settings, home: str, environ: Mapping[str, str]) -> ExportResult:
    """Make the copies what the rendered MEMORY.md of each project are; raises NotStored or OSError.

    The environment says where `~/.codex` has been moved to. Nothing is copied where it is not turned on, or Codex has
    never been (the directory above is missing).
    """
    chosen = settings.codex_memory
    if not chosen.enabled:
        return _without(store, Path(in_full(chosen.path, home)))
    from eventlog.hosts.profile import where_moved  # knows all hosts

    done = ExportResult()
    folder = Path(in_full(where_moved(chosen.path, environ), home))
    if not folder.parent.is_dir():
        return done
    memories = sorted(Path(store.knowledge).glob("projects/*/MEMORY.md"))
    wanted = {folder / f"{_PREFIX}{file.parent.name}.md": file.read_bytes() for file in memories}
    for path, data in wanted.items():
        if not path.exists() or (path.read_bytes() != data and _is_own(path, done)):
            replace_file(str(path), data)
            done.written.append(path.name)
    _remove({*folder.glob(f"{_PREFIX}*.md"), *copies_of(store)}.difference(wanted), done)
    _note(store, wanted)
    return done


def _without(store: Store, folder: Path) -> ExportResult:
    """Remove the copies that were made, and those of projects of this store: another may make others."""
    written, projects = copies_of(store), Path(store.knowledge, "projects")
    copies = [path for path in folder.glob(f"{_PREFIX}*.md") if (projects / path.stem.removeprefix(_PREFIX)).is_dir()]
    done = ExportResult()
    _remove({*written, *copies}, done)
    _note(store, ())
    return ExportResult(removed=done.removed)


def copies_of(store: Store) -> list[Path]:
    """Read the list of copies that the last export left."""
    return list(map(Path, (read(store.cached("copies")) or b"").decode("utf-8", "surrogateescape").splitlines()))


def _note(store: Store, copies: Iterable[Path]) -> None:
    now = list(copies)
    if now == copies_of(store):
        return
    with suppress(NotStored):  # without a cache, those of projects that are known are found
        noted = b"".join(os.fsencode(path) + b"\n" for path in now)
        replace_file(store.cached("copies"), noted, durable=False)


def _remove(paths: Iterable[Path], done: ExportResult) -> None:
    for path in sorted(paths):
        if path.is_file() and _is_own(path, done):
            path.unlink()
            done.removed.append(path.name)


def _is_own(path: Path, done: ExportResult) -> bool:
    untouched = not path.is_symlink() and is_untouched(path.read_bytes())
    if not untouched:
        done.left.append(path.name)
    return untouched
