"""`install` makes what asks a live process, where it can; the command in a host's file works whatever is there."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from eventlog.app.setup.install.hook_entries import commands_in
from eventlog.app.setup.live_client import server_of
from eventlog.hooks.command import HookCommand, command
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.hook_calls import events_of
from tests.support.host_calls import alone
from tests.support.payloads import claude, data
from tests.support.tree import PACKAGE

STATUS = Path("/proc/self/status")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (STATUS.exists() and "NoNewPrivs:\t0" in STATUS.read_text() and shutil.which("cc")),
        reason="compiled, on Linux, in no sandbox",
    ),
]
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]
TOLD = data(claude("PostToolUse", tool_name="Bash", tool_use_id="t-1"))
LONG = 60  # seconds
PLACES = os.environ["PATH"]  # before a test takes them away


@pytest.fixture
def with_compiler(monkeypatch):
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{PLACES}")
    monkeypatch.setenv("CC", "cc")


def commands(path):
    return dict(commands_in(json.loads(path.read_text())))


def test_installing_makes_the_client_and_uninstalling_gives_back_every_byte(home, with_compiler):
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(b'{\n  "model": "x"\n}\n')
    dry = call("install", "claude", "--dry-run")
    done = [call("install", "claude") for _ in range(2)]
    found = commands(path)
    doctor = call("doctor", "--json")
    removed = call("uninstall", "claude")

    assert [0, 0, 0, 0] == [run.code for run in (dry, *done, removed)]
    assert "unchanged" in done[1].out
    assert all(HookCommand(text).is_live for text in found.values())
    assert 0 == next(agent for agent in json.loads(doctor.out)["agents"] if agent["agent"] == "claude")["live"]
    assert b'{\n  "model": "x"\n}\n' == path.read_bytes()


def test_without_the_tools_or_a_compiler_the_command_is_what_it_was(home, with_compiler, monkeypatch):
    path = home / ".claude" / "settings.json"
    with monkeypatch.context() as patch:
        patch.setenv("CC", "")
        call("install", "claude")
    plain = commands(path)
    call("install", "claude", "--no-mcp")
    without_tools = commands(path)
    call("install", "claude")
    asking = commands(path)
    call("install", "claude", "--no-mcp")

    assert all(HookCommand(text).is_live for text in asking.values())
    assert (
        plain
        == without_tools
        == commands(path)
        == {event: HookCommand(text).without_client for event, text in asking.items()}
    )
    assert not any(HookCommand(text).is_live for text in plain.values())


def test_doctor_names_a_client_that_is_gone_and_finds_nothing_else_wrong(home, with_compiler):
    call("install", "claude")
    before = call("doctor")
    shutil.rmtree(home / ".eventlog" / "cache")
    after = call("doctor")

    assert "is gone" not in before.out
    assert "answered live" not in before.out
    assert "is gone: each hook starts Python" in after.out
    assert "another installation" not in after.out


# ------------------------------------------------------------------------------------------------ the command


@pytest.fixture
def store(tmp_path):
    return Store(str(alone(tmp_path / "a store")))


def test_the_command_is_recognised_like_every_other(store, tmp_path):
    texts = (command("claude", "Stop", store, "/home/ada", shared=True, live=live) for live in (False, True))
    plain, asking = map(HookCommand, texts)

    assert plain == plain.without_client == asking.without_client
    assert (True, True, True) == (asking.is_own, asking.is_shared, asking.is_live)
    assert [] == asking.missing_files
    assert not plain.is_live


CLIENTS = {"missing": None, "of another machine": b"\x7fELF nonsense", "failing": b"#!/bin/sh\nexit 3\n"}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_that_cannot_run_costs_no_event(store, client, shell):
    """The socket is there: the command tries the client, then goes on without."""
    for path, content in zip(store.live, (b"", CLIENTS[client]), strict=True):
        Path(path).parent.mkdir(exist_ok=True, parents=True)
        if content is not None:
            Path(path).write_bytes(content)
            Path(path).chmod(0o700)
    text = command("claude", "PostToolUse", store, "/home/ada", live=True).replace("test -S", "test -e")
    done = subprocess.run([shell, "-c", text], input=TOLD, capture_output=True, check=False)

    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)
    assert ["host_event"] == [event.type for event in events_of(store)]


def test_the_mcp_server_brings_a_live_process_and_takes_it_along(home, with_compiler):
    call("install", "claude")
    store = Store(str(home / ".eventlog"))
    server = [sys.executable, "-I", "-S", str(PACKAGE / "cli" / "mcp" / "start.py"), "--store", store.root]
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        _wait(lambda: server_of(store))
        live = server_of(store)
        doctor = call("doctor")
        text = commands(home / ".claude" / "settings.json")["Stop"]
        subprocess.run(["sh", "-c", text], input=TOLD, check=True)
        running.communicate()
    _wait(lambda: not server_of(store))

    assert f"answered live by process {live}" in doctor.out
    assert ["host_event"] == [event.type for event in events_of(store)]


def test_a_process_that_was_stopped_delays_nobody_who_asks_for_it(home, monkeypatch):
    store = Store(str(home / ".eventlog"))
    at = Path(store.live[0])
    at.parent.mkdir(parents=True)
    monkeypatch.chdir(at.parent)
    with ExitStack() as sockets:
        listener, *clients = (
            sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) for _ in "1234"
        )
        listener.bind(at.name)
        listener.listen(0)
        with suppress(BlockingIOError):
            for client in clients:
                client.setblocking(False)
                client.connect(at.name)

        assert server_of(store) is None


def test_without_a_client_the_mcp_server_starts_nothing(home):
    store = Store(str(home / ".eventlog"))
    Path(store.cache).mkdir(parents=True)
    server = [sys.executable, "-I", "-S", str(PACKAGE / "cli" / "mcp" / "start.py"), "--store", store.root]
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        running.stdin.flush()
        running.stdout.readline()
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text()
        running.communicate()

    assert "" == children
    assert [] == list(Path(store.cache).iterdir())


def _wait(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
