"""What a person reads is whole, in order and found: prose at its words, the newest of much, a pager, a way on from nothing."""

import json
import re

import click
import pytest

from eventlog.cli.show.display import Display
from eventlog.cli.show.events import describe
from eventlog.cli.terminal import cells, wrapped
from eventlog.format.events import ContextInjected
from eventlog.store import Store
from tests.support import builders
from tests.support.command_line import call, on_a_terminal
from tests.support.screen import foreign_styles, seen, told


@pytest.fixture
def many(tmp_path):
    builders.write(tmp_path / "log", b"".join(builders.line(number) + b"\n" for number in range(120)))
    return tmp_path


# ------------------------------------------------------------------------------------------------ prose and columns


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("every hook runs twice", 12, ["every hook", "runs twice"]),
        ("修复编码问题,完成", 8, ["修复编码", "问题,完", "成"]),
        ("（括号）不在行末", 8, ["（括号）", "不在行末"]),
        ("see /a/very/long/path now", 8, ["see", "/a/very/long/path", "now"]),
        ("🎉 done", 4, ["🎉", "done"]),
        ("", 9, [""]),
    ],
)
def test_lines_are_broken_between_words_and_never_within_one(text, room, lines):
    assert lines == wrapped(text, room)


def test_prose_is_not_broken_in_the_middle_of_a_word(tmp_path):
    said = told("sync", "status", "--store", tmp_path, columns=40)
    words = "this store does not sync: eventlog sync start REMOTE"

    assert words == " ".join(seen(said, 40).split())
    assert 40 >= max(map(cells, said.splitlines()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (
            ("search", "carts", "--since", "2030-01-01"),
            "for: carts\n  there are some without --since",
        ),
        (("search", "blue", "carts", "--type", "stage_summary"), "there are some without --type stage_summary"),
        (("search", "doors", "--type", "fact"), "or about you for: doors\n"),
        (("stats", "--since", "2030-01-01"), "no session fits --since 2030-01-01\n"),
        (
            ("sessions", "--until", "2020-01-01"),
            "fits --until 2020-01-01\n  there are some without --until 2020-01-01\n",
        ),
        (("query", "--since", "2030-01-01T08:30:59Z"), "no event fits --since '2030-01-01 08:30'\n"),
        (("on", "2030-01-01"), "that time has not come yet"),
        (("week", "--since", "2030-01-01"), "that time has not come yet"),
    ],
)
def test_an_empty_answer_says_what_would_have_one(tmp_path, monkeypatch, verb, said):
    monkeypatch.chdir(tmp_path)
    saved = ("--session", "s", "--store", tmp_path / "store")
    call("fact", "Carts are blue", "--scope", "user", "--project", "", *saved)
    ran = call(*verb, "--store", tmp_path / "store")

    assert said in ran.out + ran.err


def test_the_text_of_why_has_the_width_of_the_terminal_however_often_it_was_said(tmp_path):
    text = "Postgres 16 is pinned in CI because 17 breaks the citext extension"
    for session in range(5):
        call("fact", text, "--session", str(session), "--project", "", "--scope", "user", "--store", tmp_path)
    call("replay", "--store", tmp_path)
    said = seen(told("why", "MEMORY.md:5", "--store", tmp_path, columns=80))

    assert 1 == said.count(text)
    assert "said 5 times · 5 sessions · 1 agent" in said
    assert 12 >= len(said.splitlines())
    assert said.rstrip().endswith("wrong?  eventlog forget MEMORY.md:5")


# ------------------------------------------------------------------------------------------------ much


def test_a_person_gets_the_newest_events_of_many_and_a_program_all(many):
    shown = seen(told("query", "--store", many, rows=500))
    every = seen(told("query", "--all", "--store", many, rows=500))

    assert ["fact 70", "fact 119"] == [re.findall("fact [0-9]+$", shown, re.MULTILINE)[at] for at in (0, -1)]
    assert "the newest 50 of more; all: --all" in shown
    assert (
        120
        == len(re.findall("fact [0-9]+$", every, re.MULTILINE))
        == len(call("query", "--store", many).out.splitlines())
    )


@pytest.mark.slow
def test_more_than_a_screen_goes_through_the_pager_and_less_does_not(many, monkeypatch):
    paged = on_a_terminal("query", "--store", many, PAGER="sed s/^/|/")
    short = on_a_terminal("query", "--grep", "fact 119", "--store", many, PAGER="sed s/^/|/")

    assert "|" in paged
    assert "|" not in short


# ------------------------------------------------------------------------------------------------ answers


def test_a_person_is_told_in_a_sentence_what_became_of_a_fact_and_a_program_in_json(tmp_path, home):
    args = ("fact", "Prices are integers", "--session", "s", "--project", "", "--store", tmp_path)
    first, again = told(*args), told(*args)

    assert re.search(r"✓ saved  [0-9a-f]{6}  fact  Prices are integers", click.unstyle(first))
    assert "nothing was written" in again
    assert "{" not in first + again
    assert '{"status":"skipped"' in call(*args).out


def test_a_fact_can_be_saved_without_a_session(home):
    assert 0 == call("fact", "Prices are integers", "--project", "").code
    assert "Prices are integers" in call("query").out


def test_words_are_found_in_any_order_and_what_is_near_is_told(many):
    assert 1 == len(call("query", "--grep", "119 fact", "--store", many).out.splitlines())
    nothing = call("query", "--grep", "fact unicorn", "--agent", "claude", "--store", many)

    assert (0, "") == nothing[:2]
    assert "no event fits" in nothing.err


def test_what_is_near_an_empty_answer_is_named(many):
    nothing = call("query", "--grep", "fact unicorn", "--store", many).err
    late = call("query", "--grep", "fact", "--since", "2030-01-01", "--store", many).err

    assert "there are some with --grep fact" in nothing
    assert "there are some without --since" in late


def test_stats_tell_whether_memory_worked_before_any_figure(tmp_path, home):
    call("summary", "--topic", "t", "--summary", "s", "--session", "s", "--store", tmp_path)
    said = seen(told("stats", "--store", tmp_path))

    assert "✓ 1 session saved, nothing is lost" in said
    assert "(0%)" not in said
    assert "week\tsessions" in call("stats", "--store", tmp_path).out


def test_events_have_the_same_columns_in_a_pipe_behind_words_as_behind_a_line(tmp_path, home):
    saved = ("--scope", "user", "--project", "", "--session", "s")
    call("fact", "Prices are integers", *saved)
    call("fact", "Prices are in cents", *saved, "--replaces", "Prices are integers")
    call("replay")
    [_, *behind_words], [_, *behind_line] = (call("why", what).out.splitlines() for what in ("cents", "MEMORY.md:5"))

    assert behind_words == behind_line
    assert ["2", "    replaced:"] == [str(len(behind_line) - 1), behind_line[1]]


@pytest.mark.parametrize("verb", [("query",), ("sessions",)])
def test_the_columns_of_a_pipe_have_names_on_request(many, verb):
    plain, headed = (call(*verb, *more, "--store", many).out.splitlines() for more in ((), ("--header",)))

    assert plain == headed[1:]
    assert len(plain[0].split("\t")) == len(headed[0].split("\t"))


def test_a_replay_names_a_directory_once_however_many_of_its_files_it_writes(tmp_path, home):
    for session in range(12):
        call("summary", "--topic", "t", "--summary", f"s{session}", "--session", str(session), "--store", tmp_path)
    said = seen(told("replay", "--store", tmp_path))
    piped, every = (
        call("replay", "--out", tmp_path.with_name(f"{tmp_path.name}-{at}"), "--store", tmp_path, *more).out
        for at, more in enumerate(((), ("--json",)))
    )

    assert "wrote      sessions/: 12 files" in said
    assert "wrote      sessions/: 12 files" in piped
    assert 12 == every.count('"sessions/')


def test_of_many_forgotten_statements_and_old_lines_a_pipe_has_some_and_json_all(tmp_path, home):
    stream = [builders.line(number, content=f"Room {chr(0x4E00 + number)}") for number in range(60)]
    builders.write(tmp_path / "log", b"".join(line + b"\n" for line in stream))
    where = ("--store", tmp_path)

    def rows(*verb):
        return call(*verb, *where).out.splitlines()

    old, every = rows("review"), json.loads(call("review", "--json", *where).out)["lines"]
    assert (51, "and 10 more: --json lists all", 60) == (len(old), old[-1], len(every))
    call("forget", "--matching", "Room", "--all", "--yes", *where)
    assert ["forgotten", "and 55 more: eventlog query --type rejected", "", ""] == rows("status")[-1].split("\t")
    assert (6, 60) == (len(rows("status")), len(json.loads(call("status", "--json", *where).out)["forgotten"]))


def test_a_start_says_its_branch_and_numbers_have_their_plural(tmp_path):
    call("append", "session_start", "git_branch=main", "source=startup", "--session", "s", "--store", tmp_path)
    said = call("query", "--store", tmp_path).out

    assert "startup, main, branch main\n" in said
    assert "1 character from 1 event" == describe(
        ContextInjected(conversation_id="s", chars=1, sources=["x"], digest="d")
    )


def test_doctor_tells_how_much_there_is_and_which_release_tells_it(many, home):
    said = call("doctor", "--store", many).out

    assert re.search(r"^. store .* · 1 day file, [\d.]+ kB · eventlog \d", said, re.MULTILINE)
    assert re.search(r"^! next +no hook is installed: eventlog install", said, re.MULTILINE)


def test_headings_and_the_stamp_of_a_file_do_not_repeat_the_events_of_its_lines(tmp_path, home):
    call("fact", "Prices are integers", "--session", "s", "--project", "", "--scope", "user", "--store", tmp_path)
    call("replay", "--store", tmp_path)
    said = seen(told("why", "MEMORY.md", "--store", tmp_path))

    assert "sha256" not in said
    assert 1 == said.count("today")


def test_a_memory_is_read_from_anywhere_by_the_name_of_its_project(tmp_path, home, monkeypatch):
    (home / "notes").mkdir()
    monkeypatch.chdir(home / "notes")
    builders.write(tmp_path / "log", builders.line(1, project="/src/shop", content="Prices are integers") + b"\n")
    said = seen(told("memory", "shop", "--store", tmp_path))
    missing = call("memory", "--store", tmp_path)

    assert "Prices are integers  20 Feb" in said
    assert "no memory of notes yet" in missing.err


@pytest.mark.parametrize("style", ["38;5;12", "41", "48;2;1;2;3", "100"])
def test_a_colour_beyond_the_sixteen_is_noticed(style):
    assert foreign_styles(f"\x1b[{style}mx\x1b[0m")


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("2026-11-21T11:59:30.000000Z", "just now"),
        ("2026-11-21T12:00:50.000000Z", "just now"),
        ("2026-11-21T12:01:30.000000Z", "in the future, 2026-11-21 12:01"),
        ("2031-02-01T12:00:00.000000Z", "in the future, 2031-02-01 12:00"),
        ("2026-11-21T09:00:00.000000Z", "3 h ago"),
        ("2026-11-20T11:00:00.000000Z", "yesterday"),
        ("2026-11-08T12:00:00.000000Z", "13 days ago"),
        ("2026-11-07T12:00:00.000000Z", "2 weeks ago"),
        ("2026-02-20T12:00:00.000000Z", "9 months ago"),
        ("2023-11-21T12:00:00.000000Z", "3 years ago"),
    ],
)
def test_how_long_ago_something_was_is_told_as_one_says_it(then, said):
    assert said == Display(Store("/nowhere"), "2026-11-21T12:00:00.000000Z").ago(then)


@pytest.mark.slow
def test_a_taking_back_is_asked_about_in_the_words_it_brings_back(tmp_path):
    call("fact", "the heron nests", "--store", tmp_path)
    done = json.loads(call("undo", "--yes", "--json", "--store", tmp_path).out)

    asked = told("undo", done["events"][0]["id"], "--store", tmp_path, answer="n\n", colours=False)
    assert "  restored  the heron nests\n" in asked


@pytest.mark.slow
def test_in_a_pipe_too_each_taking_back_is_told_in_words_of_one_line(tmp_path):
    call("fact", "the heron\nnests", "--store", tmp_path)
    for _ in range(3):  # back, again, and back once more
        done = json.loads(call("undo", "--yes", "--json", *_last(tmp_path), "--store", tmp_path).out)

    assert "  restored  [W] the heron nests\n" in call("undo", done["events"][0]["id"], "--store", tmp_path).out


def _last(store):
    events = [json.loads(line) for line in call("query", "--format", "jsonl", "--store", store).out.splitlines()]
    return [events[-1]["id"]] if events[-1]["type"] == "restored" else []


@pytest.mark.slow
def test_a_pipe_gets_no_local_times(many, home):
    (many / "config.yaml").write_text("timezone: Asia/Tokyo\n")
    call("fact", "ports are odd", "--session", "s", "--store", many)
    for verb in (
        ["today"],
        ["week"],
        ["redact", "ports are odd", "--dry-run"],
        ["query"],
        ["sessions", "--all-projects"],
    ):
        printed = call(*verb, "--store", many).out

        assert re.search(r"\d{4}-\d\d-\d\d", printed)
        assert not re.search(r"today |yesterday|\d (Jan|Feb|Nov|Dec)", printed)


@pytest.mark.slow
def test_the_list_of_topics_fits_the_terminal(home):
    assert 80 >= max(map(cells, seen(told("help", columns=80), 80).splitlines()))


@pytest.mark.parametrize("verb", [["diff"], ["diff", "--from", "2020-01-01"], ["show", "sessions.jsonl"], ["memory"]])
def test_one_document_of_json_is_indented_by_every_verb(many, home, verb):
    printed = call(*verb, "--json", "--store", many).out

    assert "~" not in printed
    assert printed == json.dumps(json.loads(printed), indent=2, ensure_ascii=False) + "\n"


def test_a_command_to_copy_is_one_line_as_a_shell_takes_it(tmp_path, home, monkeypatch):
    monkeypatch.chdir(home)
    built = told("plugin", "build", home / "a plugin for agents")
    call("fact", "the heron nests", "--store", tmp_path)
    copied = told(
        "backup",
        "create",
        tmp_path / "a backup with a name that is longer than a line of a terminal.tar",
        "--store",
        tmp_path,
    )

    assert f"claude plugin marketplace add '{home}/a plugin for agents' && claude plugin install" in built
    assert f"eventlog backup restore '{tmp_path}/a backup with a name that is longer" in copied
    assert "terminal.tar' --store DIR\n" in copied


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (("show", "s"), "session 's' saved nothing"),
        (("memory", "", "--since", "2030-01-01"), "said since 2030-01-01"),
        (("import", "claude", "--dry-run"), "nothing to import"),
    ],
    ids=["a session that saved nothing", "a memory since tomorrow", "an import of what is not there"],
)
def test_an_empty_answer_in_a_pipe_says_why(tmp_path, home, verb, why):
    (home / ".claude" / "projects").mkdir(parents=True)
    call("fact", "x", "--project", "", "--session", "f", "--store", tmp_path)
    call("append", "turn_end", "--session", "s", "--store", tmp_path)

    answer = call(*verb, "--store", tmp_path)

    assert ("", True) == (answer.out, why in answer.err)


def test_a_context_that_is_empty_says_why(tmp_path, home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nothing = call("context", "--store", tmp_path)
    call("fact", "prices are in cents", "--store", tmp_path)
    cut = call("context", "--budget", "150", "--store", tmp_path)

    assert ("", 0) == (nothing.out, nothing.code)
    assert "eventlog: no session has anything to start with yet" in nothing.err
    assert ("", 0) == (cut.out, cut.code)
    assert "eventlog: 150 characters: too few for Search, Recent facts" in cut.err
    assert not call("context", "--store", tmp_path).err
