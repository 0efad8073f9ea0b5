"""Documents -> files: only those whose bytes differ are written, and nothing a person wrote is lost.

Each file is replaced whole and durably. The system copies those blocks of a long file that have not changed. A crash
leaves the old file or the new one; the next replay completes what is missing.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from glob import glob
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from msgspec import Struct

from eventlog.app.progress import Progress, track
from eventlog.format.errors import NotStored
from eventlog.projections.base import Document, Pieces, Projection
from eventlog.projections.engine.conversation_rows import RowAddress
from eventlog.projections.engine.documents import Layout, Layouts
from eventlog.projections.engine.jobs import Executor
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.markdown import is_untouched
from eventlog.store.files import FileStamp, file_stamp, not_stored, open_regular, read_regular, replace_file, stamp_from
from eventlog.store.shared_files import ChangedMeanwhile, remove_if_unchanged, replace_if_unchanged, sweep

_TRIES = 3
_AT_ONCE = 1 << 20  # bytes that are copied at a time
_Segment = bytes | tuple[int, int]  # new bytes, or offset and length of those that are there


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
    publishing = _Publishing(Path(root), taken_in, dry_run=dry_run)
    publishing.put(track(documents, progress))
    publishing.remove_stale(projections)
    return publishing.done


def publish_outdated(
    replayed: ReplayResult,
    root: str,
    projections: Sequence[Projection],
    *,
    taken_in: Mapping[str, bytes],
    dry_run: bool = False,
    progress: Progress = lambda _done, _all: None,
    executor: Executor | None = None,
) -> PublishResult:
    """Publish what a replay of all that is published there says; files that are current are only looked at.

    The executor helps where there is much to render.

    Raises NotStored.
    """
    publishing = _Publishing(Path(root), taken_in, dry_run=dry_run)
    names = {projection.name for projection in projections}
    index = None
    while index is not replayed.index:  # another one where a row was damaged: it has nothing of what was looked at
        units = [unit for unit in replayed.units() if unit[0] in names]
        if executor:
            units = replayed.render_ahead(units, executor)
        index = replayed.index
        publishing.all_of(units, replayed, progress)
    publishing.remove_stale([one for one in projections if one.name not in replayed.broken])
    publishing.done.written.sort()
    replayed.save()
    return publishing.done


class _Publishing:
    """The files under a directory, as they become what documents say."""

    def __init__(self, base: Path, taken_in: Mapping[str, bytes], *, dry_run: bool) -> None:
        self.base = base
        self.done = PublishResult()
        self._taken_in = taken_in
        self._dry_run = dry_run
        self._current: set[str] = set()

    def all_of(self, units: Sequence[RowAddress], replayed: ReplayResult, progress: Progress) -> None:
        """Publish those of the units that are outdated, until all are or a row turns out to be damaged."""
        index = replayed.index
        for unit in track(units, progress):
            files = index.current_files.get(unit)
            if files is not None and all(file_stamp(f"{self.base}/{path}") == one for path, one in files.items()):
                self.leave(files)
                continue
            found = replayed.unless_damaged(partial(self._rendered, replayed, unit))
            if not self._dry_run and None not in found.values():
                replayed.publish(unit, {path: stamp for path, stamp in found.items() if stamp})
            if replayed.index is not index:
                return

    def _rendered(self, replayed: ReplayResult, unit: RowAddress) -> dict[str, FileStamp | None]:
        """Render a unit and write its files."""
        try:
            return self.put(replayed.render(unit), replayed.index.layouts)
        except ChangedMeanwhile:  # a file is not as it was published: its layout is forgotten now
            return self.put(replayed.render(unit), replayed.index.layouts)

    def leave(self, paths: Collection[str]) -> None:
        """Leave files as they are: they say what they should."""
        self._current.update(paths)
        self.done.unchanged += len(paths)

    def put(self, documents: Iterable[Document], layouts: Layouts | None = None) -> dict[str, FileStamp | None]:
        """Write the documents whose bytes differ; tell the stamp of each file that says just that, None of others.

        A long one is made of its file, where there is a layout of that; raises ChangedMeanwhile where the file
        has none any more.
        """
        found: dict[str, FileStamp | None] = {}
        for document in documents:
            self._current.add(document.path)
            if layouts and document.pieces:
                found[document.path] = self._put_pieces(document, document.pieces, layouts)
            else:
                found[document.path] = self._put_whole(document)
        return found

    def remove_stale(self, projections: Iterable[Projection]) -> None:
        """Remove what is rendered no more, unless a person has edited it."""
        patterns = (pattern for projection in projections for pattern in projection.owns)
        found = (glob(pattern, root_dir=self.base, include_hidden=True) for pattern in patterns)  # noqa: PTH207 - as text
        owned = {name for names in found for name in names}
        for name in sorted(owned - self._current):
            path = self.base / name
            there = read(path) or b""
            if path.suffix == ".md" and there != self._taken_in.get(name) and not is_untouched(there):
                self.done.left.append(name)
                continue
            try:
                if not self._dry_run:
                    _remove(path, there)
            except ChangedMeanwhile:  # saved in that very moment: the next replay takes it in
                self.done.left.append(name)
            else:
                self.done.removed.append(name)

    def _put_whole(self, document: Document) -> FileStamp | None:
        path = self.base / document.path
        for _attempt in range(_TRIES):
            stamp, there = _look(path)
            if there == document.data:
                self.done.unchanged += 1
                return None if self._dry_run else stamp
            try:
                self._exchange(document, path, there)
            except ChangedMeanwhile:  # saved in that very moment
                continue
            stamp, there = _look(path)
            return stamp if there == document.data else None
        raise NotStored("is being saved again and again by another program", where=str(path), hint="try again")

    def _exchange(self, document: Document, path: Path, there: bytes | None) -> None:
        """Replace a file; a person's edit of it is set aside. Raises ChangedMeanwhile where it was saved now."""
        known = (None, self._taken_in.get(document.path))
        edited = there not in known and path.suffix == ".md" and not is_untouched(there or b"")
        aside = _aside(path, there or b"") if edited else None
        if not self._dry_run:
            _replace(path, there, aside, document.data)
        self.done.written.append(document.path)
        self.done.set_aside += [aside.relative_to(self.base).as_posix()] if aside else []

    def _put_pieces(self, document: Document, pieces: Pieces, layouts: Layouts) -> FileStamp | None:
        layout, path = layouts.of(pieces.place), str(self.base / document.path)
        if layout is None:
            stamp = self._put_whole(document)
            lengths = {block: len(said) for block, said in pieces.blocks.items() if said is not None}
            layouts.store(pieces.place, Layout(document.path, stamp, lengths) if stamp else None)
            return stamp
        try:
            differs, now = rewrite_blocks(path, pieces, layout, dry_run=self._dry_run)
        except ChangedMeanwhile:
            layouts.store(pieces.place, None)
            raise
        self.done.written += [document.path] * differs
        self.done.unchanged += not differs
        layouts.store(pieces.place, now)
        return None if self._dry_run else now.stamp


def _replace(path: Path, there: bytes | None, aside: Path | None, wanted: bytes) -> None:
    """Keep a person's edit of the file aside, then replace it; raises ChangedMeanwhile where it was saved again."""
    if aside:
        replace_file(str(aside), there or b"")
        sweep(str(path))
    if there is not None and path.suffix == ".md":
        replace_if_unchanged(str(path), wanted, there)
    else:
        replace_file(str(path), wanted)


def _aside(path: Path, data: bytes) -> Path:
    """`MEMORY.md.edited-20260221-083544`: when the person saved it; numbered where that second has another copy."""
    saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    name = f"{path.name}.edited-{saved:%Y%m%d-%H%M%S}"
    names = (f"{name}-{number}" if number else name for number in count())
    return next(aside for candidate in names if read(aside := path.with_name(candidate)) in (None, data))


def _look(path: Path) -> tuple[FileStamp, bytes | None]:
    """Read a file, and its stamp of just before: one that is saved meanwhile has another."""
    return file_stamp(str(path)), read(path)


def read(path: Path) -> bytes | None:
    """Read the bytes of a file, None where there is none; raises NotStored."""
    try:
        return read_regular(str(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise not_stored(error, str(path)) from error


def _remove(path: Path, there: bytes) -> None:
    """Remove a file that was read as this; raises ChangedMeanwhile where it was saved meanwhile, or NotStored."""
    try:
        if path.suffix == ".md":
            remove_if_unchanged(str(path), there)
        else:
            path.unlink()
        with suppress(OSError):  # others are in it
            path.parent.rmdir()
    except OSError as error:
        raise not_stored(error, str(path)) from error


def rewrite_blocks(path: str, pieces: Pieces, layout: Layout, *, dry_run: bool = False) -> tuple[bool, Layout]:
    """Make the pieces the content of a file with that layout; tell whether it differed, and its layout now.

    Raises NotStored, and ChangedMeanwhile where the file is not, or not any more, as it was published.
    """
    try:
        fd = open_regular(path)
    except OSError as error:
        raise ChangedMeanwhile from error
    with os.fdopen(fd, "rb") as there:
        _check(there, layout)
        segments = list(_segments(there, pieces, layout))
        lengths = {block: layout.lengths[block] if said is None else len(said) for block, said in pieces.blocks.items()}
        if lengths == layout.lengths and not any(isinstance(one, bytes) for one in segments):
            return False, Layout(layout.path, layout.stamp, lengths)
        if dry_run:
            return True, layout
        written: list[os.stat_result] = []

        def write(opened: BinaryIO) -> None:
            for segment in segments:
                if isinstance(segment, bytes):
                    opened.write(segment)
                else:
                    _copy(there.fileno(), *segment, opened)
            opened.flush()
            _check(there, layout)
            written.append(os.fstat(opened.fileno()))

        replace_file(path, write)
        stamp = file_stamp(path)
        (done,) = written
        if (stamp[0], stamp[1], stamp[3]) != (sum(lengths.values()), done.st_mtime_ns, done.st_ino):
            raise ChangedMeanwhile
        return True, Layout(layout.path, stamp, lengths)


def _check(there: BinaryIO, layout: Layout) -> None:
    if stamp_from(os.fstat(there.fileno())) != layout.stamp or sum(layout.lengths.values()) != layout.stamp[0]:
        raise ChangedMeanwhile


def _segments(there: BinaryIO, pieces: Pieces, layout: Layout) -> Iterator[_Segment]:
    """Yield what the file is made of, in order; what lies side by side already is one segment."""
    starts, at = {}, 0
    for block, length in layout.lengths.items():
        starts[block], at = at, at + length
    run = (0, 0)
    for block, said in pieces.blocks.items():
        start, length = starts.get(block, 0), layout.lengths.get(block, 0)
        if said is None or (len(said) == length and os.pread(there.fileno(), length, start) == said):
            if run[0] + run[1] != start:
                yield from (run,) * (run[1] > 0)
                run = (start, 0)
            run = (run[0], run[1] + length)
        else:
            yield from (run,) * (run[1] > 0)
            yield said
            run = (start + length, 0)
    yield from (run,) * (run[1] > 0)


def _copy(source: int, start: int, length: int, opened: BinaryIO) -> None:
    opened.flush()
    while length:
        try:
            done = os.copy_file_range(source, opened.fileno(), length, start)
        except (AttributeError, OSError):  # other systems, some file systems
            done = opened.write(os.pread(source, min(length, _AT_ONCE), start))
            opened.flush()
        if not done:
            raise ChangedMeanwhile
        start, length = start + done, length - done
