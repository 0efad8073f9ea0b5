"""`eventlog sync` as a person types it, on two machines with a directory between them."""

import json
import re
import shlex
import subprocess

import pytest

from tests.support.command_line import call, command, on_a_terminal, run, surroundings
from tests.support.synced import some_code


@pytest.fixture
def typed(tmp_path):
    def typed(machine, *words):
        return call(*words, "--store", tmp_path / machine)

    return typed


@pytest.fixture
def hub(tmp_path):
    (tmp_path / "disk").mkdir()
    return f"dir:{tmp_path}/disk/hub"


@pytest.fixture
def two(typed, hub):
    """Two machines that sync."""
    typed("one", "fact", "The tea is green", "--project", "")
    started = typed("one", "sync", "start", hub)
    (code,) = re.findall(r"^recovery code: (\S+)$", started.out, re.MULTILINE)
    assert f"eventlog sync join {hub} {code}" in started.out
    assert 0 == typed("other", "sync", "join", hub, code).code
    return code


@pytest.mark.slow
def test_a_fact_here_is_known_there_and_forgotten_there_it_is_forgotten_here(typed, two):
    assert "The tea is green" in typed("other", "search", "tea", "--all-projects").out
    assert 0 == typed("other", "forget", "The tea is green", "--yes").code
    assert "sent 1 event" in typed("other", "sync").out
    assert "took in 1 from" in typed("one", "sync").out
    assert "The tea is green" not in typed("one", "search", "tea", "--all-projects").out


def test_a_wrong_code_is_a_mistake_of_usage_and_writes_nothing(typed, two, hub, tmp_path):
    for code in (some_code(), "nonsense"):
        ran = typed("third", "sync", "join", hub, code)
        assert 2 == ran.code
        assert "CODE" in ran.err
    assert not (tmp_path / "third").exists()


@pytest.mark.slow
def test_a_code_is_asked_for_only_where_a_memory_was_found(typed, two, hub, tmp_path):
    joining = ("sync", "join", "--store", tmp_path / "third")
    nothing_there = on_a_terminal(*joining, f"{hub}2", expected=1)
    refused = on_a_terminal(*joining, hub, typed="nonsense\n", expected=2)

    assert "no such file" in nothing_there
    assert "Code" not in nothing_there
    assert "Code" in refused
    assert not (tmp_path / "third").exists()


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=str)
@pytest.mark.parametrize("closed", [">&-", "| true", ">/dev/null"])
def test_a_code_that_nobody_could_read_is_printed_again(hub, tmp_path, closed, as_json):
    starting = ["sync", "start", hub, "--store", str(tmp_path / "one"), *as_json]
    assert 0 == run("fact", "The tea is green", "--store", tmp_path / "one").code
    script = f"set -o pipefail; {shlex.join(command(*starting))} {closed}"
    unread = subprocess.run(["bash", "-c", script], capture_output=True, env=surroundings(), check=False)
    again = run(*starting)

    assert (3, True) == (unread.returncode, b"was not shown" in unread.stderr)
    assert 0 == again.code
    (code, *_) = re.findall(r"(?:[A-Z2-7]{8}-){3}[A-Z2-7]{8}", again.out)
    assert 0 == run("sync", "join", hub, code, "--store", tmp_path / "other").code


@pytest.mark.slow
def test_the_code_need_not_be_a_word_of_the_command_which_other_users_see(typed, two, hub, tmp_path):
    words = ("sync", "join", hub, "--store", tmp_path / "third")
    refused, joined = call(*words), call(*words, stdin=f"{two}\n".encode())

    assert (2, True) == (refused.code, "CODE" in refused.err)
    assert (0, True) == (joined.code, "took in" in joined.out)
    typed_in = on_a_terminal("sync", "join", hub, "--store", tmp_path / "fourth", typed=f"{two}\n")
    assert "took in" in typed_in


def test_without_a_remote_every_verb_says_what_to_do(typed, tmp_path):
    (tmp_path / "one").mkdir()
    ran = typed("one", "sync")
    assert (2, True) == (ran.code, "eventlog sync start REMOTE" in ran.err)
    assert "does not sync" in typed("one", "sync", "status").out


def test_a_store_that_is_none_is_not_made_by_what_needs_a_remote(typed, tmp_path):
    for verb in (
        (),
        ("--compact",),
        ("--dry-run",),
        ("status",),
        ("projects",),
        ("drop", "laptop", "--yes"),
        ("leave", "--yes"),
    ):
        ran = typed("nowhere", "sync", *verb)
        assert "Traceback" not in ran.err
        assert not (tmp_path / "nowhere").exists(), verb


@pytest.mark.slow
def test_offline_is_a_sentence(typed, two, tmp_path):
    (tmp_path / "disk" / "hub").rename(tmp_path / "disk" / "away")
    typed("one", "fact", "The cups are blue", "--project", "")
    ran = typed("one", "sync")
    assert 0 == ran.code
    assert ran.out.startswith("offline: ")
    assert "1 event waits" in ran.out
    assert "offline" == json.loads(typed("one", "sync", "--json").out)["status"]


def test_an_emptied_directory_exits_with_one(typed, two, tmp_path):
    for path in sorted((tmp_path / "disk" / "hub").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    ran = typed("one", "sync")
    assert (1, True) == (ran.code, "emptied" in ran.err)


def test_a_dry_run_shows_what_would_leave_and_changes_nothing(typed, hub, tmp_path):
    typed("one", "fact", "The tea is green", "--project", "")
    ran = typed("one", "sync", "start", hub, "--dry-run")
    assert 0 == ran.code
    assert re.search(r"1  fact  -\n", ran.out)
    assert "The tea is green" in ran.out
    assert not (tmp_path / "disk" / "hub").exists()
    assert [{"type": "fact", "project": "", "events": 1}] == json.loads(
        typed("one", "sync", "--dry-run", "--json").out
    )["events"]


@pytest.mark.slow
def test_status_and_brief_name_the_other_machine_and_what_waits(typed, two):
    typed("one", "sync")
    typed("one", "fact", "The cups are blue", "--project", "")
    status = typed("one", "sync", "status").out
    assert re.search(r"^waiting  1 event", status, re.MULTILINE)
    assert re.search(r"^machine  \S+, last seen just now", status, re.MULTILINE)
    assert re.search(
        r"^sync   \S+ just now · 1 waiting$",
        call("--store", two and typed.__closure__[0].cell_contents / "one").out,
        re.MULTILINE,
    )


@pytest.mark.slow
def test_an_excluded_project_is_listed_and_stays(typed, two, tmp_path):
    (tmp_path / "client").mkdir()
    typed("one", "fact", "The cups are blue", "--project", tmp_path / "client")
    assert str(tmp_path / "client") in typed("one", "sync", "projects", "--exclude", tmp_path / "client").out
    typed("one", "sync")
    typed("other", "sync")
    assert "cups" not in typed("other", "search", "cups", "--all-projects").out


def test_a_machine_is_dropped_and_told(typed, two, hub):
    typed("one", "sync")
    name = json.loads(typed("one", "sync", "status", "--json").out)["machines"][0]["replica"]
    ran = typed("one", "sync", "drop", name, "--yes")
    assert 0 == ran.code
    assert "it still has" in ran.out
    assert re.search(r"recovery code, from now on: \S+", ran.out)
    dropped = typed("other", "sync")
    assert (1, True) == (dropped.code, "was dropped" in dropped.err)


def test_leaving_is_the_way_out_of_a_damaged_key_as_its_error_says(typed, two, hub, tmp_path):
    (tmp_path / "other" / "sync" / "key").write_bytes(b"{torn")

    said = typed("other", "sync")
    assert (2, True) == (said.code, "`eventlog sync leave`, then join again" in said.err), said
    assert 0 == typed("other", "sync", "leave", "--yes").code
    assert 0 == typed("other", "sync", "join", hub, two).code


def test_where_nothing_syncs_nobody_is_asked_whether_to_leave(typed, tmp_path):
    (tmp_path / "one").mkdir()
    assert "does not sync" in typed("one", "sync", "leave").err


def test_to_leave_deletes_no_event(typed, two):
    assert 0 == typed("other", "sync", "leave", "--yes").code
    assert "The tea is green" in typed("other", "search", "tea", "--all-projects").out
    assert 2 == typed("other", "sync").code


@pytest.mark.slow
def test_with_auto_settling_exchanges_in_the_background(typed, two, tmp_path):
    for machine in ("one", "other"):
        (tmp_path / machine / "config.yaml").write_text("sync: {auto: true}\n")
    typed("one", "fact", "The cups are blue", "--project", "")
    typed("one", "settle")
    typed("other", "settle")
    assert "The cups are blue" in typed("other", "search", "cups", "--all-projects").out


@pytest.mark.parametrize(
    "address",
    ["https://ada:{}@127.0.0.1:1/m.git", "https://{}@127.0.0.1:1/m.git", "http://127.0.0.1:1/?private_token={}"],
)
def test_an_address_with_a_token_is_refused_and_not_shown_again(typed, tmp_path, address):
    token = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
    typed("one", "fact", "The tea is green", "--project", "")
    for words in (("sync", "start"), ("sync", "join"), ("replay", "--out", tmp_path / "out")):
        code = (some_code(),) if "join" in words else ()
        ran = typed("one", *words, address.format(token), *code)

        assert (2, True) == (ran.code, "holds a password or a token" in ran.err)
        assert token not in ran.out + ran.err
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
