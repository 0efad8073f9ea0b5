"""Lines of the log found without decoding: by `cache/conversations.index`, or by the bytes they hold.

Format       first line: JSON `{"version", "size" of the rest, "files": ["name stamp", …]}`; then,
             sorted by bytes, one line per conversation: its id as a JSON string, TAB,
             `file:offset,offset;file:offset` (file by position); behind them one per project: `p`, its path as a JSON
             string, TAB, and the first line of each file that has it.
Lookup       bisection in the file: its cost does not grow with the log.

What it says of a day file holds while the file's stamp (see eventlog/store/files.py) is the same, and of its first
lines where the file has grown since: nothing edits a line of the log.
Imported inside agents' hooks: standard library only, as little of it as possible.
"""

import time

from eventlog.fast import fastjson, os
from eventlog.fast.fastjson import BOM
from eventlog.format.timestamps import from_ns
from eventlog.store import day_of, is_plain
from eventlog.store.files import is_regular, open_regular, pieces_of, read_regular, stamp_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import BinaryIO

    Offsets = dict[str, list[int]]  # of lines, by the name of their day file

VERSION = 4
PROJECT = b"p"  # before the path of a project, unlike before the id of a conversation
_USUAL_LINE = 512  # bytes of a line of the index
_AT_ONCE = 1 << 16  # bytes of a longer one: room for megabytes takes longer to have than to fill
_DAY = 86_400_000_000_000  # nanoseconds
_GONE_BY, _TICK = 600_000_000_000, 3_000_000_000  # the latter of the slowest clock of a file system
DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError)  # what comes of reading an index that is

FileStamp = str  # name of a day file, and its stamp, with spaces between: a year of them is compared as one set


def stamps_of(log_dir: str, listed: "Iterable[FileStamp]" = (), before: str = "") -> list[FileStamp]:
    """List the day files of a log as they are now, by name; none where there is no log, and regular files only.

    Those of days `before` that day are as they were `listed`.
    """
    past = sorted([stamp for stamp in listed if stamp < before]) if before else []
    names = names_of(log_dir, listed) if not before else sorted(name_in(stamp) for stamp in listed if stamp >= before)
    return past + list(stamps_in(log_dir, names))


def stamps_in(log_dir: str, names: "Sequence[str]") -> "Iterator[FileStamp]":
    """Yield the stamps of files of a log, each as it is when it is asked for; none for what is no regular file."""
    # from the directory itself: the way there would be gone once for each file
    directory = os.open(log_dir, os.O_RDONLY | os.O_CLOEXEC) if names and os.name != "nt" else None
    try:
        for name in names:
            if stamp := stamp_of(log_dir, name, directory):
                yield stamp
    finally:
        if directory is not None:
            os.close(directory)


def looked_at(log_dir: str, last: str) -> tuple[str, str]:
    """Return before which day no file has changed since the `last` look, and the note of this look; "" for nothing.

    A file that is made, replaced or removed changes the directory, and so does who writes into that of a day that is
    over (`eventlog/store/dayfile.py`). What another program writes into such a file, it may not tell: so a look is
    gone by for ten minutes. Where the directory has changed just now, more may happen at the same time by its clock.
    This look may be noted where the files of days before its first word, a day, are all as they were seen.
    """
    try:
        found, now = os.stat(log_dir), time.time_ns()
    except (OSError, OverflowError):
        return "", ""
    stamp = " ".join(map(str, stamp_from(found)))
    day, _, rest = last.partition(" ")
    then, _, before = rest.partition(" ")
    if before == stamp and then.isdecimal() and 0 <= now - int(then) < _GONE_BY:
        return day, ""
    is_old = now - max(found.st_mtime_ns, found.st_ctime_ns) > _TICK
    return "", f"{from_ns(now - _DAY)[:10]} {now} {stamp}" if is_old else ""


def names_of(log_dir: str, listed: "Iterable[FileStamp]" = (), since: str = "") -> list[str]:
    """List the names of day files in order, none where there is no log; do not check the `listed` names again.

    Those of days before `since` are left out.
    """
    names = {stamp.partition(" ")[0] for stamp in listed}
    try:
        return sorted([name for name in os.listdir(log_dir) if name >= since and (name in names or day_of(name))])
    except FileNotFoundError:
        return []


def stamp_of(log_dir: str, name: str, directory: int | None = None) -> FileStamp:
    """Describe what changes whenever the file does; "" for what is no regular file."""
    try:
        found = os.stat(f"{log_dir}/{name}" if directory is None else name, dir_fd=directory)
    except OSError:
        return ""
    if not is_regular(found):
        return ""
    # what `stamp_from` names, without a call: a search looks at every day
    return f"{name} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def name_in(stamp: FileStamp) -> str:
    """Read the name of the file."""
    return stamp.partition(" ")[0]


def size_in(stamp: FileStamp) -> int:
    """Read the size the file had."""
    return int(stamp.split(" ")[1])


def look_up(path: str, name: str, kind: bytes = b"") -> "tuple[set[FileStamp], Offsets]":
    """Find the files an index covers, and the lines in them of a conversation, or of another kind of name.

    Nothing where it is missing, damaged or of another version.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            files, start = read_head(opened)
            line = _bisect(opened, start, key_of(name, kind)) if name else b""  # "" asks for the files alone
        return set(files), offsets_in(line, files) if line else {}
    except DAMAGED:
        return set(), {}


def known_part(
    log_dir: str, indexed: "Collection[FileStamp]", offsets: "Offsets", stamp: FileStamp
) -> "tuple[int, list[int]]":
    """Return up to which size an index knows a file, and the offsets that it names there.

    All of it where it is as it was indexed; where it has only grown since, its lines of then; else nothing.
    """
    name = name_in(stamp)
    if stamp in indexed:
        return size_in(stamp), offsets.get(name, [])
    first, last = f"{name} ", stamp[stamp.rindex(" ") :]  # behind the last space is the inode
    before = next((other for other in indexed if other.startswith(first) and other.endswith(last)), "")
    size = before.removeprefix(first).partition(" ")[0]
    known = int(size) if size.isdecimal() else 0  # the index may be damaged
    if not 0 < known < size_in(stamp) or not _ends_line(f"{log_dir}/{name}", known):
        return 0, []
    return known, [offset for offset in offsets.get(name, ()) if offset < known]


def _ends_line(path: str, size: int) -> bool:
    """Return whether a line of the file ends at that size: what was indexed then was whole."""
    try:
        return read_regular(path, 1, size - 1) == b"\n"
    except OSError:
        return False


def key_of(name: str, kind: bytes = b"") -> bytes:
    """Make what the line of a conversation in the index starts with, or of a `PROJECT`."""
    return kind + fastjson.text(name) + b"\t"


def marks(conversation_id: str) -> "list[bytes]":
    """Make byte strings of which every line of the conversation holds at least a single match.

    That is the id as the log spells it, or an escape by which other writers of JSON spell what is not plain.
    """
    own = fastjson.text(conversation_id)
    return [own] if is_plain(conversation_id) else [own, b"\\u", b"\\/"]


def read_head(opened: "BinaryIO") -> "tuple[list[FileStamp], int]":
    """Read the files of an index, and where its lines begin; raises an error of `DAMAGED` where that cannot be."""
    line = opened.readline()
    head = fastjson.loads(line)
    size = os.fstat(opened.fileno()).st_size
    if not isinstance(head, dict) or head["version"] != VERSION or len(line) + head["size"] != size:
        raise ValueError("an index of another version, or a part of one")
    return list(head["files"]), len(line)


def offsets_in(line: bytes, files: "list[FileStamp]") -> "Offsets":
    """Read the offsets of a line of the index; raises an error of `DAMAGED` where another program wrote it."""
    found = {}
    for place in line.rstrip(b"\n").partition(b"\t")[2].split(b";"):
        number, _, offsets = place.partition(b":")
        found[name_in(files[int(number)])] = list(map(int, offsets.split(b",")))
    return found


def _bisect(opened: "BinaryIO", low: int, key: bytes) -> bytes:
    """Find the line that starts with `key`, among sorted lines from offset `low` to the end; else empty."""
    high = os.fstat(opened.fileno()).st_size
    while low < high:
        middle = (low + high) // 2
        start = _line_start(opened, low, middle)
        opened.seek(start)
        line = opened.read(len(key))
        if line == key:
            return line + opened.readline()
        if not line or line > key:
            high = start
        else:
            opened.seek(middle)
            low = middle + len(opened.readline())
    return b""


def _line_start(opened: "BinaryIO", low: int, at: int) -> int:
    """Find where the line around an offset starts, not before `low`; that of a busy conversation has megabytes."""
    size = _USUAL_LINE
    while at > low:
        begin = max(low, at - size)
        opened.seek(begin)
        found = opened.read(at - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at, size = begin, _AT_ONCE
    return low


# ------------------------------------------------------------------------------------------- by bytes


def line_at(data: bytes, at: int) -> tuple[int, int]:
    """Find start and end, without its line break, of the line around an offset."""
    start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    return start, len(data) if end < 0 else end


def lines_with(data: bytes, words: "Iterable[bytes]") -> "Iterator[tuple[int, int]]":
    """Find start and end of each line that holds any of the words, once, in no particular order.

    A byte order mark before the first line is not part of it.
    """
    starts: set[int] = set()
    for word in words:
        at = data.find(word)
        while at >= 0:
            start, end = line_at(data, at)
            if start not in starts:
                starts.add(start)
                yield len(BOM) if start == 0 and data.startswith(BOM) else start, end
            at = data.find(word, end)


def lines_having(path: str, marks: "Collection[bytes]", start: int = 0) -> "Iterator[bytes]":
    """Read the lines of a file that hold any of the marks, in order, with their ends; raises OSError.

    Those that begin at `start` or later, as `pieces_of` has it.
    """
    for piece in pieces_of(path, start):
        yield from (piece[begin : end + 1] for begin, end in sorted(lines_with(piece, marks)))


def lines_at(path: str, offsets: "Sequence[int]") -> "Iterator[bytes]":
    """Read the lines of a file that start at these offsets, in the order given, with their ends; raises OSError.

    Where there are none, it is not opened.
    """
    if not offsets:
        return
    with os.fdopen(open_regular(path), "rb") as opened:
        for offset in offsets:
            opened.seek(offset)
            yield opened.readline()
