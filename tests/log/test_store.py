import os
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eventlog import EventLog, Store
from eventlog.store import conversation_name, day_of, project_slug
from tests.support.command_line import call
from tests.support.hook_calls import run as hook
from tests.support.payloads import claude

hostile = st.text(st.characters(), max_size=300) | st.text("./\\~-:\0\n ab", max_size=12)
HOSTILE = ["", ".", "..", "../x", "/etc/passwd", "a/../../b", "~", "~/x", "a\0b", "a\nb", "C:\\x", "x" * 300, "𠀀" * 90]


def stays(root, name):
    return Path(os.path.normpath(f"{root}/{name}")).parent == Path(root)


def _by_the_book(name):
    """The grammar of day files as a regular expression and a calendar say it."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)(\.[A-Za-z0-9._-]{1,60})?\.jsonl", name, re.ASCII)
    if not match or "conflict" in (match[2] or "").lower():
        return ""
    try:
        return date.fromisoformat(match[1]).isoformat()
    except ValueError:
        return ""


@given(
    st.builds(
        "{}{}{}{}".format,
        st.dates().map(str) | st.from_regex(r"[0-9]{4}-[0-3][0-9]-[0-3][0-9]", fullmatch=True),
        st.sampled_from(
            [
                "",
                ".",
                "..",
                "\u0662",
                "\n",
                "-",
                ".sync-conflict-1",
                ".Conflict",
                ".b_conflict-2",
                "." + "r" * 60,
                "." + "r" * 61,
            ]
        ),
        st.text("a.-_A\u00e9 /", max_size=3),
        st.sampled_from([".jsonl", ".jsonl", ".json", ".jsonl~", ""]),
    )
)
@example("2026-02-30.jsonl")
@example("0000-01-01.jsonl")
@example("1900-02-29.jsonl")
@example("2000-02-29.laptop.local.jsonl")
@example("\u0662\u0660\u0662\u0666-02-20.jsonl")
def test_hooks_and_readers_know_a_day_file_by_one_grammar(name):
    assert _by_the_book(name) == day_of(name)


@pytest.mark.parametrize("name_of", [conversation_name, project_slug])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_known_trick_names_a_path_outside(name_of, text):
    assert stays("/store/knowledge", name_of(text))


@pytest.mark.parametrize("name_of", [conversation_name, project_slug])
@given(text=hostile)
def test_a_name_is_one_part_of_a_path_that_the_system_takes(name_of, text):
    name = name_of(text)

    assert stays("/store/knowledge", name)
    assert "\0" not in name
    assert 0 < len(name.encode()) <= 240


@given(st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,119}", fullmatch=True))
def test_a_safe_conversation_id_is_its_own_name(conversation_id):
    assert conversation_id == conversation_name(conversation_id)


@given(hostile, hostile)
def test_different_conversations_have_different_names(one, other):
    assert (one == other) == (conversation_name(one) == conversation_name(other))


@given(hostile, hostile)
def test_different_projects_have_different_names_whatever_their_last_part(one, other):
    assert (one == other) == (project_slug(f"/{one}/app") == project_slug(f"/{other}/app"))


def test_a_project_is_recognised_by_its_name():
    assert project_slug("/home/me/app").startswith("app-")


def test_hostile_ids_and_times_write_nothing_outside_the_store(tmp_path):
    log = EventLog(tmp_path / "deep" / "store", fsync=False)
    for text in HOSTILE[1:]:
        log.append({"type": "turn_end", "conversation_id": text, "project": text, "agent": text})
        log.session(text)

    assert [tmp_path / "deep"] == list(tmp_path.iterdir())
    assert [tmp_path / "deep" / "store"] == list((tmp_path / "deep").iterdir())
    assert len(HOSTILE) - 1 == len(list(log.read()))


def test_nothing_is_created_before_the_first_append(tmp_path):
    log = EventLog(tmp_path / "store")

    assert ([], [], []) == (list(log.read()), log.session("c"), list(tmp_path.iterdir()))


def test_everything_created_is_the_owners_only_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        log = EventLog(tmp_path / "store")
        log.append({"type": "turn_end", "conversation_id": "c"})
        log.index.catch_up()
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "store").rglob("*")}

    assert {path: 0o700 if path.is_dir() else 0o600 for path in modes} == modes
    assert {"log", "cache"} < {path.name for path in modes}


@pytest.mark.parametrize(
    ("root", "explicit", "environ"),
    [("/a", "/a", {"EVENTLOG_HOME": "/b"}), ("/b", None, {"EVENTLOG_HOME": "/b"}), ("/b", "", {"EVENTLOG_HOME": "/b"})],
)
def test_the_store_is_the_one_named_first(root, explicit, environ):
    assert root == Store.locate(explicit, environ).root


@pytest.mark.parametrize("environ", [{}, {"EVENTLOG_HOME": ""}, {"EVENTLOG_HOME": " "}, {"EVENTLOG_HOME": "\t\n"}])
def test_the_store_is_at_home_where_nothing_is_said(environ):
    assert Path.home() / ".eventlog" == Path(Store.locate(None, environ).root)


@pytest.mark.parametrize("named", ["memory", "./memory", "~/memory", " memory "])
def test_a_relative_store_is_one_and_the_same_in_every_directory(tmp_path, monkeypatch, named):
    found = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        found.add(Store.locate(None, {"EVENTLOG_HOME": named}).root)

    assert {str(Path.home() / "memory")} == found


def test_a_store_named_on_the_command_line_is_relative_to_where_it_is_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert str(tmp_path / "here") == Store.locate("here", {"EVENTLOG_HOME": "/b"}).root


@pytest.mark.parametrize("verb", [("query",), ("replay",), ("fact", "x", "--session", "s"), ("config",)])
def test_a_store_that_is_a_file_is_told_to_a_person(tmp_path, monkeypatch, verb):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("EVENTLOG_HOME", str(tmp_path / "file"))
    ran = call(*verb)

    assert 3 == ran.code
    assert f"{tmp_path / 'file'}: is a file, not the directory of a store" in ran.err
    assert "EVENTLOG_HOME" in ran.err
    assert "mine" == (tmp_path / "file").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb",
    [
        *(
            (verb,)
            for verb in [
                "verify",
                "seal",
                "replay",
                "settle",
                "apply",
                "status",
                "query",
                "sessions",
                "memory",
                "stats",
                "today",
                "week",
            ]
        ),
        *(
            (verb,)
            for verb in [
                "report",
                "serve",
                "review",
                "diff",
                "export",
                "config",
                "scan",
                "prune",
                "undo",
                "resolve",
                "sync",
            ]
        ),
        ("replay", "--check"),
        ("backup", "create", "b.tar"),
        ("search", "x"),
        ("recall", "x"),
        ("why", "x"),
        ("show", "last"),
        ("on", "monday"),
        ("forget", "x"),
        ("redact", "some text"),
        ("project", "list"),
        ("sync", "status"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_mistyped_store_is_no_empty_store(tmp_path, monkeypatch, verb, first):
    monkeypatch.chdir(tmp_path)
    named = ("--store", tmp_path / "typo")
    ran = call(*named, *verb) if first else call(*verb, *named)

    assert 2 == ran.code
    assert f"{tmp_path / 'typo'}: no such directory" in ran.err
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", [("fact", "x", "--session", "s"), ("sync", "start", "dir:hub")])
def test_a_new_store_begins_where_the_command_line_names_it(tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)

    assert 0 == call(*verb, "--store", tmp_path / "new").code
    assert (tmp_path / "new").is_dir()


def test_a_context_of_a_store_that_is_not_begun_is_empty_and_begins_none(tmp_path):
    assert (0, "") == call("context", "--project", tmp_path, "--store", tmp_path / "new")[:2]
    assert [] == list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_hooks_and_verbs_make_a_store_its_owner_can_use_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        for number in range(2):
            hook(tmp_path / "store", claude("Stop", prompt_id=f"p-{number}"))
        call("fact", "x", "--session", "s", "--store", tmp_path / "store")
        call("replay", "--store", tmp_path / "store")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]}

    assert {path: 0o700 if path.is_dir() else 0o600 for path in modes} == modes
    assert 2 == len(list(EventLog(tmp_path / "store").read(until="~"))) - 1


# ------------------------------------------------------------------------------------------------ whether it is well


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda root: root.chmod(0o777), "is open to other users (mode 777)"),
        (lambda root: (root / "log").chmod(0o755), "log is open to other users (mode 755)"),
        (lambda root: (root / "config.yaml").chmod(0o666), "config.yaml is open to other users (mode 666)"),
        (lambda root: os.chown(root / "config.yaml", 4711, -1), "config.yaml belongs to another user"),
        (lambda root: os.chown(root, 4711, -1), "store belongs to another user"),
    ],
)
def test_doctor_tells_of_a_store_that_is_not_its_owners_alone(tmp_path, spoil, what):
    root = tmp_path / "store"
    call("fact", "x", "--session", "s", "--store", root)
    (root / "config.yaml").touch(0o644)
    before = call("doctor", "--store", root)
    try:
        spoil(root)
    except PermissionError:
        pytest.skip("giving a file away takes root")
    after = call("doctor", "--store", root)

    assert 0 == before.code
    assert 1 == after.code
    assert what in after.out
