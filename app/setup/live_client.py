"""The program that asks a live process to answer a hook: compiled here, from `eventlog/hooks/live.c`.

It lies in the cache, for this kind of machine. Without a compiler there is none, and hooks are what they are without.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import eventlog
from eventlog.app.setup.install.install import InstallTarget
from eventlog.store import Store
from eventlog.store.files import MODE_PRIVATE, make_dirs

_SOURCE = Path(eventlog.__file__).parent / "hooks" / "live.c"
_STATIC, _DYNAMIC = ["-Os", "-s", "-static"], ["-Os", "-s"]  # the former starts in half the time
_PATIENCE = 30.0  # seconds


def make_client(target: InstallTarget) -> bool:
    """Compile the program where that can be done; returns whether it is there and runs.

    `CC` of the environment names the compiler; empty, none.
    """
    if sys.platform != "linux":
        return False
    compiler, client = shutil.which(target.environ.get("CC", "cc")), Path(target.store.live[1])
    if target.dry_run:
        return compiler is not None or client.exists()
    if compiler:
        with suppress(OSError, eventlog.NotStored):
            make_dirs(str(client.parent))
            _compile(compiler, client, target.environ.get("PATH", ""))
    return _runs(client)


def _compile(compiler: str, client: Path, path: str) -> None:
    """Compile the program, and replace the present one if it runs. Raises OSError."""
    new = client.with_name(f"{client.name}.{os.getpid()}")
    try:
        if any(_succeeds([compiler, *flags, "-o", str(new), str(_SOURCE)], path) for flags in (_STATIC, _DYNAMIC)):
            new.chmod(MODE_PRIVATE | 0o100)
            if _runs(new):
                new.replace(client)
    finally:
        new.unlink(missing_ok=True)


def _runs(client: Path) -> bool:
    """Check that the program becomes the next on its command line: the disk may forbid to run any."""
    return _succeeds([str(client), "/bin/sh", "-c", "exit 0"], "")


def _succeeds(command: list[str], path: str) -> bool:
    null = subprocess.DEVNULL
    with suppress(OSError, subprocess.TimeoutExpired):
        return not subprocess.call(command, stdin=null, stdout=null, stderr=null, env={"PATH": path}, timeout=_PATIENCE)
    return False


def server_of(store: Store) -> int | None:
    """Find the process that answers the hooks of a store; None without a process."""
    if sys.platform != "linux":
        return None
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.setblocking(False)  # a process that was stopped lets others wait
        at = Path(store.live[0])
        folder = os.open(at.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            client.connect(f"/proc/self/fd/{folder}/{at.name}")  # the path of a socket has 107 bytes at most
        finally:
            os.close(folder)
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process: int = struct.unpack("3i", credentials)[0]
        return process
    return None
