"""The hook's path is made of the standard library, and of little of that."""

import re
import subprocess
import sys

import pytest

from eventlog.app.build.replay import replay
from eventlog.app.search.open_index import open_index
from eventlog.log.event_log import EventLog
from eventlog.settings.schema import Settings
from tests.support.hook_calls import errors_of, events_of
from tests.support.payloads import MOMENTS, claude, data
from tests.support.tree import IMPORT_PATH, PACKAGE

pytestmark = pytest.mark.slow

# the one list of what a hook may import: of ours, of the standard library, and of ours for what ends
OURS = {
    "fast",
    "fast.fastjson",
    "fast.modules",
    "fast.os_subset",
    "format",
    "format.ids",
    "format.timestamps",
    "hooks",
    "hooks.deadline",
    "hooks.disk_reserve",
    "hooks.hook_main",
    "hooks.record",
    "hooks.safety_nets",
    "hosts",
    "hosts.call",
    "projects",
    "projects.root",
    "secrets",
    "secrets.plain",
    "settings",
    "settings.cached",
    "store",
    "store.append_once",
    "store.dayfile",
    "store.files",
}
AT_THE_END = {
    "hooks.background",
    "hooks.conversation",
    "store.index_lookup",
}
STANDARD = {"_blake2", "_json", "faulthandler", "fcntl", "gc"}  # and not `os`
ROOM = re.compile(r"hosts\.\w+(\.protocol)?")  # of the host that calls
QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


LIST_MODULES = """
import posix, sys
sys.argv = ["hook", "--store", {store!r}]
def leave(code):
    posix.write(2, "\\n".join(f"{{name}}={{getattr(m, '__file__', None) or ''}}" for name, m in sys.modules.items()).encode())
    leave_really(code)
leave_really, posix._exit = posix._exit, leave
sys.path.insert(0, {root!r})
from eventlog.fast import modules
modules.install()
from eventlog.hooks.hook_main import main
main(sys.argv[1:])
"""
STARTED = "import posix, sys; posix.write(2, '\\n'.join(sys.modules).encode())"  # what every Python has loaded


def loaded(program, payload):
    """The modules a hook has loaded when it leaves, and the file of each."""
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], input=data(payload), capture_output=True, check=True
    )
    return dict(line.partition("=")[::2] for line in ended.stderr.decode().splitlines())


@pytest.mark.parametrize(
    ("payload", "more"),
    [
        (QUIET, set()),
        (claude("SessionEnd", reason="x"), AT_THE_END),
        (claude("Stop"), AT_THE_END),
        (MOMENTS["cursor ends a turn"][0], AT_THE_END),
    ],
)
def test_a_hook_imports_what_is_listed(store, payload, more):
    modules = loaded(LIST_MODULES.format(store=str(store), root=IMPORT_PATH), payload)
    new = modules.keys() - loaded(STARTED, {}).keys()
    ours = {name.removeprefix("eventlog.") for name in new if name.startswith("eventlog.")}

    assert OURS <= ours
    assert set() == {name for name in ours - OURS - more if not ROOM.fullmatch(name)}
    assert set() == {name for name in new if name.partition(".")[0] != "eventlog"} - STANDARD
    assert all(file.startswith(str(PACKAGE)) for name, file in modules.items() if name.startswith("eventlog"))
    assert 1 == len(events_of(store))


SLOW = {"collections", "dataclasses", "enum", "msgspec", "os", "pathlib", "re", "sqlite3", "typing", "zoneinfo"}


@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_session_start_loads_no_library(store, tmp_path, monkeypatch, is_indexed):
    monkeypatch.setenv("HOME", str(tmp_path))
    log = EventLog(store)
    log.append({"type": "fact", "conversation_id": "c", "content": "Likes tea", "memory_type": "O", "key": "tea"})
    if is_indexed:
        open_index(log.store).close()
    modules = loaded(
        LIST_MODULES.format(store=str(store), root=IMPORT_PATH),
        claude("SessionStart", source="startup", cwd=str(tmp_path)),
    )

    assert "eventlog.projections.context.build" in modules
    assert set() == SLOW & modules.keys()


def test_a_session_start_loads_no_rules_of_a_time_zone(store, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    store.mkdir()
    (store / "config.yaml").write_text("timezone: Asia/Tokyo\n")
    log = EventLog(store)
    log.append({"type": "stage_summary", "conversation_id": "c", "summary": "Tea is on", "project": str(tmp_path)})
    replay(log, Settings(timezone="Asia/Tokyo"), writes=True)
    modules = loaded(
        LIST_MODULES.format(store=str(store), root=IMPORT_PATH),
        claude("SessionStart", source="startup", cwd=str(tmp_path)),
    )

    assert "eventlog.projections.context.build" in modules
    assert set() == {"datetime", "zoneinfo"} & modules.keys()
    assert [] == errors_of(store)


def test_a_prompt_that_is_told_something_waits_for_parts_in_c_only(store):
    told = {"content": "发票编号必须连续，取消的订单保留编号", "project": "/src/shop"}
    EventLog(store).append({"type": "fact", "conversation_id": "c", **told})
    asks = claude("UserPromptSubmit", prompt="取消的订单的发票编号怎么处理", cwd="/src/shop", session_id="another")
    modules = loaded(LIST_MODULES.format(store=str(store), root=IMPORT_PATH), asks)
    theirs = {name for name in modules.keys() - loaded(STARTED, {}).keys() if not name.startswith("eventlog")}

    assert "eventlog.fast.sha" in modules, "nothing was told: there is no receipt"
    assert set() == theirs - STANDARD - {"_functools", "_sha2", "_sha256", "_sqlite3", "math"}


def test_libraries_are_found_also_where_they_are_not_beside_the_package(store, tmp_path):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "eventlog").symlink_to(PACKAGE)
    EventLog(store).append({"type": "fact", "conversation_id": "c", "content": "Likes tea", "memory_type": "O"})
    hook = [sys.executable, "-I", "-S", str(tmp_path / "site-packages" / "eventlog" / "hook.py"), "--store", store]
    started = claude("SessionStart", source="startup", cwd=str(tmp_path))
    ended = subprocess.run(hook, input=data(started), capture_output=True, check=True, env={"HOME": str(tmp_path)})

    assert b"Likes tea" in ended.stdout
    assert [] == errors_of(store)
