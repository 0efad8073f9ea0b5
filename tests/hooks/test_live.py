"""A live process answers the hooks of a store as each would in a process of its own, and a hook that it fails runs itself."""

import ctypes
import fcntl
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eventlog.format.codec import to_fields
from eventlog.hooks import background, live
from eventlog.store import Store
from tests.support import effort, hook_calls, payloads
from tests.support.hook_calls import HOOK, STEPS, errors_of, events_of
from tests.support.host_calls import alone
from tests.support.payloads import MOMENTS, claude, data
from tests.support.tree import IMPORT_PATH, PACKAGE

STATUS = Path("/proc/self/status")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (STATUS.exists() and "NoNewPrivs:\t0" in STATUS.read_text() and shutil.which("cc")),
        reason="asked by a program in C, on Linux, in no sandbox",
    ),
]
REAL = [sys.executable, "-I", "-S", str(PACKAGE / "hook.py")]
LONG = 60  # seconds; this only bounds a test


def tool(number):
    return claude("PostToolUse", tool_name="Bash", tool_use_id=f"t-{number}")


def keyless(number):
    """A call without an id of its host's."""
    return claude("Notification", message=f"number {number}")


def compiled(directory, patience):
    """The program that asks, with so many milliseconds of patience."""
    path, source = directory / f"hook-{patience}", PACKAGE / "hooks" / "live.c"
    flags = ["-Os", "-Wall", "-Wextra", "-Werror", f"-DPATIENCE={patience}"]
    subprocess.run(["cc", *flags, "-o", path, source], check=True, timeout=LONG)
    return str(path)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("client"), 40_000)


@pytest.fixture
def store(tmp_path):
    return alone(tmp_path / "store")


# the live process, which looks around more often, and is as patient as the hooks of these tests
SERVER = """
import sys
sys.path.insert(0, {root!r})
from eventlog.hooks import live
from eventlog.hooks import deadline
live._LOOK = 0.02
live._STALE = deadline.BUDGET = 3600
for step in {steps!r}:
    setattr(deadline, step, 3600)
deadline.LOCK = {lock}
def check(process, call, client, check=live._Process.check):
    if call.words[:len({hook!r})] == {hook!r}:
        call.words[:len({hook!r})] = process._command
    check(process, call, client)
live._Process.check = check
live.main(sys.argv[1:])
"""


def live_command(store, lock=3600):
    code = SERVER.format(root=IMPORT_PATH, steps=STEPS, hook=HOOK, lock=lock)
    return [sys.executable, "-I", "-S", "-c", code, "--live", str(store)]


class Server:
    """A live process of a store, which lives as long as this one wants."""

    def __init__(self, store, **options):
        self.socket = Path(Store(str(store)).live[0])
        reading, self._lifeline = os.pipe()
        null = subprocess.DEVNULL
        command = live_command(store, **options)
        self.process = subprocess.Popen(command, stdin=reading, stdout=null, stderr=null)
        os.close(reading)
        self.wait(self.socket.exists)

    def wait(self, condition):
        end = time.monotonic() + LONG
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.005)

    def has_open(self, file):
        return any(fd.samefile(file) for fd in Path(f"/proc/{self.process.pid}/fd").iterdir() if fd.exists())

    def end(self):
        os.close(self._lifeline)
        self.process.wait(LONG)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.end()


@contextmanager
def serving(store, **options):
    server = Server(store, **options)
    try:
        yield server
    finally:
        if server.process.returncode is None:
            server.end()


def ask(client, store, payload, *argv, hook=HOOK, **options):
    """What a hook that asks first prints, whoever answers it."""
    sent = payload if isinstance(payload, bytes) else data(payload)
    words = [client, *hook, *argv, *(["--store", str(store)] if store else [])]
    return subprocess.run(words, input=sent, capture_output=True, timeout=LONG, check=False, **options)


def _poor():
    """Leave the program that asks too little memory to become Python."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 20,) * 2)


def is_served(client, store, payload, *argv, **options):
    """Whether the live process answers."""
    return ask(client, store, payload, *argv, preexec_fn=_poor, **options).returncode == 0


def answer(client, store, payload, *argv, **options):
    """The answer of the live process."""
    done = ask(client, store, payload, *argv, preexec_fn=_poor, **options)
    assert (0, b"") == (done.returncode, done.stderr)
    return done.stdout


def tools_in(store):
    return [event.payload["tool_use_id"] for event in events_of(store)]


# ------------------------------------------------------------------------------------------------ the same as without

EVERY = {name: payload for name, (payload, _, _) in MOMENTS.items()}
EVERY |= {path.name: json.loads(path.read_bytes()) for path in payloads.captured()[:: effort.stride(3)]}
IDS = ("session_id", "sessionId", "conversation_id")


def each_in_a_session_of_its_own():
    """Every payload, as bytes: a call that comes again soon is none, and how soon it comes depends on the machine."""
    for number, (name, payload) in enumerate(EVERY.items()):
        yield name, data({**payload, **{field: f"s-{number}" for field in IDS if field in payload}})


def test_every_call_is_answered_and_recorded_as_without_a_server(client, tmp_path):
    plain, served = alone(tmp_path / "plain"), alone(tmp_path / "there")
    sent = dict(each_in_a_session_of_its_own())
    expected = {name: hook_calls.tell(plain, call) for name, call in sent.items()}
    with serving(served):
        answered = {name: answer(client, served, call) for name, call in sent.items()}

    assert {name: _comparable(text, plain) for name, text in expected.items()} == {
        name: _comparable(text, served) for name, text in answered.items()
    }
    assert [] == errors_of(served)
    assert [told(event) for event in events_of(plain)] == [told(event) for event in events_of(served)]


def _comparable(text, store):
    """An answer without the place of the store, the time of day, and the word that ends its fence."""
    return re.sub(rb"\d\d:\d\d|(data|with) [0-9a-f]{8}", b"", text.replace(bytes(store), b"STORE"))


def told(event):
    """An event without what differs from store to store, and from moment to moment."""
    return {name: value for name, value in to_fields(event).items() if name not in ("id", "ts", "after", "replica")}


def test_a_call_is_over_when_its_event_is_on_the_disk(client, store):
    with serving(store):
        for number in range(20):
            assert b"" == answer(client, store, tool(number))
            assert f"t-{number}" == tools_in(store)[-1]


def test_nothing_is_left_of_a_call_in_the_next(client, store, tmp_path):
    """The directory, the environment and what a call was told to write are its own."""
    places = [tmp_path / name for name in ("a", "b", "c")]
    with serving(store):
        for number, place in enumerate(places):
            (place / ".git").mkdir(parents=True)
            environ = {"HOME": str(place), "EVENTLOG_DISABLED": "1" if number == 1 else ""}
            answer(client, store, keyless(number) | {"cwd": ""}, "--agent", "claude", cwd=place, env=environ)

    assert [str(places[0]), str(places[2])] == [event.project for event in events_of(store)]


def test_what_it_starts_in_the_background_is_no_child_of_it(tmp_path, monkeypatch):
    """Copilot and OpenCode kill, when they end, all that their MCP server has started."""
    started = tmp_path / "started"
    code = f"import os; from pathlib import Path; Path({str(started)!r}).write_text(str(os.getppid()))"
    monkeypatch.setattr(background, "_PAUSE", 0)
    monkeypatch.setattr(background, "called_by", 1)

    background._start([sys.executable, "-I", "-S", "-c", code])
    end = time.monotonic() + LONG
    while not (started.exists() and started.read_text()) and time.monotonic() < end:
        time.sleep(0.005)

    assert int(started.read_text()) != os.getpid()


def test_two_stores_have_two_servers(client, tmp_path):
    stores = [alone(tmp_path / name) for name in ("one", "two")]
    with serving(stores[0]), serving(stores[1]):
        for number, store in enumerate([*stores, stores[0]]):
            answer(client, store, tool(number))

    assert [["t-0", "t-2"], ["t-1"]] == [tools_in(store) for store in stores]


def test_the_environment_names_the_store(client, tmp_path):
    at_home, moved = alone(tmp_path / ".eventlog"), alone(tmp_path / "moved")
    with serving(at_home), serving(moved):
        for number, environ in enumerate(({}, {"EVENTLOG_HOME": "moved"}, {"EVENTLOG_HOME": str(moved)})):
            answer(client, None, tool(number), env={"HOME": str(tmp_path), **environ})

    assert [["t-0"], ["t-1", "t-2"]] == [tools_in(store) for store in (at_home, moved)]


def test_calls_at_once_are_all_recorded_once(client, store):
    with serving(store), ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: ask(client, store, tool(number // 2)), range(32)))  # each is sent twice

    assert {(0, b"", b"")} == {(call.returncode, call.stdout, call.stderr) for call in done}
    assert {f"t-{number}" for number in range(16)} == set(tools_in(store))
    assert 16 == len(tools_in(store))


def test_a_large_payload_and_a_store_with_a_long_path(client, tmp_path):
    store = alone(tmp_path / ("deep" * 30) / ("deeper" * 20))
    with serving(store):
        answer(client, store, tool(1) | {"tool_response": "x" * (3 << 20)})

    assert ["t-1"] == tools_in(store)


# ------------------------------------------------------------------------------------------------ nobody answers


@pytest.mark.parametrize("socket_is", ["missing", "stale", "a file"])
def test_without_a_server_the_client_becomes_the_hook_before_it_reads_anything(client, store, socket_is):
    path = Path(Store(str(store)).live[0])
    path.parent.mkdir(parents=True)
    if socket_is == "stale":
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
            left.bind(str(path))
    if socket_is == "a file":
        path.touch()
    script = "import os, sys; print(sys.argv[1:], os.environb, os.getcwd()); os.write(1, os.read(0, 1 << 20))"
    hook, environ = [sys.executable, "-I", "-S", "-c", script], {"HOME": "/x", "LANG": "C.UTF-8"}
    options: dict[str, Any] = {"input": b"what the host sends", "capture_output": True, "env": environ, "cwd": "/"}

    words = [*hook, "--agent", "claude", "--store", str(store)]
    plain, asked = (subprocess.run([*first, *words], check=False, **options) for first in ([], [client]))
    assert plain.stdout == asked.stdout != b""


def test_a_server_that_does_not_move_is_waited_for_only_briefly(client, store, tmp_path):
    with serving(store) as server:
        answer(client, store, tool(0))
        server.process.send_signal(signal.SIGSTOP)
        assert 0 == ask(compiled(tmp_path, 10), store, tool(1)).returncode
        assert ["t-0", "t-1"] == tools_in(store)
        server.process.send_signal(signal.SIGCONT)
        answer(client, store, tool(2))

    assert ["t-0", "t-1", "t-2"] == tools_in(store)


def test_a_server_that_is_stopped_with_a_call_is_not_waited_for_and_records_nothing_twice(client, store):
    with serving(store) as server, ThreadPoolExecutor(1) as pool:
        answer(client, store, tool(0))
        (day,) = Path(store, "log").iterdir()
        with day.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            done = pool.submit(ask, client, store, tool(1))
            server.wait(lambda: server.has_open(day))
            server.process.send_signal(signal.SIGSTOP)
        assert 0 == done.result(LONG).returncode
        assert ["t-0", "t-1"] == tools_in(store)
        server.process.send_signal(signal.SIGCONT)
        answer(client, store, tool(2))

    assert ["t-0", "t-1", "t-2"] == tools_in(store)


def test_a_server_ends_with_who_started_it_and_the_next_takes_over(client, store, monkeypatch):
    with serving(store) as first:
        answer(client, store, tool(0))
        second = subprocess.Popen(live_command(store), stdin=subprocess.PIPE)
        first.end()
    assert not first.socket.exists()
    first.wait(first.socket.exists)
    answer(client, store, tool(1))
    second.communicate()

    assert not first.socket.exists()
    assert ["t-0", "t-1"] == tools_in(store)


def test_a_server_whose_cache_was_deleted_answers_again_at_the_new_place(client, store):
    with serving(store) as server:
        shutil.rmtree(Path(store, "cache"))
        assert 0 == ask(client, store, tool(0)).returncode
        server.wait(server.socket.exists)
        answer(client, store, tool(1))

    assert ["t-0", "t-1"] == tools_in(store)


# ------------------------------------------------------------------------------------------------ killed, and out of time


def test_a_killed_server_loses_nothing_and_nothing_is_recorded_twice(client, store):
    """Calls with an id of their host's, calls that only their text tells apart, and starts, which are answered."""
    chance, rounds = random.Random(effort.seed()), effort.rounds(fixed=4, fuzz=1000)
    for number in range(rounds):
        start = claude("SessionStart", session_id=f"s-{number}", source="startup")
        with serving(store) as server, ThreadPoolExecutor(3) as pool:
            done = pool.map(lambda call: ask(client, store, call), [tool(number), keyless(number), start])
            time.sleep(chance.random() * 0.02)
            server.process.send_signal(signal.SIGKILL)
            answers = [call.stdout for call in done]
        assert b"additionalContext" in answers[2]

    found = Counter(
        str(event.conversation_id if event.type == "session_start" else event.payload) for event in events_of(store)
    )
    assert {1} == set(found.values())
    assert 3 * rounds == len(found)


@pytest.mark.parametrize("dies", ["before it records", "after it has recorded"])
def test_a_call_whose_server_died_is_a_retry(client, store, dies):
    """The other end of the socket is this test: it accepts the call, does what the live process does, and dies."""
    path = Path(Store(str(store)).live[0])
    path.parent.mkdir(parents=True)
    start = claude("SessionStart", session_id="s-1", source="startup")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, ThreadPoolExecutor(1) as pool:
        listener.bind(str(path))
        listener.listen()
        done = pool.submit(ask, client, store, start)
        with listener.accept()[0] as accepted:
            _, fds, _, _ = socket.recv_fds(accepted, 1 << 18, 2)
            accepted.send(b".")
            if dies == "after it has recorded":
                hook_calls.tell(store, os.pread(fds[0], 1 << 16, 0))
        for fd in fds:
            os.close(fd)
        answered = done.result(LONG)

    assert b"additionalContext" in answered.stdout
    assert ["session_start"] == [event.type for event in events_of(store)]


def test_a_retry_of_a_start_keeps_the_conversation_that_was_made_for_it(store):
    start = {"hook_event_name": "SessionStart", "source": "startup", "cwd": "/home/ada/shop"}
    for again in ([], ["--again", "1"]):
        hook_calls.tell(store, start, "--agent", "claude", *again)
    (event,) = events_of(store)

    assert event.conversation_id


def test_a_call_that_runs_out_of_time_ends_alone(client, store):
    """The log is locked: the event waits in the spool, and the live process begins anew."""
    with serving(store, lock=0.05) as server:
        answer(client, store, tool(0))
        (day,) = Path(store, "log").iterdir()
        with day.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            answer(client, store, tool(1))
        server.wait(lambda: is_served(client, store, tool(2), hook=REAL))
        server.wait(lambda: ["t-0", "t-1", "t-2"] == sorted(tools_in(store)))
        assert server.process.poll() is None


# ------------------------------------------------------------------------------------------------ refused


@pytest.fixture
def own(monkeypatch):
    """The live process of this test, and a call of a hook that it would answer."""
    process = live._Process()
    monkeypatch.setattr(process, "_command", REAL)
    return process


def checked(own, *, words=REAL, magic=b"eventlog 1", began=None, age=0.0, **changed):
    environ = {
        name: value for name, value in {**os.environb, **changed.pop("environ", {})}.items() if value is not None
    }
    numbers = b"%d %d %d" % (began or time.monotonic_ns(), os.getppid(), len(words))
    parts = [magic, numbers, *map(os.fsencode, words), *(b"%s=%s" % pair for pair in environ.items())]
    call = live._Call(b"\0".join(parts) + b"\0", [0, 0], time.monotonic() - age)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there:
        own.check(call, here)
    return call


def test_the_call_of_a_hook_is_accepted_with_its_umask(own):
    umask = os.umask(0o027)
    try:
        assert 0o027 == checked(own).umask
    finally:
        os.umask(umask)


REFUSED: dict[str, dict[str, Any]] = {
    "another protocol": {"magic": b"eventlog 2"},
    "another interpreter": {"words": ["/usr/bin/another", *REAL[1:]]},
    "another installation": {"words": [*REAL[:3], "/opt/eventlog/hook.py"]},
    "a client that has given up": {"began": 1},
    "a connection that was kept": {"age": 2.0},
    "a client of no time": {"began": 10**400},
    "another library": {"environ": {b"LD_PRELOAD": b"/tmp/x.so"}},
    "paths that are not UTF-8": {"environ": {b"LC_ALL": b"de_DE.ISO-8859-1"}},
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_call_that_would_be_another_process_is_refused(own, what):
    with pytest.raises(ValueError, match=r"hook"):
        checked(own, **REFUSED[what])


@pytest.mark.parametrize("locale", [b"", b"C", b"C.UTF-8", b"zh_CN.utf8"])
def test_locales_of_utf_8_are_accepted(own, locale):
    checked(own, environ={b"LC_ALL": locale})


@pytest.mark.parametrize("what", ["user", "confinement", "filter", "right", "name space"])
def test_a_call_of_another_user_or_sandbox_is_refused(own, what, monkeypatch):
    if what == "user":
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
    if what == "confinement":
        monkeypatch.setattr(live, "_FREE", b"NoNewPrivs:\t2")
    if what == "filter":
        monkeypatch.setattr(own, "_state", [*own._state[:-1], b"Seccomp_filters:\t9"])
    if what == "right":
        kept = [b"CapBnd:\t0" if b"CapBnd" in str(line).encode() else line for line in own._state]
        monkeypatch.setattr(own, "_state", kept)
    if what == "name space":
        monkeypatch.setattr(own, "_state", ["mnt:[1]", *own._state[1:]])

    with pytest.raises(ValueError, match=r"another process|sandbox"):
        checked(own)


def test_a_release_that_was_installed_meanwhile_answers_itself(own, monkeypatch):
    checked(own)
    file = next(iter(own._release))
    monkeypatch.setitem(own._release, file, (0, 0, 0))
    monkeypatch.setattr(own, "_same_until", 0.0)

    with pytest.raises(ValueError, match="another process"):
        checked(own)


def test_a_confined_process_cannot_have_a_hook_run_outside(client, store):
    """A sandboxed command of an agent would choose the environment of what runs."""

    def confine():
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, as every sandbox needs it
        _poor()

    with serving(store):
        assert is_served(client, store, tool(0))
        assert 0 != ask(client, store, tool(1), preexec_fn=confine).returncode

    assert ["t-0"] == tools_in(store)


@pytest.mark.parametrize("less", [["-n"], ["-Ur"], ["-Urn"], ["-Urm"]], ids="".join)
def test_a_process_in_another_name_space_cannot_have_a_hook_run_outside(client, store, less):
    """`unshare -Urn` is all that it takes to run a command without the network."""
    if subprocess.run(["unshare", *less, "true"], capture_output=True, timeout=LONG, check=False).returncode:
        pytest.skip("no such name space here")
    poor = ["sh", "-c", 'ulimit -v 6144 && exec "$@"', "sh", client, *HOOK]
    with serving(store):
        assert 0 == ask("/usr/bin/env", store, tool(0), hook=poor).returncode
        assert 0 != ask("/usr/bin/env", store, tool(1), hook=["unshare", *less, *poor]).returncode

    assert ["t-0"] == tools_in(store)


def test_a_connection_of_a_process_that_has_ended_is_refused(own, tmp_path):
    """Its number may be that of another by now, which is in no sandbox: who kept the connection is."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address := str(tmp_path / "s"))
        listener.listen()
        connecting = (
            "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1])"
        )
        subprocess.run([sys.executable, "-c", f"{connecting}", address], check=True, timeout=LONG)
        kept, _ = listener.accept()

    with kept:
        assert not live._lives(kept)
    checked(own)


def test_the_socket_is_the_users_alone(store):
    with serving(store) as server:
        assert 0o600 == stat.S_IMODE(server.socket.stat().st_mode)
        assert 0o700 == stat.S_IMODE(server.socket.parent.stat().st_mode)
