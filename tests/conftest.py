"""A store of one's own for every test, a clock that is told what time it is, and a home that is nobody's."""

import gc
import itertools
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import warnings
from functools import lru_cache, partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

from eventlog.app.search import dialogues, search_index
from eventlog.log.event_log import EventLog
from eventlog.settings import yaml_errors
from eventlog.store import dayfile
from tests.support import effort
from tests.support.builders import Clock

# `make test` tries the same examples every time, on every machine however slow; `make fuzz` looks for new ones.
_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _common, max_examples=5, derandomize=True)
settings.register_profile("fuzz", _common, max_examples=effort.EXAMPLES, print_blob=True)
settings.load_profile("fuzz" if effort.FUZZ else "fixed")


def _use_memory_for_files(place="/dev/shm", needed=1 << 30):
    """Tests write and remove some ten thousand files: in memory, where there is room and programs may run."""
    if "TMPDIR" in os.environ or not os.access(place, os.W_OK):
        return
    found = os.statvfs(place)
    if found.f_bavail * found.f_frsize >= needed and not found.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = place


_use_memory_for_files()
os.environ["TZ"] = "UTC"  # `install` writes any other into the settings


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop():
    """Patch once for all tests what each would have to; a fixture of a session is asked for by every test again."""
    with pytest.MonkeyPatch.context() as patch:
        _lose_no_power(patch)
        _stay_up(patch)
        _read_settings_once(patch)
        _own_connections(patch)
        return (yield)


def _lose_no_power(patch):
    """Syncs of this process cost nothing and do nothing: no test cuts the power, those that count syncs put in their own."""
    for name in ("fsync", "fdatasync"):
        patch.setattr(os, name, _nothing(name), raising=False)
    patch.setattr(dayfile, "_sync", _nothing("fdatasync"))


def _stay_up(patch):
    """A verb that steps back behind the others would do so for every test after it."""
    patch.setattr(os, "nice", _nothing("nice"), raising=False)


def _read_settings_once(patch):
    """The same text of a `config.yaml` means the same, and yaml takes its time."""
    patch.setattr(yaml_errors, "load", lru_cache(yaml_errors.load))


def _own_connections(patch):
    for module in (sqlite3, search_index, dialogues):
        patch.setattr(module, "connect", partial(sqlite3.connect, factory=_OwnedConnection))


def _nothing(name):
    def nothing(_):
        pass

    nothing.__name__ = name
    return nothing


class _OwnedConnection(sqlite3.Connection):
    """A connection that somebody has to close: Python warns of one that is dropped open only from 3.13 on."""

    is_open = False

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.is_open = True

    def close(self):
        self.is_open = False
        super().close()

    def __del__(self):
        if self.is_open:
            warnings.warn(f"unclosed database in {self!r}", ResourceWarning, source=self, stacklevel=1)
            self.close()  # Python need not warn of it as well


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Send what a test came to once, not that it begins and each of its steps: this takes longer than most tests do."""
    if not hasattr(item.config, "workerinput") or item.config.option.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_runtest_setup():
    effort.begin()
    _started.clear()


_started: list[str] = []  # by the test that runs, and by its fixtures
_STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"))


def _note_start(event, arguments):
    if event in _STARTS:
        _started.append(Path(str(arguments[0])).name if arguments else event)


sys.addaudithook(_note_start)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Keep what starts programs out of `make test`, which has a minute; the client that hooks ask by takes no time.

    Let `make trust` know how often the test has tried what it tries.
    """
    result = yield
    item.user_properties.append(("rounds", effort.played(item.obj)))
    heavy = [name for name in _started if not name.startswith("hook-")]
    if heavy and not effort.FUZZ and not item.get_closest_marker("slow"):
        pytest.fail(f"starts {heavy[0]}: mark it with @pytest.mark.slow", pytrace=False)
    return result


_numbers = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory, request):
    """A directory of the test's own; pytest's would be numbered after a look at those of all tests before it."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}{next(_numbers)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def _nobodys_home(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.getbasetemp() / f"home{next(_numbers)}"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("EVENTLOG_HOME", str(home / "store"))
    monkeypatch.setenv("CC", "")  # `install` compiles nothing
    for name in ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "CURSOR_CONVERSATION_ID"):
        monkeypatch.delenv(name, raising=False)  # whoever runs the tests


@pytest.fixture
def called_by_a_host(monkeypatch):
    """What called this process is no shell, whoever runs the tests: above them there may be nothing but shells."""
    monkeypatch.setattr(os, "getppid", os.getpid)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(tmp_path, clock):
    return EventLog(tmp_path / "store", fsync=False, clock=clock)


@pytest.fixture(scope="module")
def _made(tmp_path_factory):
    return tmp_path_factory.mktemp("made") / "store"


@pytest.fixture
def made_once(_made):
    """A log in which something has happened: for the first test of a module it happens, all others get a copy."""

    def made(happens, log):
        if _made.exists():
            shutil.copytree(_made, log.store.root, symlinks=True)
        else:
            happens(log)
            shutil.copytree(log.store.root, _made, symlinks=True)
        return log

    return made


@pytest.fixture
def log_dir(tmp_path):
    path = tmp_path / "store" / "log"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home of someone who works in a project beside it, with none of this machine's programs or settings."""
    for name in ("EVENTLOG_HOME", "EVENTLOG_DISABLED", "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def pytest_collection_finish() -> None:
    """Spare the garbage collector thousands of tests and the libraries they need: they stay until the end, and little else is garbage."""
    given(none())(lambda _: None)()  # its generator is registered while the collector still sees who holds it
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Share slow tests among more processes than there are processors: they wait for a third of their time."""
    processors = os.cpu_count() or 1
    waits = config.option.markexpr != "not slow"
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS", "0")) or (processors * 3 // 2 if waits else processors)
