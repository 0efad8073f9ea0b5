"""A long file, made of its own bytes where only some of its blocks changed.

Where only its end differs, that is written in place: a file of many megabytes would be copied for a line. Else the
system copies the blocks that have not changed into a new file. A file cut short in the middle of either has another
stamp than its layout tells, and is written whole.
"""

import os
from collections.abc import Iterator
from typing import BinaryIO

from eventlog.projections.base import Pieces
from eventlog.projections.engine.documents import Layout
from eventlog.store.files import FileStamp, file_stamp, not_stored, open_regular, replace_file, stamp_from
from eventlog.store.shared_files import ChangedMeanwhile

_AT_ONCE = 1 << 20  # bytes that are copied at a time
_LONG = 1 << 17  # bytes: a file with less before the first difference is replaced whole
_STEP = 512  # bytes
_Segment = bytes | tuple[int, int]  # new bytes, or offset and length of those that are there


def rewrite_blocks(path: str, pieces: Pieces, layout: Layout, *, dry_run: bool = False) -> tuple[bool, Layout]:
    """Write the pieces as the content of a file with that layout; return whether it differed, and its layout now.

    Raises NotStored, and ChangedMeanwhile where the file is not, or not any more, as it was published.
    """
    try:
        fd = open_regular(path)
    except OSError as error:
        raise ChangedMeanwhile from error
    with os.fdopen(fd, "rb") as file:
        _check(file, layout)
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
    end = b"".join(
        piece if isinstance(piece, bytes) else os.pread(file.fileno(), piece[1], piece[0]) for piece in others
    )
    fd = os.open(path, os.O_RDWR)
    with os.fdopen(fd, "r+b", buffering=0) as opened:
        _check(opened, layout)
        same = _alike(os.pread(fd, len(end), first[1]), end)
        at, end = first[1] + same, end[same:]
        while end:
            done = os.pwrite(fd, end, at)
            at, end = at + done, end[done:]
        if at < layout.stamp[0]:
            os.ftruncate(fd, at)
        os.fsync(fd)
        return stamp_from(os.fstat(fd))


def _alike(before: bytes, now: bytes) -> int:
    """Count the bytes with which both begin, in steps: most blocks grow at their end."""
    return next((at for at in range(0, len(now), _STEP) if before[at : at + _STEP] != now[at : at + _STEP]), len(now))


def _write_whole(file: BinaryIO, path: str, segments: list[_Segment], layout: Layout) -> FileStamp:
    """Write a new file in the place of the old file; raises ChangedMeanwhile or NotStored."""
    written: list[os.stat_result] = []

    def write(opened: BinaryIO) -> None:
        for segment in segments:
            if isinstance(segment, bytes):
                opened.write(segment)
            else:
                _copy(file.fileno(), *segment, opened)
        opened.flush()
        _check(file, layout)
        written.append(os.fstat(opened.fileno()))

    replace_file(path, write)
    stamp = file_stamp(path)
    (done,) = written
    if (stamp[1], stamp[3]) != (done.st_mtime_ns, done.st_ino):
        raise ChangedMeanwhile
    return stamp


def _check(file: BinaryIO, layout: Layout) -> None:
    if stamp_from(os.fstat(file.fileno())) != layout.stamp or sum(layout.lengths.values()) != layout.stamp[0]:
        raise ChangedMeanwhile


def _segments(file: BinaryIO, pieces: Pieces, layout: Layout) -> Iterator[_Segment]:
    """Yield what the file is made of, in order; what lies side by side already is one segment."""
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
