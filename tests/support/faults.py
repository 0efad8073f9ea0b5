"""What happens to a process: it is killed before any of its writes, a call fails, or the disk is full."""

import ctypes
import errno
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple
from unittest import mock

from eventlog.store import dayfile, shared_files

KILLED = 137
_CRASHED = KILLED + 1
_WRITES = ("open", "mkdir", "write", "replace", "rename", "link", "unlink", "rmdir", "ftruncate", "truncate", "fsync")
_ELSEWHERE = ((dayfile, "_sync"), (shared_files, "_exchange"), (shared_files, "_sync_file_system"))
_TO_WRITE = os.O_CREAT | os.O_TRUNC


class Ended(NamedTuple):
    """The exit code of what ran in the child, and how many calls it made that write; 0 where it was killed."""

    code: int
    calls: int


def killed(work, number):
    """Run `work` in a child that dies before its `number`-th call that writes; the exit code, that of `work` or KILLED.

    Of the write at which it dies half of the bytes arrive. Between two such calls a kill leaves the same files.
    """

    def at(call, name, args):
        if call == number:
            if name == "write" and len(args[1]) > 1:
                _write(args[0], args[1][: len(args[1]) // 2])
            os._exit(KILLED)

    return _in_child(work, at).code


def failing(work, number, error):
    """Run `work` in a child whose `number`-th call that writes fails once with that error."""

    def at(call, name, _):
        if call == number:
            raise OSError(error, os.strerror(error), name)

    return _in_child(work, at)


def counted(work):
    """Run `work` in a child, and count its calls that write."""
    return _in_child(work, lambda *_: None)


_write = os.write


def _in_child(work, at):
    """Fork, and call `at` with number, name and arguments before every call that writes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = _CRASHED
        calls = iter(range(10**9))
        try:
            _intercept(lambda name, args: at(next(calls), name, args))
            code = work()
        except BaseException as raised:  # noqa: BLE001 - the parent is told
            if not isinstance(raised, SystemExit):
                _write(2, f"{type(raised).__name__}: {raised}\n".encode())
        _write(writing, str(next(calls)).encode())
        os._exit(code)
    os.close(writing)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(reading, "rb") as ended:
        return Ended(code, int(ended.read() or 0))


def _intercept(seen):
    def around(real, name):
        def call(*args, **options):
            if name != "open" or args[1] & _TO_WRITE:
                seen(name, args)
            return real(*args, **options)

        return call

    def opened(event, args):
        if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
            seen("open", args)

    for name in _WRITES:
        setattr(os, name, around(getattr(os, name), name))
    for module, name in _ELSEWHERE:
        setattr(module, name, around(getattr(module, name), name))
    sys.addaudithook(opened)


@cache
def can_trace():
    """Tell whether `in_database` works here: strace is there, and may look into a child."""
    try:
        return in_database(lambda: 0).code == 0
    except (OSError, AttributeError):
        return False


def in_database(work, number=0, fault=""):
    """Run `work` in a child that dies in the `number`-th write of SQLite, or in which this fails with that error.

    Python writes by another system call. Without a number, nothing happens; the writes are counted.
    """
    happens = [] if not number else ["-e", f"inject=pwrite64:{fault}:when={number}"]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = _CRASHED
        try:
            ctypes.CDLL(None).prctl(_MAY_BE_TRACED, ctypes.c_ulong(-1), 0, 0, 0)
            if os.read(reading, 1):
                code = work()
        finally:
            os._exit(code)
    os.close(reading)
    args = ["strace", "-f", "-e", "trace=pwrite64", *happens, "-p", str(child)]
    with subprocess.Popen(args, stderr=subprocess.PIPE) as strace:
        assert strace.stderr
        is_attached = b" attached" in strace.stderr.readline()
        os.write(writing, b"x" * is_attached)
        os.close(writing)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        calls = strace.stderr.read().count(b"pwrite64(")
    return Ended(KILLED if code == -signal.SIGKILL else code, calls)


_MAY_BE_TRACED = 0x59616D61  # PR_SET_PTRACER


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
