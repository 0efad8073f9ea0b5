"""Copies of each project's MEMORY.md for Codex, where it keeps its memories (`codex_memory: {enabled: true}`).

One way only: nothing is ever read from there into the log, and what a subagent said is in no knowledge file. Files of
ours are named `eventlog-<project>.md`; one that somebody else has changed is left as it is.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from eventlog.files import replace_file
from eventlog.home import in_full
from eventlog.projections.stamp import is_untouched
from eventlog.settings.schema import Settings
from eventlog.store import Store

_PREFIX = "eventlog-"


class ExportResult(Struct):
    """The copies written, removed and left alone, by name."""

    written: list[str] = []
    removed: list[str] = []
    left: list[str] = []  # changed by someone else


def export(store: Store, settings: Settings, home: str, environ: Mapping[str, str]) -> ExportResult:
    """Make the copies what the rendered MEMORY.md of each project are; raises NotStored or OSError.

    The environment says where `~/.codex` has been moved to. Nothing happens where it is not turned on, or Codex has
    never been (the directory above is not there).
    """
    done = ExportResult()
    chosen = settings.codex_memory
    if not chosen.enabled:
        return done
    from eventlog.hosts.profile import where_moved  # knows all hosts there are

    folder = Path(in_full(where_moved(chosen.path, environ), home))
    if not folder.parent.is_dir():
        return done
    wanted = {
        f"{_PREFIX}{file.parent.name}.md": file.read_bytes()
        for file in sorted(Path(store.knowledge).glob("projects/*/MEMORY.md"))
    }
    for name, data in wanted.items():
        _copy(folder / name, data, done)
    for path in sorted(folder.glob(f"{_PREFIX}*.md")):
        if path.name not in wanted and _is_ours(path, done):
            path.unlink()
            done.removed.append(path.name)
    return done


def _copy(path: Path, data: bytes, done: ExportResult) -> None:
    if path.exists() and (path.read_bytes() == data or not _is_ours(path, done)):
        return
    replace_file(str(path), data)
    done.written.append(path.name)


def _is_ours(path: Path, done: ExportResult) -> bool:
    ours = not path.is_symlink() and is_untouched(path.read_bytes())
    if not ours:
        done.left.append(path.name)
    return ours
