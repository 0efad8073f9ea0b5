"""Documents -> files: only those whose bytes differ are written, and nothing a person wrote is lost.

Each file is replaced whole and durably. A crash leaves the old file or the new one; the next replay completes what
is missing.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from msgspec import Struct

from eventlog.files import not_stored, replace_file
from eventlog.projections.base import Document, Projection
from eventlog.projections.markdown_file import is_untouched


class Published(Struct):
    """What happened to the files, as paths relative to the directory."""

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
    taken_in: Collection[str] = (),
    dry_run: bool = False,
) -> Published:
    """Make the files of these projections under `root` what the documents say; raises NotStored.

    Edits of the files in `taken_in` are in the log; all other edited files are set aside before they are replaced.
    """
    done = Published()
    base = Path(root)
    for document in documents:
        _publish_one(document, base, done, taken_in=document.path in taken_in, dry_run=dry_run)
    for path in _stale(documents, base, projections):
        name = path.relative_to(base).as_posix()
        if path.suffix == ".md" and name not in taken_in and not is_untouched(read(path) or b""):
            done.left.append(name)
            continue
        done.removed.append(name)
        if not dry_run:
            _remove(path)
    return done


def _publish_one(document: Document, base: Path, done: Published, *, taken_in: bool, dry_run: bool) -> None:
    path = base / document.path
    there, wanted = read(path), document.data
    if there == wanted:
        done.unchanged += 1
        return
    done.written.append(document.path)
    edited = there is not None and path.suffix == ".md" and not taken_in and not is_untouched(there)
    if edited:
        aside = _aside(path, there or b"")
        done.set_aside.append(aside.relative_to(base).as_posix())
        if not dry_run:
            replace_file(str(aside), there or b"")
    if not dry_run:
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
    return next(aside for one in names if read(aside := path.with_name(one)) in (None, data))


def read(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none; raises NotStored."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise not_stored(error, str(path)) from error


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise not_stored(error, str(path)) from error
