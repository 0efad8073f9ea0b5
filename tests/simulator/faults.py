"""What happens to a process: it is killed before any of its writes, or the disk is full."""

import errno
import os
import sys
from contextlib import contextmanager
from unittest import mock

from eventlog.store import dayfile

KILLED = 137
_WRITES = ("open", "mkdir", "write", "replace", "rename", "link", "unlink", "rmdir", "ftruncate", "truncate")


def killed(work, number):
    """Run `work` in a child that dies before its `number`-th write; the exit code, that of `work` or KILLED.

    Of the write at which it dies half of the bytes arrive.
    """
    child = os.fork()
    if child == 0:
        code = KILLED + 1
        try:
            _die_before(number)
            code = work()
        except BaseException as error:  # noqa: BLE001 - the parent is told
            if not isinstance(error, SystemExit):
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die_before(number):
    left = iter(range(number))
    write = os.write

    def deadly(name):
        real = getattr(os, name)

        def call(*args, **options):
            if name == "open" and not args[1] & (os.O_CREAT | os.O_TRUNC):
                return real(*args, **options)
            if next(left, None) is None:
                if name == "write" and len(args[1]) > 1:
                    write(args[0], args[1][: len(args[1]) // 2])
                os._exit(KILLED)
            return real(*args, **options)

        return call

    def opened(event, args):
        if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+") and next(left, None) is None:
            os._exit(KILLED)

    for name in _WRITES:
        setattr(os, name, deadly(name))
    sys.addaudithook(opened)


@contextmanager
def full_disk(room):
    """Let the disk take `room` more bytes."""
    write = os.write

    def limited(fd, data):
        nonlocal room
        if room <= 0 and len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(fd, data[:room])
        room -= written
        return written

    with mock.patch.object(os, "write", limited):
        yield


@contextmanager
def no_syncs():
    """Syncs cost time and prove nothing where only processes die."""

    def nothing(_):
        """Sync nothing."""

    with (
        mock.patch.object(os, "fsync", nothing),
        mock.patch.object(os, "fdatasync", nothing),
        mock.patch.object(dayfile, "_sync", nothing),
    ):
        yield
