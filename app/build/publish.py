"""Documents -> files: only those whose bytes differ are written, and nothing a person wrote is lost.

Files are written beside their places, made durable together, and then renamed: a crash or a power cut leaves each the
old file or the new one, and the next replay completes what is missing. What a replay stores of its files, it stores
after that.

Where only some blocks of a long file changed, it is made of its own bytes: what follows the first difference is written
in place, for a file of many megabytes would be copied for a line, else all of it is written into a new file. A file cut
short in the middle of either has another stamp than its layout tells, and is written whole.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from glob import glob
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from msgspec import Struct

from eventlog.app.progress import track
from eventlog.format.errors import NotStored
from eventlog.projections.base import Document, Pieces, Projection
from eventlog.projections.engine.conversation_rows import RowAddress
from eventlog.projections.engine.documents import Files, Layout, Layouts
from eventlog.projections.engine.jobs import Executor
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.markdown import is_stamp, is_untouched
from eventlog.store.files import (
    FileStamp,
    file_stamp,
    not_stored,
    open_regular,
    read_regular,
    remove,
    replace_file,
    stamp_from,
    write_beside,
)
from eventlog.store.shared_files import (
    ChangedMeanwhile,
    make_durable,
    put_in_place,
    remove_if_unchanged,
    sweep,
)

_TRIES = 3
_WRITING = "writing files"
_MAX = 4 << 20  # bytes of files that wait for their names
_LONG = 1 << 17  # bytes: a file with less before the first difference is replaced whole
_STEP = 512  # bytes
_BEGINNINGS = {"sessions.jsonl": b'{"id":"sum-', "projects.jsonl": b'{"project":"'}  # of files without a digest
_Segment = bytes | tuple[int, int]  # new bytes, or offset and length of bytes in the old file
_Then = Callable[[FileStamp | None], None]  # takes the stamp of a file that is current, None of any other


class PublishResult(Struct):
    """The files written, removed and unchanged, as paths relative to the directory."""

    written: list[str] = []
    removed: list[str] = []
    set_aside: list[str] = []  # copies of files a person had edited
    left: list[str] = []  # never rendered, or a person's: saved in the moment of removal, or not to be judged yet
    unchanged: int = 0

    @property
    def changes(self) -> int:
        """The number of files that are, or would be, different."""
        return len(self.written) + len(self.removed)


def publish(
    documents: Sequence[Document],
    root: str,
    projections: Iterable[Projection],
    *,
    taken_in: Mapping[str, bytes | None] = MappingProxyType({}),
    dry_run: bool = False,
) -> PublishResult:
    """Write the files of these projections under `root` as the documents have them; raises NotStored.

    What `taken_in` has of a file is in the log; any other file a person edited is set aside before it is replaced.
    Where something else than a file that can be read is in the place of one, that is raised after the others are done;
    before anything is written, where a file that does not certify itself is none that a replay writes.
    """
    for name, beginning in _BEGINNINGS.items():
        data = read(path := Path(root) / name, len(beginning))
        if data and data != beginning:
            hint = "move it away, or name another directory"
            raise NotStored("is there, and no replay wrote it", where=str(path), hint=hint)
    with closing(_Publishing(Path(root), taken_in, dry_run=dry_run)) as publishing:
        for document in track(documents, _WRITING):
            publishing.put(document)
        publishing.put_in_place()
        publishing.remove_stale(projections)
    return publishing.outcome()


def publish_outdated(
    replayed: ReplayResult,
    root: str,
    projections: Sequence[Projection],
    *,
    taken_in: Mapping[str, bytes | None],
    dry_run: bool = False,
    before_copy: Callable[[], None] = lambda: None,
    executor: Executor | None = None,
) -> PublishResult:
    """Publish the documents of a replay; only look at files that are current. Raises NotStored.

    Leaves a file that `taken_in` has as None. Calls `before_copy` before an edited file is set aside. The executor
    helps where much is to be rendered.
    """
    names = {projection.name for projection in projections}
    index = None
    with closing(_Publishing(Path(root), taken_in, before_copy, dry_run=dry_run)) as publishing:
        while index is not replayed.index:  # replaced where a row was damaged: the new index has compared no file yet
            units = [unit for unit in replayed.units() if unit[0] in names]
            if executor:
                units = replayed.render_ahead(units, executor)
            index = replayed.index
            publishing.all_of(units, replayed)
            replayed.unless_damaged(publishing.put_in_place)
        publishing.remove_stale([projection for projection in projections if projection.name not in replayed.broken])
    publishing.done.written.sort()
    replayed.save()
    return publishing.outcome()


class _NewFile(NamedTuple):
    """A file that is written and waits for its name."""

    document: Document
    temporary: str
    there: bytes | None  # what it is going to replace
    aside: Path | None  # where a person's edit of that goes
    then: _Then


class _Publishing:
    """The files under a directory, on the way to their documents; `put_in_place` gives new files their names."""

    def __init__(
        self,
        base: Path,
        taken_in: Mapping[str, bytes | None],
        before_copy: Callable[[], None] = lambda: None,
        *,
        dry_run: bool,
    ) -> None:
        self.base = base
        self.done = PublishResult()
        self._taken_in = taken_in
        self._before_copy = before_copy
        self._dry_run = dry_run
        self._current: set[str] = set()
        self._waiting: list[_NewFile] = []
        self._waiting_bytes = 0
        self._blocked: NotStored | None = None  # the first file whose place is taken by something else

    def outcome(self) -> PublishResult:
        """Return what was done; raise NotStored where the place of a file was taken."""
        if self._blocked:
            raise self._blocked
        return self.done

    def close(self) -> None:
        """Remove what has been written and got no name."""
        while self._waiting:
            remove(self._waiting.pop().temporary)

    def all_of(self, units: Sequence[RowAddress], replayed: ReplayResult) -> None:
        """Publish those of the units that are outdated, until all are or a row turns out to be damaged."""
        index = replayed.index
        for unit in track(units, _WRITING):
            files = index.current_files.get(unit)
            if files is not None and all(file_stamp(f"{self.base}/{path}") == stamp for path, stamp in files.items()):
                self.leave(files)
                continue
            try:
                replayed.unless_damaged(partial(self._put_unit, replayed, unit))
            except ChangedMeanwhile:  # a file is not as it was published: its layout is forgotten now
                replayed.unless_damaged(partial(self._put_unit, replayed, unit))
            if replayed.index is not index:
                return

    def _put_unit(self, replayed: ReplayResult, unit: RowAddress) -> None:
        """Render a unit and write its files; it is noted as published when all of them are in place."""
        documents, index = replayed.render(unit), replayed.index
        found: Files = {}

        def note(path: str, stamp: FileStamp | None) -> None:
            if stamp:
                found[path] = stamp
            if len(found) == len(documents) and replayed.index is index:
                replayed.publish(unit, found)

        before, changed = index.files_before.get(unit, {}), replayed.changed_conversations
        for document in documents:
            stamp = (
                before.get(document.path) if document.conversation and document.conversation not in changed else None
            )
            if stamp and stamp == file_stamp(f"{self.base}/{document.path}"):
                self.leave([document.path])
                note(document.path, stamp)
            else:
                self.put(document, index.layouts, partial(note, document.path))
        if not (documents or self._dry_run):
            replayed.publish(unit, found)

    def leave(self, paths: Collection[str]) -> None:
        """Leave files as they are: they are current."""
        self._current.update(paths)
        self.done.unchanged += len(paths)

    def put(self, document: Document, layouts: Layouts | None = None, then: _Then = lambda _: None) -> None:
        """Write a document where its bytes differ; compose a long document from its file, where that has a layout."""
        self._current.add(document.path)
        if self._waits(document.path):
            self.done.left.append(document.path)
            then(None)
            return
        if not (layouts and document.pieces):
            self._put_whole(document, then)
            return
        pieces = document.pieces
        if layout := layouts.of(pieces.place):
            try:
                differs, now = _rewrite_blocks(str(self.base / document.path), pieces, layout, dry_run=self._dry_run)
            except ChangedMeanwhile:
                layouts.store(pieces.place, None)
                raise
            self.done.written += [document.path] * differs
            self.done.unchanged += not differs
            layouts.store(pieces.place, now)
            then(None if self._dry_run else now.stamp)
            return

        def lay_out(stamp: FileStamp | None) -> None:
            lengths = {block: len(data) for block, data in pieces.blocks.items() if data is not None}
            layouts.store(pieces.place, Layout(document.path, stamp, lengths) if stamp else None)
            then(stamp)

        self._put_whole(document, lay_out)

    def _waits(self, name: str) -> bool:
        return self._taken_in.get(name, b"") is None

    def remove_stale(self, projections: Iterable[Projection]) -> None:
        """Remove what is rendered no more, set a person's edit of it aside, and leave what was never rendered."""
        patterns = (pattern for projection in projections for pattern in projection.owns)
        found = (glob(pattern, root_dir=self.base, include_hidden=True) for pattern in patterns)  # noqa: PTH207 - as text
        owned = {name for names in found for name in names}
        for name in sorted(owned - self._current):
            path = self.base / name
            try:
                current = read(path) or b""
            except NotStored as error:
                self._blocked = self._blocked or error
                continue
            is_rendering = path.suffix != ".md" or any(map(is_stamp, current.decode("utf-8", "replace").split("\n")))
            if not is_rendering or self._waits(name):
                self.done.left.append(name)
                continue
            aside = self._aside(name, current)
            try:
                if not self._dry_run:
                    self._set_aside(aside, current)
                    _remove(path, current)
            except ChangedMeanwhile:  # saved in that very moment: the next replay takes it in
                self.done.left.append(name)
            else:
                self._note(self.done.removed, name, aside)

    def put_in_place(self) -> None:
        """Make durable what has been written, and give it its names; raises NotStored."""
        for _attempt in range(_TRIES):
            if self._waiting:
                make_durable([new.temporary for new in self._waiting])
            late = []
            while self._waiting:
                new = self._waiting[0]
                try:
                    self._name(new)
                except ChangedMeanwhile:  # saved in that very moment
                    late.append(new)
                del self._waiting[0]
                self._waiting_bytes -= len(new.document.data)
            for new in late:
                self._put_whole(new.document, new.then)
            if not self._waiting:
                return
        where = str(self.base / self._waiting[0].document.path)
        raise NotStored("is being saved again and again by another program", where=where, hint="try again")

    def _put_whole(self, document: Document, then: _Then) -> None:
        path = self.base / document.path
        # The stamp comes first: a file that is saved meanwhile has another.
        try:
            stamp, current = file_stamp(str(path)), read(path)
        except NotStored as error:
            self._blocked = self._blocked or error
            return
        if current == document.data:
            self.done.unchanged += 1
            then(None if self._dry_run else stamp)
            return
        aside = None if current is None else self._aside(document.path, current)
        if self._dry_run:
            self._note(self.done.written, document.path, aside)
            then(None)
            return
        if aside:
            sweep(str(path))
        temporary = write_beside(str(path), document.data, durable=False)
        self._waiting.append(_NewFile(document, temporary, current, aside, then))
        self._waiting_bytes += len(document.data)
        if self._waiting_bytes > _MAX:
            self.put_in_place()

    def _name(self, new: _NewFile) -> None:
        """Set a person's edit of the old file aside, and name the new file; raises ChangedMeanwhile or NotStored."""
        path, written = self.base / new.document.path, file_stamp(new.temporary)
        self._set_aside(new.aside, new.there)
        if new.there is not None and path.suffix == ".md":
            put_in_place(new.temporary, str(path), new.document.data, new.there)
        else:
            try:
                Path(new.temporary).replace(path)
            except OSError as error:
                raise not_stored(error, str(path)) from error
        self._note(self.done.written, new.document.path, new.aside)
        stamp = file_stamp(str(path))  # renaming changes the time of change
        is_written = (stamp[0], stamp[1], stamp[3]) == (written[0], written[1], written[3])
        new.then(stamp if is_written else None)

    def _set_aside(self, aside: Path | None, data: bytes | None) -> None:
        if aside:
            self._before_copy()
            replace_file(str(aside), data or b"")

    def _note(self, changed: list[str], name: str, aside: Path | None) -> None:
        changed.append(name)
        self.done.set_aside += [aside.relative_to(self.base).as_posix()] if aside else []

    def _aside(self, name: str, data: bytes) -> Path | None:
        """Name the copy of a file that a person edited, by when they saved it; None where the log has all of it.

        Where that second has another copy, the name has a number.
        """
        path = self.base / name
        if path.suffix != ".md" or data == self._taken_in.get(name) or is_untouched(data):
            return None
        saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        copy = f"{path.name}.edited-{saved:%Y%m%d-%H%M%S}"
        names = (f"{copy}-{number}" if number else copy for number in count())
        return next(aside for candidate in names if read(aside := path.with_name(candidate)) in (None, data))


def read(path: Path, limit: int = -1) -> bytes | None:
    """Read a file, or at most so many bytes of it, None where it is missing; raises NotStored."""
    try:
        return read_regular(str(path), limit)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise not_stored(error, str(path)) from error


def _remove(path: Path, current: bytes) -> None:
    """Remove a file that was read as this; raises ChangedMeanwhile where it was saved meanwhile, or NotStored."""
    try:
        if path.suffix == ".md":
            remove_if_unchanged(str(path), current)
        else:
            path.unlink()
        with suppress(OSError):  # others are in it
            path.parent.rmdir()
    except OSError as error:
        raise not_stored(error, str(path)) from error


# ------------------------------------------------------------------------------------------------ long files


def _rewrite_blocks(path: str, pieces: Pieces, layout: Layout, *, dry_run: bool = False) -> tuple[bool, Layout]:
    """Write the pieces as the content of a file with that layout; return whether it differed, and its layout now.

    Raises NotStored, and ChangedMeanwhile where the file is not, or not any more, as it was published.
    """
    try:
        fd = open_regular(path)
    except OSError as error:
        raise ChangedMeanwhile from error
    with os.fdopen(fd, "rb") as file:
        _check_layout(file, layout)
        segments = list(_segments(file, pieces, layout))
        lengths = {block: layout.lengths[block] if data is None else len(data) for block, data in pieces.blocks.items()}
        if lengths == layout.lengths and not any(isinstance(segment, bytes) for segment in segments):
            return False, Layout(layout.path, layout.stamp, lengths)
        if dry_run:
            return True, layout
        try:
            stamp = _write_end(file, path, segments, layout) or _write_whole(file, path, segments, layout)
        except OSError as error:
            raise not_stored(error, path) from error
        if stamp[0] != sum(lengths.values()):
            raise ChangedMeanwhile
        return True, Layout(layout.path, stamp, lengths)


def _write_end(file: BinaryIO, path: str, segments: list[_Segment], layout: Layout) -> FileStamp | None:
    """Write in place what follows the first segment; None where that is short, or the file has another name as well."""
    first, *others = segments or [b""]
    if not isinstance(first, tuple) or first[0] or first[1] < _LONG or os.fstat(file.fileno()).st_nlink > 1:
        return None
    if sum(len(piece) if isinstance(piece, bytes) else piece[1] for piece in others) > first[1]:
        return None
    end = b"".join(_bytes_of(file, others))
    fd = os.open(path, os.O_RDWR)
    with os.fdopen(fd, "r+b", buffering=0) as opened:
        _check_layout(opened, layout)
        old = os.pread(fd, len(end), first[1])
        steps = (at for at in range(0, len(end), _STEP) if old[at : at + _STEP] != end[at : at + _STEP])
        same = next(steps, len(end))  # bytes with which both begin: most blocks grow at their end
        at, end = first[1] + same, end[same:]
        while end:
            done = os.pwrite(fd, end, at)
            at, end = at + done, end[done:]
        if at < layout.stamp[0]:
            os.ftruncate(fd, at)
        os.fsync(fd)
        return stamp_from(os.fstat(fd))


def _write_whole(file: BinaryIO, path: str, segments: list[_Segment], layout: Layout) -> FileStamp:
    """Write a new file in the place of the old file; raises ChangedMeanwhile or NotStored."""
    written: list[os.stat_result] = []

    def write(opened: BinaryIO) -> None:
        opened.writelines(_bytes_of(file, segments))
        opened.flush()
        _check_layout(file, layout)
        written.append(os.fstat(opened.fileno()))

    replace_file(path, write)
    stamp = file_stamp(path)
    (done,) = written
    if (stamp[1], stamp[3]) != (done.st_mtime_ns, done.st_ino):
        raise ChangedMeanwhile
    return stamp


def _check_layout(file: BinaryIO, layout: Layout) -> None:
    if stamp_from(os.fstat(file.fileno())) != layout.stamp or sum(layout.lengths.values()) != layout.stamp[0]:
        raise ChangedMeanwhile


def _segments(file: BinaryIO, pieces: Pieces, layout: Layout) -> Iterator[_Segment]:
    """Yield what the file is made of, in order; neighbours in the old file are a single segment."""
    starts, at = {}, 0
    for block, length in layout.lengths.items():
        starts[block], at = at, at + length
    run = (0, 0)
    for block, data in pieces.blocks.items():
        start, length = starts.get(block, 0), layout.lengths.get(block, 0)
        if data is None or (len(data) == length and os.pread(file.fileno(), length, start) == data):
            if run[0] + run[1] != start:
                yield from (run,) * (run[1] > 0)
                run = (start, 0)
            run = (run[0], run[1] + length)
        else:
            yield from (run,) * (run[1] > 0)
            yield data
            run = (start + length, 0)
    yield from (run,) * (run[1] > 0)


def _bytes_of(file: BinaryIO, segments: Iterable[_Segment]) -> Iterator[bytes]:
    for segment in segments:
        yield segment if isinstance(segment, bytes) else os.pread(file.fileno(), segment[1], segment[0])
