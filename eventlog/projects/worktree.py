"""Which tracked files were changed lately, by git's index and the files themselves: no process is started.

Only sizes and times are compared: a file that was saved as it was counts as changed. An index that is large, cut,
compressed or of another hash tells nothing; the format is git's (`Documentation/gitformat-index.txt`).
Imported while a session waits to begin: standard library only.
"""

import struct

from eventlog.fast import os
from eventlog.projects.root import find_repository, git_branch, git_dir_of
from eventlog.store.files import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Entry = tuple[int, str, int]  # when it was changed, its name and its size, as they were staged

TRUNKS = frozenset(("main", "master", "trunk", "develop", "development", "dev", "default", "HEAD"))
_FILES = 6  # changed lately, that are looked for
_LONGEST = 1 << 19  # bytes: some five thousand files
_VERSIONS = (2, 3)
_ENTRY = struct.Struct(">8xII8xI8xI20xH")  # of a file: the seconds and nanoseconds of its change, mode, size, flags
_REGULAR = 0o100
_UNWATCHED, _EXTENDED, _NAME_LENGTH = 0x8000, 0x4000, 0xFFF  # flags: assume-valid; more follow; how long the name is
_LOOKED_AT = 120  # files: who changes one has mostly changed it before, not long ago
_AT_ONCE = 12  # changed in the same second by a checkout, not by anyone at work
_SECOND = 1_000_000_000


def work_in(where: str) -> tuple[str, list[str]]:
    """Read the branch ("" on a trunk, and where there is none) and what was changed lately in a directory."""
    branch = git_branch(where) or ""
    branch = "" if branch in TRUNKS else branch
    return branch, changed_files(where, _FILES, committed=bool(branch))


def changed_files(cwd: str, most: int, *, committed: bool = False) -> list[str]:
    """List so many tracked files that were changed since they were staged, the newest first; [] where nothing is known.

    With `committed` after them those that were staged, and mostly committed, last.
    """
    found = find_repository(os.path.abspath(cwd))
    if not found:
        return []
    try:
        data = read_regular(f"{git_dir_of(*found)}/index", _LONGEST)
        newest = sorted(_entries(data), reverse=True)[:_LOOKED_AT]
    except (OSError, ValueError, struct.error):
        return []
    now = [(_changed_at(f"{found[0]}/{name}", staged_at, size), name) for staged_at, name, size in newest]
    by_hand = _but_together(sorted(((when, name) for when, name in now if when), reverse=True))
    staged = _but_together([(when, name) for when, name, _ in newest]) if committed else []
    return list(dict.fromkeys((*by_hand, *staged)))[:most]


def _entries(data: bytes) -> "Iterator[Entry]":
    """Yield the regular files of an index; raises ValueError or struct.error where it is cut."""
    if data[:4] != b"DIRC" or int.from_bytes(data[4:8], "big") not in _VERSIONS:
        return
    start = 12
    for _ in range(int.from_bytes(data[8:12], "big")):
        seconds, nanoseconds, mode, size, flags = _ENTRY.unpack_from(data, start)
        name_at = start + _ENTRY.size + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", name_at)
        if end - name_at != flags & _NAME_LENGTH:
            raise ValueError("a hash of another length, or a name nobody types")
        if mode >> 9 == _REGULAR and not flags & (_UNWATCHED | _EXTENDED):
            yield seconds * _SECOND + nanoseconds, data[name_at:end].decode("utf-8", "replace"), size
        start += (end - start + 8) & ~7


def _changed_at(path: str, staged_at: int, size: int) -> int:
    """Tell when a file was changed or, of one that is gone, staged; 0 where it is as it was staged."""
    try:
        now = os.lstat(path)
    except OSError:
        return staged_at
    return now.st_mtime_ns if (now.st_mtime_ns, now.st_size & 0xFFFFFFFF) != (staged_at, size) else 0


def _but_together(newest: "list[tuple[int, str]]") -> list[str]:
    """Leave out what a program changed: many files in the same second."""
    seconds = [when // _SECOND for when, _ in newest]
    return [name for when, name in newest if seconds.count(when // _SECOND) <= _AT_ONCE]
