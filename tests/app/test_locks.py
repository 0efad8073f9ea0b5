"""Where there can be no cache, everything works without; also what needs a lock, or a note beside it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.format.errors import Busy, NotStored
from eventlog.store.locks import locked, usable
from tests.support.command_line import call, surroundings

TESTS = Path(__file__).parents[1]
SETPRIV, UNSHARE = (shutil.which(name) or "" for name in ("setpriv", "unshare"))
VERBS = [
    ["fact", "Port is 8081", "--session", "s", "--project", ""],
    ["plan", "--path", "user", "--heading", "Editor", "--content", "vim", "--session", "s"],
    ["replay"], ["replay", "--full"], ["settle"],
]  # fmt: skip
ASK = f"""
import json
from tests.support.command_line import call
print(json.dumps([[*call(*verb)] for verb in {VERBS!r}]))
"""


def _ask_without_the_rights_of_root(home):
    """Run the verbs as a process that may do what the modes of files say."""
    rights = "-dac_override,-dac_read_search"
    drop = [SETPRIV, "--bounding-set", rights, "--inh-caps", rights] if os.geteuid() == 0 else []
    if drop and not SETPRIV:
        pytest.skip("root may write everywhere, and cannot do without that here")
    command = [*drop, sys.executable, "-c", ASK]
    environ = surroundings(HOME=str(home), EVENTLOG_HOME=str(home / "store"))
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(TESTS.parent), environ.get("PYTHONPATH"))))
    ended = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert 0 == ended.returncode, ended.stderr
    return json.loads(ended.stdout)


def _closed(cache):
    cache.chmod(0)


def _files_read_only(cache):
    for file in cache.iterdir():
        file.chmod(0o400)


def _a_file(cache):
    shutil.rmtree(cache)
    cache.write_text("in the way")


@pytest.mark.slow
@pytest.mark.parametrize("change", [_closed, _files_read_only, _a_file])
def test_where_there_can_be_no_cache_every_verb_works(home, change):
    store = home / "store"
    for verb in (["fact", "Port is 8080", "--session", "s", "--project", ""], ["replay"]):
        assert 0 == call(*verb, "--store", store).code
    cache = store / "cache"
    change(cache)
    try:
        ran = _ask_without_the_rights_of_root(home)
    finally:
        if cache.is_dir():
            cache.chmod(0o700)

    assert [(0, "")] * len(VERBS) == [(code, err) for code, _, err in ran]
    assert "Port is 8081" in (store / "knowledge" / "MEMORY.md").read_text()
    assert "## Editor\n\nvim" in (home / ".config/agents/USER.md").read_text()


@pytest.fixture
def no_cache(log):
    Path(log.store.cache).parent.mkdir(parents=True)
    Path(log.store.cache).write_text("in the way")
    return log.store


def test_a_lock_lies_elsewhere_where_there_can_be_no_cache_and_is_one(no_cache):
    with locked(no_cache, no_cache.lock("replay")), pytest.raises(Busy):
        locked(no_cache, no_cache.lock("replay"), patience=0)
    with locked(no_cache, no_cache.lock("replay"), patience=0), locked(no_cache, no_cache.lock("settle"), patience=0):
        pass


def test_a_place_is_named_and_nothing_is_made(log):
    path = log.store.lock("replay")

    assert path == usable(log.store, path)
    assert not Path(log.store.root).exists()


@pytest.mark.parametrize(("number", "works"), [(30, True), (13, False)], ids=["read-only", "not ours"])
def test_nobody_can_be_in_the_way_on_a_disk_where_nobody_writes(log, monkeypatch, number, works):
    def refuse(*_):
        raise NotStored("not stored") from OSError(number, os.strerror(number))

    monkeypatch.setattr("eventlog.store.locks.lock", refuse)
    if works:
        with locked(log.store, log.store.lock("replay")):
            return
    with pytest.raises(NotStored):
        locked(log.store, log.store.lock("replay"))


@pytest.mark.slow
def test_a_store_all_of_which_is_current_is_replayed_on_a_disk_that_is_read_only(home):
    """As on a medium that was written elsewhere."""
    EventLog(home / "store").append({"type": "turn_end", "conversation_id": "c"})
    call("replay", "--store", home / "store")
    place, other = home / "store", home / "mounted"
    other.mkdir()
    script = f"""
        PATH=/usr/bin:/bin:/usr/sbin:/sbin
        mount --bind {place} {other} && mount -o remount,ro,bind {other} || exit 77
        exec {sys.executable} -m eventlog replay --store {other}
    """
    command = [UNSHARE, "-rm", "/bin/sh", "-c", script]
    ended = subprocess.run(command, env=surroundings(), capture_output=True, check=False) if UNSHARE else None
    if ended is None or ended.returncode == 77 or b"unshare" in ended.stderr:
        pytest.skip("no file system can be mounted here")

    assert (0, b"") == (ended.returncode, ended.stderr)
