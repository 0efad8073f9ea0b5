"""The log's file of a day: the only code that writes the log.

Format       whole lines of JSON, `\\n` at the end of each; nothing ever edits a line.
Order        a writer holds an exclusive lock on the file itself, and takes the time of a live event under it.
Isolation    a writer that died mid-line leaves a fragment without `\\n` (`kill -9` tears even short writes, at page
             boundaries): the next writer puts `\\n` first, so the fragment costs only itself.
Atomicity    a short or failed write is cut back before the lock is released: all lines of a call, or none.
Durability   the names of the directories are synced before a file is made, its own before anything is written into
             it; what was written, by `fdatasync` after unlocking, so that the kernel commits waiting writers together.
             A failed sync is final: the kernel may take the pages for written and report the next sync as a success. So
             the lines are written once more, and not acknowledged: the sync of a retry has these to carry to the disk.
             "Already there" is an acknowledgement, too: `confirm` syncs what another writer may have died before
             syncing.
Identity     after locking, the descriptor must still be the file at that path: a line appended to a file that was
             replaced meanwhile (a redaction, a sync program) would be lost. Only a regular file is written, and none
             is made through a link that leads nowhere.
Announced    who writes into the file of a day that is over, or of another machine, touches the directory: who finds
             that as it was need not look at those files (`newest`; `eventlog/store/index_lookup.py: looked_at`).
Patience     a lock whose holder is stopped is given up.
Reuse        a caller that appends often keeps the descriptor: a stat of the path under the lock shows whether it is
             still the file. It need not be asked again while the directory is as it was then, for a file that is
             made, replaced or removed changes its time, which nobody can set. The size shows whether others wrote
             since. It serves one thread at a time, and no child of a fork: a lock belongs to the open file, which the
             two would share.

Imported inside agents' hooks: os, time and fcntl only.
"""

import time

import eventlog
from eventlog.fast import os
from eventlog.format.timestamps import newest_in, to_ms
from eventlog.store import files
from eventlog.store.files import check_regular, make_dirs, not_stored, open_regular, read_at, sync_dir, sync_names_of

try:
    import fcntl
except ImportError:  # Windows: filelock stands in, imported when a file is opened
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    Stamped = tuple[str, str, bytes]  # time, id and line of an event

_OPEN = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)  # a FIFO must not block
_ENDING = ".jsonl"
_NONE = -1  # no descriptor
_TWO_DAYS = 172_800  # seconds: to the end of the day after
_A_DAY = len("2026-02-20")  # a longer name is that of another machine's file
_TAIL = 8 << 10  # bytes in which the newest line is looked for
_YIELDS = 20  # times that others may go first, before a lock is waited for
_CREATE = os.O_CREAT | os.O_EXCL
_FROM_END = 2  # SEEK_END, which hooks would load the whole of `os` for
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0001, 0.002  # seconds between two looks at a lock; writers hold it for microseconds


_AT_ONCE, _RELEASE = (fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_UN) if fcntl else (0, 0)
_sync = getattr(os, "fdatasync", os.fsync)
_yield = getattr(os, "sched_yield", lambda: None)


_forks = 0  # of which this process is the last child; what was opened before is the parent's


def _in_child() -> None:
    global _forks  # noqa: PLW0603 - a process has one history
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def path_of(log_dir: str, day: str) -> str:
    """Name the file to which events of that day are appended."""
    return f"{log_dir}/{day}{_ENDING}"


class DayFile:
    """A locked day file; entering waits for the lock, leaving unlocks and syncs what was appended.

    Raises NotStored whenever the lines cannot be promised to be on disk, Busy where the lock is not to be had. One that
    is left without an error goes to `idle`, if that is a list, with its descriptor open, and can be entered again.
    """

    def __init__(self, log_dir: str, day: str, *, sync: bool = True, idle: "list[DayFile] | None" = None) -> None:
        self.path = path_of(log_dir, day)
        self.day = day
        self._over_at = to_ms(f"{day}T00:00:00.000") // 1000 + _TWO_DAYS if len(day) == _A_DAY else 0
        self.wants_sync = sync
        self._dir = log_dir
        self.idle = idle
        self._fd = _NONE
        self._forks = self._size = self._inode = self._device = self._saved_at = 0
        self._settled: tuple[int, int, int] | None = None  # the directory, as long as it has no other file at the path
        self._is_settled = False  # by the look at it under this lock
        self._newest, self._heard = "", 0  # when the newest event counts, of so many bytes
        self._confirmed = False
        self._whole = -1  # a size at which the file is known to end with a whole line

    def __enter__(self) -> "DayFile":
        self._written = b""
        self._confirmed = self._is_settled = False
        try:
            if self._fd == _NONE or not self._is_still_there():
                self._open()
        except OSError as error:
            raise not_stored(error, self.path) from error
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        try:
            self._unlock()
            if self.wants_sync and (self._written or self._confirmed):
                self._make_durable()
        except BaseException:
            self.close()
            raise
        idle, self.idle = self.idle, None
        if idle is None or kind or not fcntl:  # Windows replaces no file that is open
            self.close()
        else:
            idle.append(self)

    def close(self) -> None:
        """Let go of the descriptor; the lock is the parent's where that was opened before a fork."""
        fd, self._fd, self._whole, self._heard = self._fd, _NONE, -1, -1
        self._settled = None
        if fd != _NONE:
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def tail(self, size: int) -> bytes:
        """Read the last `size` bytes of the file, fewer where it is shorter."""
        start = max(0, self._size - size)
        chunks = []
        while start < self._size and (chunk := read_at(self._fd, self._size - start, start)):
            chunks.append(chunk)
            start += len(chunk)
        return b"".join(chunks)

    def last_pieces(self, limit: int) -> "Iterator[bytes]":
        """Read the lines that begin in the last bytes of the file, as `files.pieces` does."""
        return files.pieces(self._fd, max(0, self._size - limit))

    def newest(self, now: str) -> str:
        """Return the time at which the newest event of this day or a later one counts; "" for an empty log.

        Other files are read only where one is newer than this day's, or a clock was ahead of `now`. Raises NotStored.
        """
        try:
            if self._heard != self._size:
                size = _TAIL
                while not (found := newest_in(self.tail(size))) and size < self._size:
                    size *= 16
                self._newest, self._heard = found, self._size
            is_alone = self._is_settled or os.stat(self._dir).st_mtime_ns < self._saved_at
            if self._newest > now or not is_alone:
                return max(self._newest, self._newest_elsewhere())
        except OSError as error:
            raise not_stored(error, self.path) from error
        return self._newest

    def _newest_elsewhere(self) -> str:
        """Read the newest time of the last day and of the day before; "" without another file of this day or later."""
        names = [name for name in os.listdir(self._dir) if name.endswith(_ENDING) and name != self.day + _ENDING]
        last = max((name[:10] for name in names), default="")
        if last < self.day:
            return ""
        before = max((name[:10] for name in names if name < self.day), default="")
        return max(_newest_in_file(f"{self._dir}/{name}") for name in names if name[:10] in (last, before))

    def append(self, lines: bytes) -> None:
        """Write whole lines, all or none of them."""
        try:
            if self._size == 0 and self.wants_sync:
                sync_dir(self._dir)
            data = lines if self._size == self._whole or self._ends_whole() else b"\n" + lines
            done = os.write(self._fd, data)
            while done < len(data):  # by a short write the kernel announces an error: the next write raises it
                done += os.write(self._fd, data[done:])
        except BaseException as error:
            self._cut_back()
            if isinstance(error, OSError):
                raise not_stored(error, self.path) from error
            raise
        self._announce()
        if len(lines) <= _TAIL:  # after many, `newest` reads the end of the file again
            self._note(newest_in(lines), self._size, self._size + len(data))
        self._size += len(data)
        self._written += lines
        self._whole = self._size if lines.endswith(b"\n") else -1

    def _announce(self) -> None:
        """Touch the directory where the day is over; a reader who does not see that looks at all files a bit later."""
        try:
            if time.time() >= self._over_at:
                os.utime(self._dir)
        except OSError:  # the directory is somebody else's
            return

    def _note(self, newest: str, before: int, now: int) -> None:
        """Cache the newest time of appended lines, where that of the lines before them is known."""
        if self._heard == before:
            self._newest, self._heard = max(self._newest, newest), now

    def append_again(self, stamped: "Callable[[DayFile, bytes], Stamped | None]", rest: bytes) -> "Stamped | None":
        """Append through an open descriptor, the fast path: one lock, one stat, one write.

        `stamped` makes the line under the lock. Returns None, having written nothing, where the file is not as this
        object left it, but for lines that others added: the caller then enters, appends and leaves.
        """
        if self._whole <= 0 or self._forks != _forks:
            return None
        fd, line = self._fd, b""
        try:
            try:
                fcntl.flock(fd, _AT_ONCE)
            except BlockingIOError:
                self._lock(fd)
            if self._is_as_left():
                stamp = stamped(self, rest)
                line = stamp[2] if stamp and self._is_added(stamp[2], stamp[0]) else b""
            fcntl.flock(fd, _RELEASE)
            if line and self.wants_sync:
                self._written, self._confirmed = line, False
                self._make_durable()
        except FileNotFoundError:
            self.close()
            return None
        except OSError as error:
            self.close()
            raise not_stored(error, self.path) from error
        except BaseException:
            self.close()
            raise
        return stamp if line else None

    def _is_as_left(self) -> bool:
        """Return whether the locked file is still the one at its path, and as it was left but for lines of others.

        The directory is settled where its times are older than the last write to the file that the path named then:
        whatever happens in it later gives it another time of change. A link may lead elsewhere without that.
        """
        at_dir, size = os.stat(self._dir), os.lseek(self._fd, 0, _FROM_END)
        directory = at_dir.st_ctime_ns, at_dir.st_ino, at_dir.st_dev
        self._is_settled = directory == self._settled
        if not self._is_settled:
            at_path = os.lstat(self.path)
            if at_path.st_ino != self._inode or at_path.st_dev != self._device:
                return False
            size, self._saved_at = at_path.st_size, at_path.st_mtime_ns
            is_older = max(at_dir.st_mtime_ns, at_dir.st_ctime_ns) < min(at_path.st_mtime_ns, at_path.st_ctime_ns)
            self._settled = directory if is_older else None
        self._size = size
        if size < self._whole or (size > self._whole and read_at(self._fd, 1, size - 1) != b"\n"):
            return False
        self._whole = size
        return True

    def _is_added(self, line: bytes, ts: str) -> bool:
        """Write the line of an event where the file was left; False where it could not be: the file is as it was."""
        try:
            if os.write(self._fd, line) == len(line):
                self._announce()
                self._note(ts, self._whole, self._whole + len(line))
                self._whole += len(line)
                return True
        except OSError:
            pass
        self._size = self._whole
        self._cut_back()
        return False

    def confirm(self) -> None:
        """Make leaving sync what the file holds already, before an event is reported as stored."""
        self._confirmed = True
        if not self._ends_whole():
            self.append(b"")

    def _cut_back(self) -> None:
        """Cut the file back to its size before; where even this fails, the next writer isolates the fragment."""
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            return

    def _ends_whole(self) -> bool:
        return self._size in (0, self._whole) or self.tail(1) == b"\n"

    def _is_still_there(self) -> bool:
        """Lock the open descriptor again; close it and return False if the path names another file by now."""
        try:
            if self._forks == _forks:
                self._lock(self._fd)
                at_path = os.stat(self.path)
                if at_path.st_ino == self._inode and at_path.st_dev == self._device:
                    self._size, self._saved_at = at_path.st_size, at_path.st_mtime_ns
                    return True
        except FileNotFoundError:
            pass
        except BaseException:
            self.close()
            raise
        self.close()
        return False

    def _open(self) -> None:
        """Open and lock the file at that path; an open descriptor left behind would hold the lock."""
        fd = open_locked(self.path, None, self._open_or_create)
        try:
            if not fcntl:
                self._lock(fd)
            here = os.fstat(fd)
            check_regular(here)
        except BaseException:
            os.close(fd)
            raise
        self._fd, self._forks = fd, _forks
        self._size, self._whole, self._saved_at = here.st_size, -1, here.st_mtime_ns
        self._inode, self._device = here.st_ino, here.st_dev

    def _open_or_create(self, path: str) -> int:
        while True:
            try:
                return os.open(path, _OPEN)
            except FileNotFoundError:
                make_dirs(self._dir, durable=self.wants_sync)
            if self.wants_sync:
                sync_names_of(self._dir)
            try:
                return os.open(path, _OPEN | _CREATE, 0o600)
            except FileExistsError:  # someone was faster, or it is a link
                if os.path.islink(path) and not os.path.exists(path):
                    raise OSError(0, "a link that leads nowhere") from None

    def _lock(self, fd: int) -> None:
        if fcntl:
            wait_for(fd, fcntl.LOCK_EX, self.path)
        else:
            from filelock import FileLock, Timeout

            self._fallback = FileLock(self.path + ".lock")
            try:
                self._fallback.acquire(timeout=files.PATIENCE)
            except Timeout as error:
                raise files.busy(self.path) from error

    def _unlock(self) -> None:
        if fcntl:
            fcntl.flock(self._fd, _RELEASE)
        else:
            self._fallback.release()

    def _make_durable(self) -> None:
        try:
            _sync(self._fd)
            if self._confirmed:
                sync_dir(self._dir)
        except OSError as error:
            from eventlog.format.errors import system_reason

            if self._written:
                self._write_once_more()
            what = f"{'written' if self._written else 'there'}, but not made durable: {system_reason(error)[0]}"
            hint = "check the disk; a power cut may lose these events"
            raise eventlog.NotStored(what, where=self.path, hint=hint) from error

    def _write_once_more(self) -> None:
        """Write the unsynced lines once more, so that a retry has pages to sync; equal lines are one event."""
        try:
            with DayFile(self._dir, os.path.basename(self.path).removesuffix(_ENDING), sync=False) as file:
                file.append(self._written)
        except eventlog.NotStored:
            return


def _newest_in_file(path: str) -> str:
    try:
        return newest_in(files.read_regular(path, start=-_TAIL))
    except OSError:  # nothing to be found in it
        return ""


def read_settled(path: str) -> bytes:
    """Read all bytes of a day file while no writer is in the middle of a line."""
    with os.fdopen(open_regular(path), "rb") as opened:
        if fcntl:
            wait_for(opened.fileno(), fcntl.LOCK_SH, path)
        return opened.read()


def wait_for(fd: int, kind: int, path: str, patience: float | None = None) -> None:
    """Lock a file, within so many seconds: the kernel would wait for ever for a holder that is stopped. Raises Busy."""
    pause, given_up_at, yields = _FIRST_PAUSE, 0.0, _YIELDS
    while True:
        try:
            return fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            now = time.monotonic()
        if yields:
            yields -= 1
            _yield()
            continue
        given_up_at = given_up_at or now + (files.PATIENCE if patience is None else patience)
        if now > given_up_at:
            raise files.busy(path, patience)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def open_locked(path: str, patience: float | None, open_file: "Callable[[str], int]") -> int:
    """Open the file at a path, and lock it, within so many seconds; raises OSError, or Busy."""
    while True:
        fd = open_file(path)
        try:
            if fcntl:
                wait_for(fd, fcntl.LOCK_EX, path, patience)
            if is_at(os.fstat(fd), path):  # not one that was removed or replaced meanwhile
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def is_at(here: os.stat_result, path: str) -> bool:
    """Return whether an open file is still the file at that path."""
    try:
        at_path = os.stat(path)
    except FileNotFoundError:
        return False
    return (here.st_ino, here.st_dev) == (at_path.st_ino, at_path.st_dev)
