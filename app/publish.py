"""Documents -> files: only those whose bytes differ are written, and nothing a person wrote is lost.

Each file is replaced whole and durably. A crash leaves the old file or the new one; the next replay completes what
is missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from eventlog.app.phases import Progress, told
from eventlog.errors import NotStored
from eventlog.exchange_file import Overtaken, exchange_file, sweep
from eventlog.files import not_stored, read_regular, replace_file
from eventlog.projections.base import Document, Projection
from eventlog.projections.stamp import is_untouched

_TRIES = 3


class PublishResult(Struct):
    """The files written, removed and kept, as paths relative to the directory."""

    written: list[str] = []
    removed: list[str] = []
    set_aside: list[str] = []  # copies of files a person had edited
    left: list[str] = []  # no longer rendered, but edited by a person
    unchanged: int = 0

    @property
    def changes(self) -> int:
        """How many files are, or would be, different."""
        return len(self.written) + len(self.removed)


def publish(
    documents: Sequence[Document],
    root: str,
    projections: Iterable[Projection],
    *,
    taken_in: Mapping[str, bytes] = MappingProxyType({}),
    dry_run: bool = False,
    progress: Progress = lambda _done, _all: None,
) -> PublishResult:
    """Make the files of these projections under `root` what the documents say; raises NotStored.

    What `taken_in` has of a file is in the log; any other file a person edited is set aside before it is replaced.
    """
    done = PublishResult()
    base = Path(root)
    for document in told(documents, progress):
        _publish_one(document, base, done, taken_in=taken_in.get(document.path), dry_run=dry_run)
    for path in _stale(documents, base, projections):
        name, there = path.relative_to(base).as_posix(), read(path) or b""
        if path.suffix == ".md" and there != taken_in.get(name) and not is_untouched(there):
            done.left.append(name)
            continue
        done.removed.append(name)
        if not dry_run:
            _remove(path)
    return done


def _publish_one(document: Document, base: Path, done: PublishResult, *, taken_in: bytes | None, dry_run: bool) -> None:
    path = base / document.path
    for _attempt in range(_TRIES):
        there = read(path)
        if there == document.data:
            done.unchanged += 1
            return
        edited = there not in (None, taken_in) and path.suffix == ".md" and not is_untouched(there or b"")
        aside = _aside(path, there or b"") if edited else None
        if not dry_run:
            try:
                _replace(path, there, aside, document.data)
            except Overtaken:  # saved in that very moment
                continue
        done.written.append(document.path)
        done.set_aside += [aside.relative_to(base).as_posix()] if aside else []
        return
    raise NotStored("is being saved again and again by another program", where=str(path), hint="try again")


def _replace(path: Path, there: bytes | None, aside: Path | None, wanted: bytes) -> None:
    """Keep what a person made of the file aside, then replace it; raises Overtaken where it was saved meanwhile."""
    if aside:
        replace_file(str(aside), there or b"")
        sweep(str(path))
    if there is not None and path.suffix == ".md":
        exchange_file(str(path), wanted, there)
    else:
        replace_file(str(path), wanted)


def _stale(documents: Iterable[Document], base: Path, projections: Iterable[Projection]) -> list[Path]:
    current = {base / document.path for document in documents}
    owned = {path for projection in projections for pattern in projection.owns for path in base.glob(pattern)}
    return sorted(owned - current)


def _aside(path: Path, data: bytes) -> Path:
    """`MEMORY.md.edited-20260221-083544`: when the person saved it; numbered where that second has another copy."""
    saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    name = f"{path.name}.edited-{saved:%Y%m%d-%H%M%S}"
    names = (f"{name}-{number}" if number else name for number in count())
    return next(aside for candidate in names if read(aside := path.with_name(candidate)) in (None, data))


def read(path: Path) -> bytes | None:
    """Read the bytes of a file, None where there is none; raises NotStored."""
    try:
        return read_regular(str(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise not_stored(error, str(path)) from error


def _remove(path: Path) -> None:
    try:
        path.unlink()
        with suppress(OSError):  # others are in it
            path.parent.rmdir()
    except OSError as error:
        raise not_stored(error, str(path)) from error
