"""`config.yaml`: what is given counts, what is wrong is named with its line, and hooks pay nothing for it."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from eventlog.format.errors import BadSettings
from eventlog.settings import cached, load
from eventlog.settings.schema import Settings
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.tree import IMPORT_PATH


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "store"))


def write(store, text):
    path = Path(store.config)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def refusal(store, text):
    write(store, text)
    with pytest.raises(BadSettings) as caught:
        load.load(store)
    return caught.value


def test_without_a_file_everything_has_its_default(store):
    assert (Settings(), {}) == load.load(store)
    assert {} == cached.settings(store)


def test_what_is_not_given_keeps_its_default(store):
    write(store, "memory: {max_lines: 50}\nlocale: zh\n")
    settings = load.load(store).settings

    assert (50, 25_000, "zh", "UTC") == (
        settings.memory.max_lines, settings.memory.max_bytes, settings.locale, settings.timezone,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("locale: zh\ntimezon: UTC\n", 2, "timezon: unknown key"),
        ("memory:\n  max_lines: 50\n  max_line: 3\n", 3, "memory.max_line: unknown key"),
        ("memory:\n  max_lines: many\n", 2, "memory.max_lines: must be a whole number, not text"),
        ("\nmemory: 7\n", 2, "memory: expected a mapping"),
        *(
            (f"{key}: {{{name}: {10**20}}}\n", 1, f"{key}.{name}: must be at most 1000000000")
            for key, value in msgspec.to_builtins(Settings()).items()
            if isinstance(value, dict)
            for name, default in value.items()
            if type(default) is int and name != "lines"
        ),
        ("locale: de\n", 1, "locale: must be one of en, zh"),
        ("version: 1\ntimezone: Mars/Olympus\n", 2, "timezone: there is no time zone 'Mars/Olympus'"),
        ("knowledge_bases:\n  user:\n    path: ../../etc/passwd\n", 3, "knowledge_bases.user.path: must start with"),
        ("knowledge_bases:\n  user: {path: ~/x, reviews: true}\n", 2, "knowledge_bases.user.reviews: unknown key"),
        ("session_bootstrap: [user, nope]\n", 1, "session_bootstrap: there is no knowledge base 'nope'"),
        ("version: 1\nknowledge_bases: {a: {path: ~/x}, b: {path: ~/./x}}\n", 2, "'a' and 'b' are the same file"),
        ("fsync: never\nfsync: always\n", 2, "fsync: is given twice"),
        ("fsync: [\n", 2, "not YAML"),
        ("- fsync\n", 1, "expected a mapping"),
        ("? [a]\n: b\n", 1, "is not a plain key"),
        ("[" * 4000, 1, "is nested too deeply"),
        ("a: \x07\n", 1, "not YAML"),
        ("a: &a [*a]\n", 1, "unknown key"),
        ("session_hooks: &a {x: *a}\n", 1, "session_hooks"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_key_file_and_line(store, text, line, what):
    error = refusal(store, text)

    assert f"{store.config}:{line}" == error.where
    assert what in error.what


def test_one_mistake_does_not_hide_the_others(store):
    error = refusal(store, "locale: de\nfsync: 1\nmemory: {max_bytes: 3}\ntimezone: Mars\n")

    assert "locale" in error.what
    assert [f"line {number}" in error.hint for number in (2, 3, 4)] == [True] * 3


def test_a_file_that_is_not_utf8_is_named_with_its_line(store):
    write(store, "")
    Path(store.config).write_bytes(b"locale: zh\ntimezone: \xff\n")

    with pytest.raises(BadSettings, match=r"config\.yaml:2: is not UTF-8"):
        load.load(store)


def test_every_setting_tells_where_it_comes_from(store):
    write(store, "version: 1\nknowledge_bases:\n  user:\n    path: ~/U.md\nsession_hooks:\n  logging: {x: {y: 1}}\n")
    origins = {one.key: one.line for one in load.effective(load.load(store))}

    assert (4, 5, None) == (
        origins["knowledge_bases.user.path"], origins["session_hooks.logging.x.y"], origins["memory.max_lines"],
    )  # fmt: skip


def test_hooks_see_the_same_values(store):
    write(store, "fsync: never\nsave: {min_turns: 9}\n")
    first, again = cached.settings(store), cached.settings(store)

    assert msgspec.to_builtins(load.load(store).settings) == first == again
    assert not cached.wants_sync(store)


def test_hooks_see_a_change_at_once(store):
    write(store, "fsync: never\n")
    before = cached.wants_sync(store)
    write(store, "fsync: always\n")

    assert (False, True) == (before, cached.wants_sync(store))


def test_values_that_have_not_changed_are_not_read_again(store, monkeypatch):
    write(store, "fsync: never\n")
    values = [cached.settings(store) for _ in range(2)]
    monkeypatch.setattr("eventlog.store.files.read_regular", lambda path: pytest.fail(f"{path} was read"))

    assert [cached.settings(store)] * 2 == values
    assert not cached.wants_sync(store)


def test_a_mistake_is_no_obstacle_to_a_hook(store):
    write(store, "fsync: nver\n")

    assert cached.wants_sync(store)


def test_doctor_tells_of_a_mistake_and_where_it_is(home):
    write(Store(str(home / ".eventlog")), "locale: de\n")
    ran = call("doctor")

    assert (1, True) == (ran.code, "config.yaml:1: locale: must be one of en, zh" in ran.out)


def test_deleting_the_cache_changes_nothing(store):
    write(store, "fsync: never\n")
    before = cached.settings(store)
    Path(store.cache, "settings.json").write_text("{}")

    assert before == cached.settings(store)


@pytest.mark.slow
@pytest.mark.parametrize("text", [None, "fsync: never\n"])
def test_hooks_load_no_yaml_for_settings_they_have_seen(store, text):
    if text:
        write(store, text)
        cached.settings(store)
    code = (
        "import sys; from eventlog.settings import cached as compiled; from eventlog.store import Store;"
        "compiled.settings(Store(sys.argv[1]));"
        "print([one for one in ('yaml', 'msgspec', 'typing', 're', 'json', 'pathlib') if one in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", code, store.root],
        capture_output=True,
        text=True,
        check=True,
        cwd=IMPORT_PATH,
    )

    assert "[]\n" == run.stdout


# ------------------------------------------------------------------------------- files that are meant to do harm

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 9)
)
IN_HOOKS = "session_hooks:\n  x: {a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]"
for _level in "bcdefgh":
    IN_HOOKS += f", {_level}: &{_level} [{', '.join(['*' + chr(ord(_level) - 1)] * 9)}]"
IN_HOOKS += "}\n"


@pytest.mark.parametrize("text", [BOMB, IN_HOOKS], ids=["at the top", "under session_hooks"])
def test_aliases_that_multiply_are_refused_by_every_reader(store, text):
    assert "aliases stand for more than" in refusal(store, text).what
    assert 2 == call("config", "--store", store.root).code
    assert "always" == cached.settings(store)["fsync"]


def test_aliases_as_people_use_them_are_taken(store):
    write(store, "session_hooks:\n  a: &same {enabled: true, x: [1, 2]}\n  b: *same\n  c: *same\n")
    hooks = load.load(store).settings.session_hooks

    assert hooks["a"] == hooks["b"] == hooks["c"]


@pytest.mark.slow
def test_a_file_of_any_length_is_refused_at_once(store):
    assert "is larger than" in refusal(store, "# " + "x" * 50_000_000).what


@pytest.mark.parametrize("kind", ["FIFO", "device without end"])
def test_what_is_no_file_is_refused_at_once(store, kind):
    path = Path(store.config)
    path.parent.mkdir()
    os.mkfifo(path) if kind == "FIFO" else path.symlink_to("/dev/zero")

    assert 2 == call("config", "--store", store.root).code
    assert 2 == call("replay", "--store", store.root).code
    assert 1 == call("doctor", "--store", store.root).code
    assert cached.wants_sync(store)
