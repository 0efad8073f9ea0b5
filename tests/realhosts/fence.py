"""Namespaces of its own for every scenario: only a loopback, its own mounts, and no process that outlives it."""

import fcntl
import shutil
import socket
import struct
import subprocess

_UP, _SET_FLAGS = 0x1 | 0x40, 0x8914  # IFF_UP | IFF_RUNNING, SIOCSIFFLAGS: linux/if.h, linux/sockios.h
_APART = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def find() -> tuple[list[str], str]:
    """The command that puts another behind the fence, and why there is none ("": there is one)."""
    if not shutil.which("unshare"):
        return [], "no unshare on this machine"
    for command in (["unshare", *_APART], ["unshare", "--map-root-user", *_APART]):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command, ""
    return [], "this system grants us no namespace"


def raise_loopback() -> None:
    """Bring up the loopback of a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
