"""Answer the hooks of a store in a process that has loaded what they need: `hook.py --live STORE`.

`eventlog mcp` starts it and holds its standard input: it ends when that does. Hooks reach it at `cache/live/socket`,
through `eventlog/hooks/live.c`. It records one call after the other by the code of a hook, with the deadline,
directory, environment and payload of each; what needs more than recording is left to a fork, which ends with the call.

A call is refused that would be another one as a process of its own: of another user, sandbox, interpreter or release,
or with other variables that a program obeys before its first line. Its hook then runs as if nobody were here.
"""

import errno
import fcntl
import gc
import importlib
import os
import select
import socket
import struct
import sys
import time
from contextlib import contextmanager, suppress

from eventlog.fast import os as os_of_hooks
from eventlog.format.errors import EventLogError
from eventlog.hooks import background, deadline, hook_main
from eventlog.hooks.deadline import OutOfTime
from eventlog.hooks.prompts import interpreter
from eventlog.hosts.call import HookCall
from eventlog.store import Store, locks
from eventlog.store.dayfile import is_at
from eventlog.store.files import MODE_PRIVATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

_MAGIC = b"eventlog 1"  # another protocol has another number
_ACCEPTED, _REFUSED, _ANSWER = b".", b"!", b"="
_LARGEST = 160 << 10  # bytes of a request
_FDS = 2  # with a request: the payload, and the directory of the call
_STALE = 2.0  # seconds: the client has given up
_LOOK = 5.0  # seconds until it is looked again who answers the hooks of the store
_SAME_FOR = 0.5  # seconds for which the files of this release are taken to be as they were
_UTF8 = (b"", b"c", b"posix")  # locales in which Python reads UTF-8, beside those that say so
_FREE, _BOUNDS = b"NoNewPrivs:\t0", (b"Seccomp", b"Cap")  # in /proc/PID/status
_SPACES = tuple(space for space in ("mnt", "pid", "net", "user") if os.path.exists(f"/proc/self/ns/{space}"))
_PEERPIDFD = 77  # SO_PEERPIDFD, of Linux 6.5


if os_of_hooks is not os:
    raise ImportError("`os` must be loaded before any module of hooks: its environment is that of each call")


def main(argv: "list[str]") -> "NoReturn":
    """Answer the hooks of a store until standard input ends; of several such processes, one at a time."""
    gc.freeze()  # what is loaded stays
    gc.enable()
    store = Store(argv[1])
    process = _Process()
    try:
        while not _can_read(process.lifeline, 0):
            with suppress(EventLogError, OSError):
                if os.path.isdir(store.cache):  # it may be deleted: the next hook makes it
                    with locks.lock(store.lock("hook"), 0):
                        _LiveServer(store.live[0], process).serve()
            _can_read(process.lifeline, _LOOK)
    finally:
        os._exit(0)


def _can_read(fd: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class _InFork(BaseException):
    """Raised where a fork goes on with the call: no handler of errors catches it."""


class _LiveServer:
    """Answers the hooks of a store as long as its socket is at its place."""

    def __init__(self, path: str, process: "_Process") -> None:
        self._path = path
        self._process = process
        self._waiting: dict[int, tuple[socket.socket, float]] = {}  # connections without a request yet, since when
        self._forks: dict[int, int] = {}  # by the pipe that each holds until it ends
        self._loaded: set[str] = set()  # what forks had to load
        self._poll = select.poll()
        self._poll.register(process.lifeline, select.POLLIN)

    def serve(self) -> None:
        """Answer until the lifeline ends, or the socket is gone. Raises OSError."""
        with self._listen() as listener:
            here = os.stat(self._path)
            self._poll.register(listener, select.POLLIN)
            while is_at(here, self._path):
                for fd, _ in self._poll.poll(_LOOK * 1000):
                    if fd == self._process.lifeline:
                        os.unlink(self._path)
                        return
                    if fd == listener.fileno():
                        self._greet(listener)
                    elif fd in self._waiting:
                        self._take(*self._waiting.pop(fd))
                    else:
                        self._learn(fd)

    def _listen(self) -> socket.socket:
        """Make the socket, for this user only. Raises OSError."""
        folder, name = os.path.split(self._path)
        os.umask(0o077)
        os.makedirs(folder, exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        directory = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        os.umask(0o777 - MODE_PRIVATE)  # it is never any other than that
        try:
            listener.bind(f"/proc/self/fd/{directory}/{name}")  # the path of a socket has 107 bytes at most
        finally:
            os.close(directory)
            os.umask(0o077)
        listener.listen(128)
        return listener

    def _greet(self, listener: socket.socket) -> None:
        """Wait for the request of a client, which reads the payload meanwhile."""
        client, _ = listener.accept()
        self._waiting[client.fileno()] = client, time.monotonic()
        self._poll.register(client, select.POLLIN)

    def _take(self, client: socket.socket, since: float) -> None:
        """Answer a call, or refuse it; `since` when it was connected."""
        self._poll.unregister(client)
        fds: list[int] = []
        with client, suppress(OSError):
            try:
                rights = socket.CMSG_SPACE(_FDS * 4)
                message, data, _, _ = client.recvmsg(_LARGEST, rights, socket.MSG_CMSG_CLOEXEC)
                fds = [fd for _, _, numbers in data for fd in struct.unpack(f"{len(numbers) // 4}i", numbers)]
                call = _Call(message, fds, since)
                self._process.check(call, client)
            except (ValueError, LookupError):
                client.send(_REFUSED)
            else:
                client.send(_ACCEPTED)
                self._answer(call, client.fileno())
            finally:
                for fd in fds:
                    os.close(fd)

    def _answer(self, call: "_Call", client: int) -> None:
        """Answer a call as its hook would; a process that ran out of time begins again."""

        def in_fork(store: Store, hook_call: HookCall) -> str:
            self._fork(call)
            return hook_main.start_context(store, hook_call)

        with self._process.lent_to(call, client), suppress(Exception, OutOfTime, _InFork):
            deadline.start(call.began, self._process.begin_anew)
            hook_main.serve(call.words[4:], in_fork, _ANSWER)

    def _fork(self, call: "_Call") -> None:
        """Continue the call in a fork; raises _InFork in this process."""
        deadline.stop()
        reading, writing = os.pipe()
        if pid := os.fork():
            os.close(writing)
            self._forks[reading] = pid
            self._poll.register(reading, select.POLLIN)
            raise _InFork
        self._process.become_fork(writing, max(writing, *self._waiting, *self._forks, reading))
        deadline.start(call.began)
        deadline.set_stage(deadline.ANSWER)

    def _learn(self, fd: int) -> None:
        """Load the modules that an ended fork had to load: the next fork has them."""
        self._poll.unregister(fd)
        names = set(os.read(fd, 1 << 16).decode().split()) - self._loaded
        os.close(fd)
        os.waitpid(self._forks.pop(fd), 0)
        self._loaded |= names
        for name in names:
            with suppress(Exception):
                importlib.import_module(name)
        self._process.note_release()


class _Call:
    """A call of a hook as its client hands it over. Raises ValueError where it is none."""

    def __init__(self, message: bytes, fds: "list[int]", since: float) -> None:
        magic, numbers, *words = message.removesuffix(b"\0").split(b"\0")
        if magic != _MAGIC or len(fds) != _FDS:
            raise ValueError("no call of a hook")
        began, parent, count = numbers.split()
        self.began, self.parent = float(began) / 1e9, int(parent)
        self.words = list(map(os.fsdecode, words[: int(count)]))
        self.environ = dict(variable.split(b"=", 1) for variable in words[int(count) :] if b"=" in variable)
        self.payload, self.directory = fds
        self.since = since
        self.umask = 0o077


class _Process:
    """The answering process: its likeness to the process of a hook, and what it takes over for the time of a call."""

    def __init__(self) -> None:
        script = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hook.py")
        self.lifeline = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
        self._null = os.open(os.devnull, os.O_RDWR)
        self._command = [interpreter(), "-I", "-S", script]
        self._environ = dict(os.environb)
        _, self._state = _state_of("self")
        self._loaded: set[str] | None = None  # in a fork: the modules at its beginning
        self._release: dict[str, tuple[int, int, int]] = {}
        self._same_until = 0.0
        self.note_release()

    def check(self, call: _Call, client: socket.socket) -> None:
        """Note the umask of a call that may be answered here; raises ValueError, LookupError or OSError."""
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
        process, *user = struct.unpack("iII", credentials)
        umask, state = _state_of(str(process))
        call.umask = int(umask, 8)
        if (
            user != [os.geteuid(), os.getegid()]
            or call.words[: len(self._command)] != self._command
            or not 0 <= time.monotonic() - call.began < _STALE
            or time.monotonic() - call.since >= _STALE
            or _linked(call.environ) != _linked(self._environ)
            or not _reads_utf8(call.environ)
            or state != self._state
            or not self._is_same_release()
            or not _lives(client)
        ):
            raise ValueError("another process than a hook of this release")

    def note_release(self) -> None:
        """Note the files of modules that are loaded by now. Raises OSError."""
        for name, module in [*sys.modules.items()]:
            if _is_own_module(name) and (file := module.__file__) and file not in self._release:
                self._release[file] = _stamp(file)

    def _is_same_release(self) -> bool:
        if time.monotonic() < self._same_until:
            return True
        self._same_until = time.monotonic() + _SAME_FOR
        return all(_stamp(file) == stamp for file, stamp in self._release.items())

    @contextmanager
    def lent_to(self, call: _Call, client: int) -> "Iterator[None]":
        """Take over what a hook has of its caller; ends a fork."""
        try:
            os.dup2(call.payload, 0)
            os.dup2(client, 1)
            os.fchdir(call.directory)
            os.umask(call.umask)
            _take_environment(call.environ)
            background.called_by = call.parent
            yield
        finally:
            if self._loaded is not None:
                self._end_fork(self._loaded)
            deadline.stop()
            if deadline.rang:
                self.begin_anew()
            os.dup2(self._null, 0)
            os.dup2(self._null, 1)
            os.chdir("/")

    def begin_anew(self, _: int = 0) -> "NoReturn":
        """Execute the program again: a call that was interrupted may have left anything behind."""
        deadline.stop()
        os.dup2(self.lifeline, 0)
        os.dup2(self._null, 1)
        os.execve(self._command[0], [*self._command, *sys.argv[1:]], self._environ)  # noqa: S606

    def become_fork(self, pipe: int, highest: int) -> None:
        """Close what this process has of others' calls; its parent reads the end of the pipe."""
        gc.disable()
        self._loaded = set(sys.modules)
        os.dup2(pipe, 3, inheritable=False)
        os.closerange(4, highest + 1)

    def _end_fork(self, loaded: set[str]) -> "NoReturn":
        try:
            new = sys.modules.keys() - loaded
            os.write(
                3, " ".join(name for name in new if _is_own_module(name) or name in sys.stdlib_module_names).encode()
            )
        finally:
            os._exit(0)


def _is_own_module(name: str) -> bool:
    return name.partition(".")[0] == "eventlog"


def _stamp(file: str) -> "tuple[int, int, int]":
    found = os.stat(file)
    return found.st_ino, found.st_size, found.st_ctime_ns


def _state_of(process: str) -> "tuple[bytes, list[bytes | str]]":
    """Read the umask of a process; and its name spaces, filters and rights; raises OSError, LookupError or ValueError.

    A program in a sandbox gives up new rights for good. None may have a program run for it that has more than itself,
    be it the network or a capability.
    """
    with open(f"/proc/{process}/status", "rb", buffering=0) as file:
        status = file.read(1 << 13).splitlines()
    if _FREE not in status:
        raise ValueError("a process in a sandbox")
    umask = [line.split()[1] for line in status if line.startswith(b"Umask:")]
    spaces = [os.readlink(f"/proc/{process}/ns/{space}") for space in _SPACES]
    return umask[0], [*spaces, *(line for line in status if line.startswith(_BOUNDS))]


def _lives(client: socket.socket) -> bool:
    """Return whether the process that connected is alive: else its number, and all that was read by it, is another's.

    An older kernel cannot tell: there, the age of a connection alone bounds how many numbers were given out since.
    """
    try:
        process = client.getsockopt(socket.SOL_SOCKET, _PEERPIDFD)
    except OSError as error:
        return error.errno == errno.ENOPROTOOPT
    try:
        return not _can_read(process, 0)  # as a process can once it has ended
    finally:
        os.close(process)


def _linked(environ: "Mapping[bytes, bytes]") -> "dict[bytes, bytes]":
    """Choose the variables by which the libraries of a program are found."""
    return {name: value for name, value in environ.items() if name.startswith(b"LD_")}


def _reads_utf8(environ: "Mapping[bytes, bytes]") -> bool:
    """Return whether Python, started in this environment, would decode paths as UTF-8, as this process does."""
    chosen = (environ.get(name) for name in (b"LC_ALL", b"LC_CTYPE", b"LANG"))
    locale = next(filter(None, chosen), b"").lower()
    return sys.getfilesystemencoding() == "utf-8" and (locale in _UTF8 or locale.endswith((b"utf-8", b"utf8")))


def _take_environment(environ: "Mapping[bytes, bytes]") -> None:
    zone = os.environb.get(b"TZ")
    for name in os.environb.keys() - environ.keys():
        del os.environb[name]
    for name, value in environ.items():
        if os.environb.get(name) != value:
            os.environb[name] = value
    if environ.get(b"TZ") != zone:
        time.tzset()
