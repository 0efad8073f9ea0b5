"""Errors in plain words: what happened, where, what to do; and a doctor who never falls ill."""

import errno
import json
import os
import re
import shutil
import subprocess

import pytest

from eventlog.hosts import ROOMS
from tests.support import builders
from tests.support.command_line import call, on_a_terminal

NOT_YAML = {
    "timezone: [unclosed\n": "a ] is missing",
    "a: b: c\n": "a second colon: put the text in quotes",
    "save:\n\tmin_turns: 3\n": "a tab: indent with spaces",
    "timezone: @here\n": "no value begins with @: put the text in quotes",
    "save:\n  min_turns: 3\n stop_fallback: once\n": "it is not indented like the lines above",
    'timezone: "UTC\n': "a quotation mark is missing at the end of a text",
    "timezone: *here\n": "no value begins with *: put the text in quotes",
    "timezone: \x07\n": "a character that cannot be seen",
}
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


NAMING = (
    ("query", "--id", ""), ("why", ""), ("show", ""), ("undo", ""), ("share", ""), ("edit", "--content", "x", ""),
    ("forget", "--yes", ""), ("redact", "--yes", ""), ("append", "retraction", "target="), ("context", "--session", ""),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("verb", NAMING, ids=" ".join)
def test_a_name_of_bytes_that_are_not_utf8_is_a_name_of_nothing(tmp_path, verb):
    call("fact", "Carts are blue", "--store", tmp_path)
    *words, last = verb
    ran = call(*words, f"{last}no\udcff such", "--store", tmp_path)

    assert ran.code == (0 if verb[0] == "context" else 2)
    assert "cannot be written" not in ran.err


@pytest.mark.parametrize("verb", READERS)
def test_an_unreadable_log_is_told_in_plain_words(unreadable, verb):
    ran = call(verb, "--store", unreadable)

    assert (3, "") == (ran.code, ran.out)
    assert f"eventlog: {unreadable}/log: this user has no permission\n  `ls -ld` shows whose it is" in ran.err
    assert not LIBRARY.search(ran.err)


@pytest.mark.parametrize("verb", READERS)
def test_a_log_that_is_a_link_to_a_disk_which_is_not_there_is_not_an_empty_one(tmp_path, verb):
    (tmp_path / "log").symlink_to("/nowhere/log")
    knowledge = tmp_path / "knowledge" / "sessions.jsonl"
    knowledge.parent.mkdir()
    knowledge.touch()
    ran = call(verb, "--store", tmp_path)

    assert (3, "") == (ran.code, ran.out)
    assert f"{tmp_path}/log: no such file or directory" in ran.err
    assert knowledge.exists()


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
        (("fact", "x", "--confidence", "3"), "--confidence: 3 is not between 0 and 1"),
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


@pytest.mark.slow
@pytest.mark.parametrize("agent", ROOMS.values())
def test_doctor_has_nothing_to_object_to_right_after_an_installation(home, agent):
    call("install", agent, "--no-allow")

    assert 0 == call("doctor").code


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("text", NOT_YAML)
def test_what_is_no_yaml_is_told_in_plain_words_by_doctor_too(home, text):
    (home / ".eventlog").mkdir()
    (home / ".eventlog" / "config.yaml").write_text(text)
    refused, diagnosed, brief = call("replay"), call("doctor"), call()

    assert f"not YAML: {NOT_YAML[text]}" in refused.err
    assert (2, 1, 0) == (refused.code, diagnosed.code, brief.code)
    assert f"not YAML: {NOT_YAML[text]}" in diagnosed.out


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[]", "not a JSON object"),
        (b'{"hooks": [1,2', "not JSON: a comma is missing at line 1, column 15"),
        (b"\xff\xfe", "not UTF-8, at byte 0"),
        (None, "cannot be read: a directory is where a file should be"),
    ],
)
def test_doctor_names_a_file_of_a_host_that_cannot_be_understood(home, data, said):
    place = home / ".claude" / "settings.json"
    place.parent.mkdir()
    place.mkdir() if data is None else place.write_bytes(data)
    ran = call("doctor")

    assert (1, "") == (ran.code, ran.err)
    assert f"{place}: {said}" in ran.out


@pytest.mark.parametrize(
    ("there", "said"),
    [("relative", "which is no path from the root"), ("{file}", "is your home directory, and it is none")],
)
def test_doctor_diagnoses_a_home_that_is_none(home, tmp_path, monkeypatch, there, said):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", there.format(file=tmp_path / "file"))
    ran = call("doctor")

    assert (1, "") == (ran.code, ran.err)
    assert said in ran.out


@pytest.mark.parametrize("args", [(), ("fact", "x"), ("install", "claude"), ("sessions",)])
def test_without_a_home_nothing_is_kept_where_one_happens_to_be(home, monkeypatch, args):
    def unknown(_):
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)
    ran = call(*args)

    assert (3, "") == (ran.code, ran.out)
    assert "cannot find your home directory\n  set HOME" in ran.err
    assert not os.path.lexists("~")
    assert "HOME is '~', which is no path from the root" in call("doctor").out


def test_doctor_diagnoses_a_file_in_the_place_of_the_store(home, tmp_path):
    (tmp_path / "file").write_text("")
    ran, other = call("doctor", "--store", tmp_path / "file"), call("query", "--store", tmp_path / "file")

    assert (1, "") == (ran.code, ran.err)
    assert f"{tmp_path}/file cannot be written: a file is where a directory should be" in ran.out
    assert (3, "") == other[:2]


def test_doctor_diagnoses_a_disk_that_is_read_only(home, monkeypatch):
    call("fact", "Prices are integers", "--session", "s")
    look = os.statvfs

    def statvfs(path):
        return os.statvfs_result([*look(path)[:8], os.ST_RDONLY, 255])

    monkeypatch.setattr(os, "statvfs", statvfs)
    ran = call("doctor")

    assert (1, "") == (ran.code, ran.err)
    assert f"{home}/.eventlog/log cannot be written: the disk is read-only" in ran.out


def test_doctor_diagnoses_a_cache_of_somebody_else(home, monkeypatch):
    call("fact", "Prices are integers", "--session", "s", "--project", "")
    call("replay")
    look = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "/cache" not in str(path) and look(path, mode))
    ran = call("doctor")

    assert (1, "") == (ran.code, ran.err)
    assert f"{home}/.eventlog/cache cannot be used: each replay reads the whole log" in ran.out


def test_doctor_diagnoses_a_cache_that_is_a_file(home):
    call("fact", "Prices are integers", "--session", "s", "--project", "")
    shutil.rmtree(home / ".eventlog" / "cache")
    (home / ".eventlog" / "cache").write_text("in the way")
    ran = call("doctor")

    assert (1, "") == (ran.code, ran.err)
    assert f"{home}/.eventlog/cache cannot be used: it is no directory" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["knowledge", "log", "cache", "spool", "staging"])
def test_doctor_diagnoses_a_room_of_the_store_it_may_not_list(home, monkeypatch, verb):
    call("fact", "Prices are integers", "--session", "s", "--project", "")
    call("replay")
    room, scan = str(home / ".eventlog" / verb), os.scandir

    def refusing(path="."):
        if os.fspath(path).startswith(room):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), room)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    ran = call("doctor")

    assert "" == ran.err
    assert ran.out.splitlines()[0][0] in "✓✗"


def test_what_hooks_noted_is_told_without_the_names_of_exceptions(home):
    (home / ".eventlog" / "cache").mkdir(parents=True)
    noted = {
        "ts": "2026-02-20T12:00:00Z",
        "agent": "x",
        "error": "PermissionError: [Errno 13] Permission denied: '/a/log'",
    }
    (home / ".eventlog" / "cache" / "hook-errors.log").write_text(f"{json.dumps(noted)}\n")
    ran = call("doctor")

    assert 1 == ran.code
    assert "/a/log: this user has no permission" in ran.out
    assert not LIBRARY.search(ran.out)


DEEP = '{"type":"fact","content":"x","conversation_id":"s","deep":' + "[" * 2000 + "]" * 2000 + "}"


@pytest.mark.parametrize("arguments", [["append", "--stdin"], ["append", "fact", "--json", DEEP]])
def test_json_that_lies_too_deep_is_refused_and_nothing_is_stored(tmp_path, arguments):
    ran = call(*arguments, "--store", tmp_path, stdin=DEEP.encode())

    assert 2 == ran.code
    assert "lists or objects lie too deep in each other" in ran.err
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"v":1,', "not-json: it breaks off"),
        (b'{"v":1} x', "not-json: trailing characters (byte 9)"),
        (b"{1:2}", "not-json: object keys must be strings (byte 1)"),
        (b"[" * 3000 + b"]" * 3000, "not-json: lists or objects lie too deep in each other"),
        (b'{"v":"\xff"}', "not-utf8: byte 0xff at offset 6"),
        (b"[1]", "not-object: not a JSON object"),
    ],
)
def test_a_damaged_line_is_told_in_plain_words(tmp_path, line, said):
    builders.write(tmp_path / "log", line + b"\n")
    ran = call("verify", "--store", tmp_path)

    assert 4 == ran.code
    assert said in ran.out
    assert not LIBRARY.search(ran.out)


@pytest.mark.parametrize("source", ["bullets", "claude", "last-word"])
def test_a_source_that_cannot_be_read_is_told_in_plain_words(tmp_path, home, monkeypatch, source):
    place = tmp_path / "past.jsonl"
    place.write_text("{}\n")

    def refusing(self, *_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr("pathlib.Path.open", refusing)
    monkeypatch.setattr("pathlib.Path.read_bytes", refusing)
    monkeypatch.setattr("pathlib.Path.read_text", refusing)
    monkeypatch.setattr("eventlog.app.importing.other_programs.read_regular", refusing)
    monkeypatch.setattr("eventlog.app.importing.transcripts.read_regular", refusing)
    monkeypatch.setattr("eventlog.hosts.transcripts.steps.open_regular", refusing)
    ran = call("import", source, place)

    assert 4 == ran.code
    assert f"{place}: this user has no permission" in ran.err
    assert not LIBRARY.search(ran.err)


# ------------------------------------------------------------------------------------------------ part of a log


@pytest.fixture
def half(tmp_path):
    """A log of two days, one of which cannot be read."""
    (tmp_path / "log" / "2026-02-19.jsonl").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("verb", ["sessions", "query"])
def test_an_empty_answer_says_that_part_of_the_log_cannot_be_read(half, verb):
    ran = call(verb, "--store", half)

    assert (0, "") == ran[:2]
    assert f"part of the log cannot be read: {half}/log/2026-02-19.jsonl" in ran.err


def test_the_brief_does_not_take_an_unreadable_log_for_an_empty_one(half, home):
    said = call("--store", half).out

    assert "no memory yet" not in said
    assert "log    ✗ 1 file cannot be read: eventlog doctor" in said


@pytest.mark.parametrize("verb", ["query", "sessions", "search"])
def test_a_limit_may_be_larger_than_any_number_a_machine_counts_with(tmp_path, verb):
    call("fact", "the heron nests", "--store", tmp_path)
    args = ["heron"] if verb == "search" else []

    assert call(verb, *args, "--limit", "9" * 30, "--store", tmp_path).code == 0


def test_words_that_are_not_utf_8_are_looked_for_as_they_were_stored(tmp_path):
    call("fact", "a name like a\udcffb", "--store", tmp_path)

    assert "a name like" in call("query", "--grep", "a\udcffb", "--store", tmp_path).out


def test_a_directory_that_was_removed_is_named_where_a_verb_works_in_it(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    said = call("memory", "--store", tmp_path)
    assert (3, "eventlog: the current directory was removed\n  change to one that is there\n") == (said.code, said.err)


def test_a_name_that_is_not_utf_8_is_not_laid_to_the_locale(tmp_path, monkeypatch):
    (place := tmp_path / "a\udcffb").mkdir()
    monkeypatch.chdir(place)

    said = call("report", "--store", tmp_path)
    assert said.code == 3
    assert "a name that is not UTF-8 cannot be written: " in said.err
    assert "rename it" in said.err


def test_no_editor_is_opened_where_nobody_sees_it(tmp_path, monkeypatch):
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    call("fact", "the heron nests", "--store", tmp_path)

    said = call("edit", "the heron nests", "--store", tmp_path)
    assert (2, True) == (said.code, "cannot open an editor without a terminal" in said.err)


@pytest.mark.slow
@pytest.mark.parametrize("editor", ["/nowhere/editor", "false"])
def test_an_editor_that_fails_is_named(tmp_path, monkeypatch, editor):
    monkeypatch.setenv("VISUAL", editor)
    call("fact", "the heron nests", "--store", tmp_path)

    said = call("edit", "the heron nests", "--store", tmp_path)
    failed = f"eventlog: the editor failed: {editor}\n  set EDITOR to another; nothing was changed\n"
    assert (2, failed) == (said.code, said.err)


@pytest.mark.slow
def test_a_question_is_seen_where_the_answer_goes_to_a_file(tmp_path):
    call("fact", "the heron nests", "--store", tmp_path)
    with (tmp_path / "answer").open("w") as answer:
        asked = on_a_terminal("forget", "the heron nests", "--store", tmp_path, typed="n\n", to=answer)

    assert "Forget this? [y/N]: " in asked
    assert "Forget" not in (tmp_path / "answer").read_text()


def test_a_search_for_common_words_only_says_so(tmp_path):
    call("fact", "the other one", "--store", tmp_path)

    assert (
        "it has only common words: eventlog query --grep 'the one'"
        in call("search", "the one", "--store", tmp_path).err
    )
    assert "common words" not in call("search", "zebra", "--store", tmp_path).err


@pytest.mark.slow
def test_words_that_the_locale_cannot_read_are_refused_and_a_path_is_taken(tmp_path, monkeypatch):
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    store = tmp_path / "记忆"

    def typed(*words):
        with builders.spawn("-m", "eventlog", *words, "--store", store, stderr=subprocess.PIPE) as ran:
            out, err = ran.communicate()
        return ran.returncode, out, err

    code, out, err = typed("fact", "价格以分为单位")
    assert (2, b"") == (code, out)
    assert b"the encoding of this locale (ascii) cannot read" in err
    assert b"set PYTHONUTF8=1" in err
    store.mkdir()
    assert (0, b"") == typed("fact", "Prices are integers")[::2]
    assert b"Prices are integers" in typed("query")[1]
