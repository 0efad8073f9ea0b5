"""Tell whether a file has changed since it was looked at: one stamp, for all caches of what files say.

The change time is part of it: who keeps or sets back a file's modification time cannot set that.
Imported inside agents' hooks: nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

Stamp = tuple[int, int, int, int]  # size in bytes, modification and change time in nanoseconds, inode

GONE: Stamp = (0, 0, 0, 0)  # the stamp of no file


def of_file(path: str) -> Stamp:
    """Make the stamp of a file; `GONE` where there is none to be looked at."""
    import os  # a hook has no need of it

    try:
        return of(os.stat(path))
    except OSError:
        return GONE


def of(found: "os.stat_result") -> Stamp:
    """Make the stamp of a file that was looked at."""
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
