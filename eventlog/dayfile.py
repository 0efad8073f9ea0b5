"""One day's file of the log: the only code that writes the log.

Format       whole lines of JSON, `\\n` at the end of each; nothing ever edits a line.
Order        a writer holds an exclusive lock on the file itself, and takes the time of a live event under it.
Isolation    a writer that died mid-line leaves a fragment without `\\n` (`kill -9` tears even short writes, at page
             boundaries): the next writer puts `\\n` first, so the fragment costs only itself.
Atomicity    a short or failed write is cut back before the lock is released: all lines of a call, or none.
Durability   `fdatasync` after unlocking, so that the kernel commits waiting writers together; a failed sync is
             final (the kernel may have dropped the pages and would report the next one as a success).
Identity     after locking, the descriptor must still be the file at that path: a line appended to a file that was
             replaced meanwhile (a redaction, a sync program) would be lost.

Imported inside agents' hooks: os and fcntl only.
"""

import os

from eventlog.errors import NotStored
from eventlog.files import make_dirs, not_stored, sync_dir

try:
    import fcntl
except ImportError:  # Windows: filelock stands in, imported when a file is opened
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


def _seek_and_read(fd: int, size: int, offset: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, size)


_read_at = getattr(os, "pread", _seek_and_read)  # Windows has no pread
_sync = getattr(os, "fdatasync", os.fsync)


def path_of(log_dir: str, day: str) -> str:
    """Where events of that day are appended."""
    return f"{log_dir}/{day}.jsonl"


class DayFile:
    """A locked day file; entering waits for the lock, leaving unlocks and syncs what was appended.

    Raises NotStored whenever the lines cannot be promised to be on disk.
    """

    def __init__(self, log_dir: str, day: str, *, sync: bool = True) -> None:
        self.path = path_of(log_dir, day)
        self._dir = log_dir
        self._wants_sync = sync
        self._written = False

    def __enter__(self) -> "DayFile":
        try:
            self._fd, self._size = self._open()
        except OSError as error:
            raise not_stored(error, self.path) from error
        self._created = self._size == 0
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        try:
            self._unlock()
            if self._written and self._wants_sync:
                self._make_durable()
        finally:
            os.close(self._fd)

    def tail(self, size: int) -> bytes:
        """The last `size` bytes of the file, fewer where it is shorter."""
        start = max(0, self._size - size)
        chunks = []
        while start < self._size and (chunk := _read_at(self._fd, self._size - start, start)):
            chunks.append(chunk)
            start += len(chunk)
        return b"".join(chunks)

    def append(self, lines: bytes) -> None:
        """Write whole lines, all or none of them."""
        try:
            data = lines if self._ends_whole() else b"\n" + lines
            self._write(data)
        except OSError as error:
            self._cut_back()
            raise not_stored(error, self.path) from error
        except BaseException:
            self._cut_back()
            raise
        self._size += len(data)
        self._written = True

    def _write(self, data: bytes) -> None:
        """A short write is the kernel's way of announcing an error: the next one raises it."""
        done = 0
        while done < len(data):
            done += os.write(self._fd, data[done:] if done else data)

    def _cut_back(self) -> None:
        """Where even this fails, the next writer isolates the fragment."""
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            return

    def _ends_whole(self) -> bool:
        return self._size == 0 or self.tail(1) == b"\n"

    def _open(self) -> tuple[int, int]:
        """The locked descriptor, and the size of the file; an open descriptor left behind would hold the lock."""
        while True:
            fd = self._open_or_create()
            try:
                self._lock(fd)
                here = os.fstat(fd)
                if _is_at(here, self.path):
                    return fd, here.st_size
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    def _open_or_create(self) -> int:
        try:
            return os.open(self.path, _OPEN, 0o600)
        except FileNotFoundError:
            make_dirs(self._dir)
            return os.open(self.path, _OPEN, 0o600)

    def _lock(self, fd: int) -> None:
        if fcntl:
            fcntl.flock(fd, fcntl.LOCK_EX)
        else:
            from filelock import FileLock

            self._fallback = FileLock(self.path + ".lock")
            self._fallback.acquire()

    def _unlock(self) -> None:
        if fcntl:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        else:
            self._fallback.release()

    def _make_durable(self) -> None:
        try:
            _sync(self._fd)
            if self._created:
                sync_dir(self._dir)
        except OSError as error:
            raise NotStored(
                f"written, but not made durable: {error.strerror or error}",
                where=self.path,
                hint="check the disk; a power cut may lose these events",
            ) from error


def read_settled(path: str) -> bytes:
    """All bytes of a day file, read while no writer is in the middle of a line."""
    with open(path, "rb") as opened:
        if fcntl:
            fcntl.flock(opened, fcntl.LOCK_SH)
        return opened.read()


def _is_at(here: os.stat_result, path: str) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return (here.st_ino, here.st_dev) == (there.st_ino, there.st_dev)
