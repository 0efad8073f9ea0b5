"""A shell whose `eventlog` is answered by this process: what a command costs is its work, not the start of a program.

Whatever else a line has (pipes, files, other programs) is the shell's. A hook and a server read the descriptors of
their process: they get one of their own.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from tests.support.command_line import Ran, call

_ASKS = """\
import json, os, socket, sys
given = sys.stdin.buffer.read().decode("latin-1")
asked = {"args": sys.argv[2:], "cwd": os.getcwd(), "environ": dict(os.environ), "stdin": given}
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    server.sendall(json.dumps(asked).encode())
    server.shutdown(socket.SHUT_WR)
    code, out, err = json.loads(b"".join(iter(lambda: server.recv(65536), b"")))
for stream, said in (sys.stdout, out), (sys.stderr, err):
    stream.buffer.write(said.encode())
    stream.flush()
sys.exit(code)
"""
_EVENTLOG = """\
#!/bin/sh
case "$1" in hook|mcp) exec {python} -m eventlog "$@" ;; esac
exec {python} -I -S {client} {server} "$@"
"""
Answer = Callable[..., Ran]


class QuickShell:
    """A shell in a directory, with an environment; `answer` is what `eventlog ARGS` comes to."""

    def __init__(self, place: Path, environ: Mapping[str, str], answer: Answer = call) -> None:
        self._answer = answer
        self._environ = environ
        self.cwd = place
        self._scratch = tempfile.TemporaryDirectory(prefix="eventlog-")  # short: so is the name of a socket
        scratch = Path(self._scratch.name)
        (scratch / "client.py").write_text(_ASKS)
        names = {"python": sys.executable, "client": scratch / "client.py", "server": scratch / "server"}
        self.put("eventlog", _EVENTLOG.format(**names))
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(scratch / "server"))
        self._server.listen()

    def put(self, name: str, script: str) -> None:
        """Have a program of that name."""
        program = Path(self._scratch.name) / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(script)
        program.chmod(0o755)

    def close(self) -> None:
        """Leave nothing behind."""
        self._server.close()
        self._scratch.cleanup()

    @contextmanager
    def answering(self, answer: Answer) -> Iterator[None]:
        """Let `eventlog ARGS` come to something else for a while."""
        before, self._answer = self._answer, answer
        try:
            yield
        finally:
            self._answer = before

    def run(self, command: str) -> Ran:
        """What a line comes to."""
        path = f"{self._scratch.name}/bin{os.pathsep}{os.environ['PATH']}"
        environ = {**self._environ, "PATH": path}
        shell = subprocess.Popen(
            ["sh", "-c", command],
            cwd=self.cwd, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        with shell:
            out, err = self._attend(shell)
        return Ran(shell.returncode, out.decode(), err.decode())

    def _attend(self, shell: "subprocess.Popen[bytes]") -> list[bytes]:
        """Answer whoever asks, until the shell and all it has started say no more."""
        assert shell.stdout
        assert shell.stderr
        said = {shell.stdout.fileno(): b"", shell.stderr.fileno(): b""}
        with selectors.DefaultSelector() as ready:
            for fd in (*said, self._server.fileno()):
                ready.register(fd, selectors.EVENT_READ)
            while len(ready.get_map()) > 1:
                for found, _ in ready.select():
                    if found.fd == self._server.fileno():
                        self._serve()
                    elif chunk := os.read(found.fd, 1 << 16):
                        said[found.fd] += chunk
                    else:
                        ready.unregister(found.fd)
        return list(said.values())

    def _serve(self) -> None:
        with self._server.accept()[0] as client:
            asked = json.loads(b"".join(iter(lambda: client.recv(1 << 16), b"")))
            here, mask = Path.cwd(), os.umask(0o022)
            os.chdir(asked["cwd"])
            try:
                with mock.patch.dict(os.environ, asked["environ"], clear=True):
                    ran = self._answer(*asked["args"], stdin=asked["stdin"].encode("latin-1"))
            finally:
                os.chdir(here)
                os.umask(mask)
            client.sendall(json.dumps(ran).encode())
