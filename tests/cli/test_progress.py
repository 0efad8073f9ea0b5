"""Long work shows itself: every phase is told, a bar appears on a terminal, and Ctrl-C leaves everything whole."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import ClassVar

import pytest

from eventlog.app import progress as progress_of_work
from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine, open_store
from eventlog.app.write.append import append_stream
from eventlog.cli import progress
from eventlog.log.event_log import EventLog
from tests.support import builders
from tests.support.command_line import call, command, on_a_terminal, surroundings
from tests.support.golden import HISTORY, copied
from tests.support.screen import told

pytestmark = pytest.mark.slow


@contextmanager
def told_to_us():
    """Have the phases told to this test: yields what was told of each, in order."""
    phases: dict[str, list[tuple[int, int]]] = {}

    def reporter(phase):
        return nullcontext(lambda done, total: phases.setdefault(phase, []).append((done, total)))

    before = progress_of_work.default_reporter.set(reporter)
    yield phases
    progress_of_work.default_reporter.reset(before)


def test_a_replay_tells_of_reading_applying_and_writing_to_their_ends(tmp_path, home):
    log = copied(HISTORY, tmp_path)
    call(
        "plan",
        "--path",
        "user",
        "--heading",
        "Interests",
        "--content",
        "- logs",
        "--session",
        "s",
        "--store",
        log.store.root,
    )
    with told_to_us() as phases:
        replay_store(open_store(log.store, Machine.here()))

    assert ["reading days", "applying to files", "writing files"] == list(phases)
    for steps in phases.values():
        assert steps[-1][0] == steps[-1][1] == len({done for done, _ in steps} - {0})


def test_a_stream_tells_how_many_of_its_events_were_checked(tmp_path):
    with told_to_us() as phases:
        append_stream(EventLog(tmp_path), io.BytesIO(builders.lines(1, 2, 3)), Machine.here())

    assert {"checking events": [(1, 0), (2, 0), (3, 0)]} == phases


def test_a_stream_ends_with_its_total_for_a_person(tmp_path):
    (tmp_path / "events").write_bytes(builders.lines(1, 2, 3))
    program = 'exec "$0" -m eventlog append --stdin --store "$1" < "$2"'
    ours, theirs = pty.openpty()
    said = []
    for _ in range(2):
        shell = ["sh", "-c", program, sys.executable, str(tmp_path / "store"), str(tmp_path / "events")]
        subprocess.run(shell, stdout=theirs, check=True, env=surroundings())
        said.append(os.read(ours, 4096).decode())
    os.close(ours)
    os.close(theirs)

    assert ["3 events: 3 new, 0 already known", "3 events: 0 new, 3 already known"] == [text.strip() for text in said]


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and when something was written to it."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        if "writing files" in text:
            self.written.set()
        return super().write(text)


def test_the_bar_names_the_phase_and_how_much_of_it_is_done(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")  # on a dumb terminal nothing is drawn
    monkeypatch.setattr(progress, "_SILENT_SECONDS", 0.0)
    with progress.phase("reading days") as done:
        done(3, 3)
        with progress.phase("writing files") as written:
            written(20, 80)
        assert terminal.written.wait(60)

    assert "writing files" in terminal.getvalue()
    assert "20/80" in terminal.getvalue()


def test_quick_work_shows_nothing_and_loads_no_bar(tmp_path):
    builders.write(tmp_path / "log", builders.lines(1))

    assert "reading days" not in on_a_terminal("replay", "--store", tmp_path)


class Watcher:
    """Stands for the bar: remembers what it was told."""

    at_work = None
    steps: ClassVar[dict[str, list[tuple[int, int]]]] = {}

    def phase(self, name):
        self.steps.setdefault(name, [])
        return lambda done, total: self.steps[name].append((done, total))

    def begin(self):
        """There is nothing to show."""

    end = begin


READING, LOOKING = "reading days", "looking through the log"
WAYS: dict[tuple[str, ...], set[str]] = {
    (): {READING},
    ("sessions",): {READING},
    ("stats",): {READING},
    ("status",): {READING},
    ("query",): {LOOKING},
    ("verify",): {READING},
    ("search", "RS256"): {"searching memory"},
    ("show", "MEMORY.md", "--as-of", "2026-02-24"): {READING},
    ("diff", "--from", "2026-02-01"): {READING},
    ("bisect", "INDEX.md", "RS256"): {READING},
    ("why", "--not", "RS256"): {LOOKING, READING},
    ("replay",): {READING, "writing files"},
    ("replay", "--without", "agent=codex"): {READING},
    ("forget", "RS256", "--yes"): {LOOKING, READING, "writing files"},
    ("import", "bullets", "NOTES.md"): {"reading files"},
}


@pytest.mark.parametrize("args", WAYS, ids=" ".join)
def test_every_verb_that_may_take_long_shows_its_phases(tmp_path, home, monkeypatch, args):
    store = copied(HISTORY, tmp_path).store
    Path("NOTES.md").write_text("- Ask Bo before a release\n")
    monkeypatch.setattr(Watcher, "steps", {})
    monkeypatch.setattr(progress, "_View", Watcher)
    said = told("--store", store.root, *args)

    assert WAYS[args] <= Watcher.steps.keys(), said
    assert all(done == total for done, total in (steps[-1] for steps in Watcher.steps.values() if steps))


class Keyboard:
    """A program on a terminal of its own, at which somebody sits."""

    def __init__(self, *args, program="", stdin=None):
        self._pid, self._terminal = pty.fork()
        if not self._pid:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job ignores it
                os.environ.update(surroundings(COLUMNS="100", TERM="xterm"))
                if stdin:
                    os.dup2(os.open(stdin, os.O_RDONLY), 0)
                called = [sys.executable, "-c", program, *map(str, args)] if program else command(*args)
                os.execv(sys.executable, called)
            finally:
                os._exit(1)  # not a second pytest
        self._seen = b""

    def wait_for(self, text):
        while text not in self._seen and self._read(120):
            pass
        assert text in self._seen, self._seen

    def interrupt(self):
        """Press Ctrl-C until the program ends: one about to ask or to sleep may miss the first. How it ended, all it said."""
        pressed = 0.0
        while True:
            if time.monotonic() - pressed > 2:
                os.write(self._terminal, b"\x03")
                pressed = time.monotonic()
            if self._read(2) is False:
                break
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]), self._seen.decode()

    def _read(self, seconds):
        """Tell whether there is more: None where nothing comes for so long, False where the program has ended."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return None
        try:
            chunk = os.read(self._terminal, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self._seen += chunk
        return bool(chunk)


WHOLE = "interrupted: every file is whole; run it again to go on"
SLOW = """
import sys, time
from eventlog.app.write import append; from eventlog.app.build import publish
from eventlog.cli.main import main

def after(number, said=[]):
    said.append(number)
    if len(said) == number:
        print("in the middle of it", flush=True)
        time.sleep(600)

put_whole, checked = publish._Publishing._put_whole, append._checked

def put_slowly(*args, **options):
    put = put_whole(*args, **options)
    after(3)
    return put

def checked_slowly(*args):
    for event in checked(*args):
        yield event
        after(2)

publish._Publishing._put_whole = put_slowly
append._checked = checked_slowly
sys.argv[0] = "eventlog"
main()
"""


def test_ctrl_c_in_a_replay_leaves_everything_whole_and_says_so(tmp_path, home):
    store = copied(HISTORY, tmp_path).store
    at_it = Keyboard("replay", "--store", store.root, program=SLOW)
    at_it.wait_for(b"in the middle of it")
    code, seen = at_it.interrupt()

    assert 130 == code
    assert seen.rstrip().endswith(WHOLE)
    assert [] == list(Path(store.root).rglob("*.tmp"))
    assert 0 == call("verify", "--store", store.root).code
    assert 0 == call("replay", "--store", store.root).code
    assert 0 == call("replay", "--check", "--store", store.root).code


def test_ctrl_c_in_a_stream_stores_nothing_of_it(tmp_path):
    (tmp_path / "events").write_bytes(builders.lines(1, 2, 3))
    at_it = Keyboard("append", "--stdin", "--store", tmp_path / "store", program=SLOW, stdin=tmp_path / "events")
    at_it.wait_for(b"in the middle of it")
    code, seen = at_it.interrupt()

    assert 130 == code
    assert seen.rstrip().endswith(WHOLE)
    assert [] == call("query", "--store", tmp_path / "store").out.splitlines()


def test_ctrl_c_at_a_question_changes_nothing(tmp_path, home):
    store = copied(HISTORY, tmp_path).store
    before = call("query", "--format", "jsonl", "--store", store.root).out
    at_it = Keyboard("forget", "RS256", "--store", store.root)
    at_it.wait_for(b"[y/N]")
    code, seen = at_it.interrupt()

    assert 130 == code
    assert seen.replace("\r", "").endswith(f"\n{WHOLE}\n")  # on a line of its own
    assert before == call("query", "--format", "jsonl", "--store", store.root).out


def test_ctrl_c_pressed_twice_ends_as_pressed_once(tmp_path, home):
    program = """
import os, signal, sys
from eventlog.cli import main
ignore = main._ignore_interrupts
main._ignore_interrupts = lambda: [ignore(), os.kill(os.getpid(), signal.SIGINT)]
main.main()
"""
    store = copied(HISTORY, tmp_path).store
    at_it = Keyboard("forget", "RS256", "--store", store.root, program=program)
    at_it.wait_for(b"[y/N]")
    code, seen = at_it.interrupt()

    assert 130 == code
    assert WHOLE in seen
    assert "Traceback" not in seen


def test_ctrl_c_is_how_one_leaves_what_is_followed(tmp_path):
    builders.write(tmp_path / "log", builders.lines(1))
    at_it = Keyboard("query", "--follow", "--store", tmp_path)
    at_it.wait_for(b"fact 1")
    code, seen = at_it.interrupt()

    assert 0 == code
    assert "interrupted" not in seen
