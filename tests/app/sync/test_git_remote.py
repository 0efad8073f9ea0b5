"""A repository as a remote: no hook runs, no repository of the user is touched, and of two pushes the second reads again."""

import os
import shutil
import stat
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

from eventlog.app.sync import git_remote
from eventlog.app.sync.git_remote import GitRemote
from eventlog.format.errors import NotStored, Offline, UntrustedRemote
from tests.support.repositories import git, repository

pytestmark = pytest.mark.slow


@pytest.fixture
def hub(tmp_path):
    git(tmp_path, "init", "--bare", "--quiet", str(tmp_path / "hub.git"))
    return tmp_path / "hub.git"


def remote(hub, tmp_path, name="clone", **environ):
    return GitRemote(str(hub), str(tmp_path / name), {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environ})


def test_files_come_back_as_they_were_written(hub, tmp_path):
    one, other = remote(hub, tmp_path), remote(hub, tmp_path, "other")
    files = {"a/1": b"\0\n\xff" * 1000, "b": b"", "c\u00e4": b"\n"}
    assert set() == one.names()
    assert one.publish(files, ())

    assert set(files) == other.names()
    assert files == dict(other.read(sorted(files)))
    assert {} == dict(other.read(["gone"]))


def test_of_two_pushes_the_second_reads_again(hub, tmp_path):
    one, other = remote(hub, tmp_path), remote(hub, tmp_path, "other")
    one.names(), other.names()
    assert one.publish({"a": b"1"}, ())
    assert not other.publish({"b": b"2"}, ())
    assert {"a"} == other.names()
    assert other.publish({"b": b"2"}, ())
    assert not one.publish({"c": b"3"}, ["a"])
    assert {"a", "b"} == one.names()


def test_what_is_removed_leaves_the_history(hub, tmp_path):
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"first", "b": b"stays"}, ())
    one.names()
    one.publish({"c": b"third"}, ["a"])

    assert {"b", "c"} == one.names()
    assert "1" == git(hub, "rev-list", "--count", "eventlog")


def test_a_repository_that_lets_no_history_go_gets_another_commit(hub, tmp_path):
    git(hub, "config", "receive.denyNonFastForwards", "true")
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"first"}, ())
    one.names()

    assert one.publish({"b": b"second"}, ["a"])
    assert {"b"} == one.names()
    assert "2" == git(hub, "rev-list", "--count", "eventlog")


def test_no_hook_of_the_user_runs_and_no_variable_of_another_git_counts(hub, tmp_path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-push", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\n[ $PWD = {hub} ] || touch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[core]\nhooksPath = {hooks}\n")
    theirs = repository(tmp_path / "theirs")
    one = remote(hub, tmp_path, GIT_DIR=str(theirs / ".git"), GIT_INDEX_FILE=str(tmp_path / "index"))
    one.names()

    assert one.publish({"a": b"first"}, ())
    assert not (tmp_path / "ran").exists()
    assert "main" == git(theirs, "branch", "--format=%(refname:short)")
    assert "eventlog" == git(hub, "log", "-1", "--format=%an", "eventlog")


def test_files_of_the_clone_are_for_their_owner_only(hub, tmp_path):
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"first"}, ())
    modes = {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in Path(tmp_path, "clone").rglob("*")}
    assert {0} == modes


@pytest.mark.parametrize("address", ["nowhere.git", "ssh://127.0.0.1:1/x.git", "https://127.0.0.1:1/x.git"])
def test_what_cannot_be_reached_is_offline(tmp_path, address):
    with pytest.raises(Offline):
        GitRemote(address, str(tmp_path / "clone"), {"PATH": os.environ["PATH"]}).names()
    assert not (tmp_path / "clone").exists()


def test_git_logs_in_by_its_credential_helper(tmp_path):
    said, login = [], "ada:zebra stripes"

    class Asks(BaseHTTPRequestHandler):
        def do_GET(self):
            said.append(self.headers.get("Authorization"))
            self.send_response(403 if said[-1] else 401)
            self.send_header("WWW-Authenticate", "Basic realm=memory")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Asks) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_port}"
        (tmp_path / ".gitconfig").write_text("[credential]\n\thelper = store\n")
        (tmp_path / ".git-credentials").write_text(f"http://{quote(login, ':')}@{place}\n")
        with pytest.raises(Offline):
            remote(f"http://{place}/memory.git", tmp_path).names()
        server.shutdown()

    assert [None, f"Basic {b64encode(login.encode()).decode()}"] == said


@pytest.mark.parametrize("what", ["blob", "tree", "commit"])
@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "damaged"])
def test_a_repository_whose_objects_are_damaged_is_not_offline(hub, tmp_path, what, is_gone):
    first = remote(hub, tmp_path)
    first.names()
    first.publish({"a/1": b"first"}, ())
    for line in git(hub, "rev-list", "--objects", "eventlog").splitlines():
        name = line.split()[0]
        file = hub / "objects" / name[:2] / name[2:]
        if git(hub, "cat-file", "-t", name) == what:
            file.chmod(0o600)
            data = file.read_bytes()
            file.unlink()
            if not is_gone:
                file.write_bytes(data[:8] + b"????" + data[12:])
            break

    with pytest.raises(UntrustedRemote, match="is damaged"):
        remote(hub, tmp_path, "other").names()


def test_a_repository_that_takes_nothing_from_this_machine_says_so(hub, tmp_path):
    hook = hub / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not for you >&2\nexit 1\n")
    hook.chmod(0o755)
    one = remote(hub, tmp_path)
    one.names()
    with pytest.raises(UntrustedRemote):
        one.publish({"a": b"first"}, ())


def test_what_a_killed_git_left_in_the_clone_is_no_obstacle(hub, tmp_path):
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"first"}, ())
    for name in ("shallow.lock", "refs/eventlog/tip.lock", "refs/eventlog/next.lock"):
        (tmp_path / "clone" / name).touch()

    assert {"a"} == one.names()
    assert one.publish({"b": b"second"}, ())


@pytest.mark.parametrize("lost", ["refs", "objects", "config", "."])
def test_a_clone_that_git_cannot_use_is_made_anew(hub, tmp_path, lost):
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"first"}, ())
    path = tmp_path / "clone" / lost
    if path.is_dir():
        shutil.rmtree(path)
    if lost in (".", "config"):
        path.resolve().write_text("[broken")

    assert {"a"} == one.names()
    assert one.publish({"b": b"second"}, ())
    assert ["clone"] == [path.name for path in tmp_path.iterdir() if "clone" in path.name]


@pytest.mark.parametrize("what", ["eventlog:a", "eventlog^{tree}", "eventlog"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(b"")], ids=["gone", "empty"])
def test_a_clone_that_a_power_cut_has_damaged_is_made_anew(hub, tmp_path, what, damage):
    one, other = remote(hub, tmp_path), remote(hub, tmp_path, "other")
    one.names()
    one.publish({"a": b"first", "b": b"second"}, ())
    other.names()
    name = git(hub, "rev-parse", what)
    file = tmp_path / "other" / "objects" / name[:2] / name[2:]
    file.chmod(0o600)
    damage(file)

    assert {"a", "b"} == other.names()
    assert {"a": b"first", "b": b"second"} == dict(other.read(["a", "b"]))


def test_a_disk_that_is_full_in_a_fetch_is_named_and_has_its_room_again(hub, tmp_path):
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"1"}, ())
    full = tmp_path / "bin" / "git"
    full.parent.mkdir()
    full.write_text(
        '#!/bin/sh\ncase "$*" in *" fetch "*)\n'
        f'  echo half > "{tmp_path}/clone/objects/tmp_obj"\n'
        '  echo "fatal: write error: No space left on device" >&2; exit 128;;\nesac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    full.chmod(0o755)
    other = remote(hub, tmp_path, PATH=f"{full.parent}:{os.environ['PATH']}")
    with pytest.raises(NotStored, match="the disk is full") as refused:
        other.names()

    assert "free some space" in refused.value.hint
    assert not list(tmp_path.glob("clone*"))
    assert {"a"} == one.names()


def test_a_lock_that_stays_in_the_repository_is_named(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(git_remote, "_PATIENCE", 0)
    one = remote(hub, tmp_path)
    one.names()
    one.publish({"a": b"first"}, ())
    one.names()
    (hub / "refs" / "heads" / "eventlog.lock").touch()
    with pytest.raises(NotStored, match=r"eventlog\.lock") as told:
        one.publish({"b": b"second"}, ())
    assert "remove" in told.value.hint
