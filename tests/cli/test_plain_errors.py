"""Errors in plain words: what happened, where, what to do; and a doctor who never falls ill."""

import errno
import json
import os
import re

import pytest

from eventlog.hosts import ROOMS
from tests.support.command_line import call

READERS = ("query", "verify", "stats", "sessions", "replay", "status")
LIBRARY = re.compile(r"Errno|Error\b|expected `|Traceback|\.lock|msgspec", re.ASCII)


@pytest.fixture
def unreadable(tmp_path, monkeypatch):
    """A store whose log belongs to somebody else."""
    (tmp_path / "store" / "log").mkdir(parents=True)
    log, scan, listing = str(tmp_path / "store" / "log"), os.scandir, os.listdir

    def refuse(use):
        def refusing(path="."):
            if os.fspath(path) == log:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), log)
            return use(path)

        return refusing

    monkeypatch.setattr(os, "scandir", refuse(scan))
    monkeypatch.setattr(os, "listdir", refuse(listing))
    return tmp_path / "store"


@pytest.mark.parametrize("verb", READERS)
def test_an_unreadable_log_is_told_in_plain_words(unreadable, verb):
    ran = call(verb, "--store", unreadable)

    assert (3, "") == (ran.code, ran.out)
    assert f"eventlog: {unreadable}/log: this user has no permission\n  `ls -ld` shows whose it is" in ran.err
    assert not LIBRARY.search(ran.err)


@pytest.mark.parametrize("verb", READERS)
def test_a_file_in_the_place_of_the_log_is_told_in_plain_words(tmp_path, verb):
    (tmp_path / "log").write_text("in the way")
    ran = call(verb, "--store", tmp_path)

    assert 3 == ran.code
    assert f"{tmp_path}/log: a file is where a directory should be" in ran.err
    assert not LIBRARY.search(ran.err)


def test_what_cannot_be_stored_names_the_place_and_no_lock(tmp_path):
    (tmp_path / "file").write_text("")
    for verb in (
        ("fact", "x"),
        ("plan", "--path", "user", "--heading", "H", "--content", "x"),
        ("append", "fact", "content=x"),
    ):
        ran = call(*verb, "--session", "s", "--store", tmp_path / "file" / "store")

        assert 3 == ran.code
        assert "not stored: a file is where a directory should be" in ran.err
        assert not LIBRARY.search(ran.err)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("fact", "x", "--confidence", "3"), "confidence: must be at most 1"),
        (("fact", " "), "content: must not be blank"),
        (("append", "fact", "content=x", "confidence=high"), "confidence: must be a number, not text"),
        (("append", "fact", "--json", '{"content": 3}'), "content: must be text, not a whole number"),
        (("append", "fact", "--json", "{oops"), "--json: not a JSON object: object keys must be strings"),
    ],
)
def test_a_wrong_value_is_refused_in_our_words(tmp_path, args, said):
    ran = call(*args, "--session", "s", "--store", tmp_path / "store")

    assert (2, "") == (ran.code, ran.out)
    assert said in ran.err
    assert not LIBRARY.search(ran.err)


# ------------------------------------------------------------------------------------------------ doctor


def test_doctor_diagnoses_a_log_that_cannot_be_read(unreadable, home):
    ran = call("doctor", "--store", unreadable)

    assert (1, "") == (ran.code, ran.err)
    assert f"{unreadable}/log cannot be examined: this user has no permission" in ran.out


def test_doctor_diagnoses_a_file_in_the_place_of_the_log(tmp_path, home):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "log").write_text("in the way")
    ran = call("doctor", "--store", tmp_path / "store")

    assert (1, "") == (ran.code, ran.err)
    assert "a file is where a directory should be" in ran.out


@pytest.mark.parametrize("agent", ROOMS.values())
def test_doctor_has_nothing_to_object_to_right_after_an_installation(home, agent):
    call("install", agent, "--no-allow")

    assert 0 == call("doctor").code


def test_doctor_has_nothing_to_object_to_when_all_agents_are_installed(home):
    call("install", *ROOMS.values(), "--no-allow")

    assert 0 == call("doctor").code


def test_hooks_that_are_skipped_are_serious_once_the_host_has_worked_without_them(home):
    call("install", "codex", "--no-allow")
    sessions = home / ".codex" / "sessions" / "2026" / "02" / "21"
    sessions.mkdir(parents=True)
    (sessions / "rollout-1.jsonl").write_text("{}\n")
    later = (home / ".codex" / "hooks.json").stat().st_mtime + 60
    os.utime(sessions / "rollout-1.jsonl", (later, later))
    report = json.loads(call("doctor", "--json").out)
    [codex] = [agent for agent in report["agents"] if agent["agent"] == "codex"]

    assert 1 == call("doctor").code
    assert ["run /hooks in Codex"] == [problem["fix"] for problem in codex["problems"] if problem["serious"]]
