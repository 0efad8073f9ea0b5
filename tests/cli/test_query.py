"""`query`, `sessions` and `verify`: the audit of a log from the command line."""

import json
import os
import subprocess
import sys

import pytest

from eventlog.cli.show.display import Display
from eventlog.cli.verbs.ask.query import _show_as
from eventlog.format import codec
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support import builders
from tests.support.command_line import call, command, run, surroundings
from tests.support.golden import DAMAGED, HISTORY, copied


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return copied(HISTORY, tmp_path_factory.mktemp("history")).store.root


ALL = sorted(
    {line for file in (HISTORY / "log").iterdir() for line in file.read_bytes().splitlines()},
    key=lambda line: (codec.decode(line).ts, codec.decode(line).id),
)
EVENTS = [codec.decode(line) for line in ALL]


def _ask(store, *args):
    """The lines of the log that a query finds."""
    ran = call("query", *args, "--format", "jsonl", "--store", store)

    assert (0, bool(ran.out)) == (ran.code, not ran.err)  # no answer says why
    return [line.encode() for line in ran.out.split("\n")[:-1]]


FILTERS = {
    "nothing": ((), lambda event: True),
    "a session": (("--session", "auth-0220"), lambda event: event.conversation_id == "auth-0220"),
    "a session that is a path": (("--session", "../../etc/passwd"), lambda event: event.conversation_id == "../../etc/passwd"),
    "a Chinese session": (("--session", "写作-会话"), lambda event: event.conversation_id == "写作-会话"),
    "a type": (("--type", "fact"), lambda event: event.type == "fact"),
    "two types": (("--type", "fact", "--type", "weather_report"), lambda event: event.type in ("fact", "weather_report")),
    "a project": (("--project", "/home/ada/写作"), lambda event: event.project == "/home/ada/写作"),
    "an agent": (("--agent", "cursor"), lambda event: event.agent == "cursor"),
    "since a day": (("--since", "2026-02-21"), lambda event: event.ts >= "2026-02-21"),
    "until a day": (("--until", "2026-02-20"), lambda event: event.ts < "2026-02-21"),
    "since a moment": (("--since", "2026-02-21T00:20:00Z"), lambda event: event.ts >= "2026-02-21T00:20:00"),
    "until a moment": (("--until", "2026-02-21T01:20:00+01:00"), lambda event: event.ts <= "2026-02-21T00:20:00.000000Z"),
    "a text": (("--grep", "PORT 8443"), lambda event: "port 8443" in str(event).casefold()),
    "a Chinese text": (("--grep", "第三章"), lambda event: "第三章" in str(event)),
    "a text with a quote": (("--grep", '"sky":"blue'), lambda event: False),
    "an id": (("--id", EVENTS[9].id), lambda event: event.id == EVENTS[9].id),
    "the beginning of an id": (("--id", EVENTS[9].id[:11].upper()), lambda event: event.id.startswith(EVENTS[9].id[:11])),
    "all at once": (
        ("--session", "auth-0220", "--type", "turn_end", "--since", "2026-02-21", "--agent", "claude-code", "--grep", "t-3"),
        lambda event: event.type == "turn_end" and event.turn_id == "t-3",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("args", "wanted"), FILTERS.values(), ids=FILTERS)
def test_a_query_prints_the_lines_that_fit_byte_for_byte_oldest_first(store, args, wanted):
    assert [line for line, event in zip(ALL, EVENTS, strict=True) if wanted(event)] == _ask(store, *args)


@pytest.mark.slow
def test_a_session_is_byte_for_byte_what_its_agent_wrote(tmp_path):
    odd = b'{ "id":"019c7000-0000-7000-8000-000000000001", "ts":"2026-02-20T12:00:00.000000Z","type":"fact",  "conversation_id":"s","content":"\\u00e9 \xe2\x80\xae","zz":[1.50,1e3]}'
    builders.write(tmp_path / "log", odd + b"\r\n" + builders.lines(1))
    ran = run("query", "--session", "s", "--format", "jsonl", "--store", tmp_path)

    assert odd + b"\r\n" == ran.out.encode()


def test_a_text_is_found_however_its_writer_has_escaped_it(tmp_path):
    odd = json.dumps(json.loads(builders.line(1, content="第三章 a/b", n=10**19)), ensure_ascii=True).replace(
        "/", "\\/"
    )
    builders.write(tmp_path / "log", odd.encode() + b"\n" + builders.lines(2))

    assert [odd.encode()] == _ask(tmp_path, "--grep", "第三章") == _ask(tmp_path, "--grep", "A/B")


def test_limit_takes_the_first_and_with_reverse_the_last_newest_first(store):
    assert ALL[:3] == _ask(store, "--limit", 3)
    assert ALL[:-4:-1] == _ask(store, "--limit", 3, "--reverse")
    assert ALL[::-1] == _ask(store, "--reverse")


def test_a_directory_in_a_project_stands_for_the_project(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    builders.write(
        tmp_path / "store" / "log", builders.line(1, project=str(tmp_path / "repo")) + b"\n" + builders.lines(2)
    )

    assert 1 == len(_ask(tmp_path / "store", "--project", tmp_path / "repo" / "src"))


# ------------------------------------------------------------------------------------------------ formats


def test_json_is_one_array_of_whole_events(store):
    found = json.loads(call("query", "--type", "fact", "--format", "json", "--store", store).out)

    assert [json.loads(line) for line, event in zip(ALL, EVENTS, strict=True) if event.type == "fact"] == found


def test_a_table_in_a_pipe_is_one_line_of_tabs_per_event(store):
    rows = [line.split("\t") for line in call("query", "--store", store).out.splitlines()]

    assert [event.ts.replace("T", " ") for event in EVENTS] == [row[0] for row in rows]
    assert [event.type for event in EVENTS] == [row[1] for row in rows]
    assert {6} == {len(row) for row in rows}
    assert [event.id for event in EVENTS] == [row[4] for row in rows]
    assert "claude-code/explorer-1" in {row[2] for row in rows}


def test_markdown_is_one_item_per_event(store):
    lines = call("query", "--session", "auth-0220", "--format", "markdown", "--store", store).out.splitlines()

    assert ["## 2026-02-20 · auth-0220 · claude · shop", "## 2026-02-21 · auth-0220 · claude · shop"] == [
        line for line in lines if line.startswith("#")
    ]
    assert 9 == len([line for line in lines if line.startswith("- ")])
    assert "- 22:51 **fact** The API listens on port 8443 (`019c7d3f-d020-7000-8000-000000000018`)" in lines


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_no_control_character_of_an_event_reaches_the_terminal(store, form):
    out = call("query", "--format", form, "--store", store).out

    assert not [char for char in out if char not in "\n\t" and not char.isprintable()]


def test_an_empty_answer_says_why_on_stderr(store, tmp_path):
    unfit = call("query", "--type", "fact,plan_entry", "--grep", "no such words", "--store", store)
    (tmp_path / "new").mkdir()
    nowhere = call("query", "--store", tmp_path / "new")
    sessions = call("sessions", "--agent", "gemini", "--store", store)

    assert (0, "") == unfit[:2] == nowhere[:2] == sessions[:2]
    assert "no event fits --type fact,plan_entry --grep 'no such words'" in unfit.err
    assert f"nothing has happened yet in {tmp_path / 'new'}" in nowhere.err
    assert "no session fits --agent gemini" in sessions.err
    assert (0, "[]\n") == call("query", "--format", "json", "--grep", "no such words", "--store", store)[:2]


@pytest.mark.parametrize("form", ["jsonl", "markdown", "table"])
def test_what_was_found_is_printed_before_the_rest_is_read(store, form, capsysbinary):
    def found():
        first, *rest = EventLog(store).entries()
        yield first
        printed.append(capsysbinary.readouterr().out)
        yield from rest

    printed: list[bytes] = []
    _show_as(form, found(), Display(Store(str(store))), header=False, closing="", goes_on=False)

    assert printed[0]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "table", "json", "markdown"])
def test_a_reader_that_goes_away_is_no_error(tmp_path, form):
    builders.write(
        tmp_path / "log",
        b"".join(
            builders.line(number % 3600, id=f"019c7b1a-0000-7000-8000-{number:012x}") + b"\n" for number in range(3000)
        ),
    )
    asking = subprocess.Popen(
        command("query", "--format", form, "--store", tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()
    )  # fmt: skip
    assert asking.stdout
    asking.stdout.read(10)
    asking.stdout.close()
    assert asking.stderr

    assert b"" == asking.stderr.read()
    assert 0 == asking.wait()
    asking.stderr.close()


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "trace"), [("redact", b"[redacted:1]"), ("forget", b'"type":"rejected"')])
def test_a_verb_does_what_it_is_to_do_also_for_a_reader_that_goes_away(tmp_path, verb, trace):
    builders.write(tmp_path / "log", builders.line(1, content="the kestrel nests at dawn") + b"\n")
    running = subprocess.Popen(
        command(verb, "kestrel nests at dawn", "--yes", "--store", tmp_path), stdout=subprocess.PIPE, env=surroundings()
    )
    assert running.stdout
    running.stdout.close()

    assert 0 == running.wait()
    assert trace in b"".join(file.read_bytes() for file in (tmp_path / "log").iterdir())


@pytest.mark.slow
def test_a_reader_of_errors_that_goes_away_silences_nothing_but_errors():
    reading, writing = os.pipe()
    os.close(reading)
    code = "from eventlog.cli.terminal import print_error, say; print_error('x'); print_error('y'); say('read on')"
    told = subprocess.check_output([sys.executable, "-c", code], stderr=writing, env=surroundings())
    os.close(writing)

    assert b"read on\n" == told


def test_a_damaged_log_is_read_around_its_damage(tmp_path):
    store = copied(DAMAGED, tmp_path).store.root
    kept = [json.loads(line)["content"] for line in _ask(store, "--grep", "Kept")]

    assert 9 == len(kept)
    assert sorted(kept) == sorted(
        json.loads(line)["content"] for line in _ask(store, "--session", "damaged", "--grep", "Kept")
    )


# ------------------------------------------------------------------------------------------------ sessions


def test_sessions_are_listed_by_start_the_newest_last(store):
    rows = [line.split("\t") for line in call("sessions", "--store", store).out.splitlines()]

    assert 11 == len(rows)
    assert sorted(row[0] for row in rows) == [row[0] for row in rows]
    assert ["claude-code", "auth-0220", "3", "1", "Login with JWT"] == next(
        row[1:] for row in rows if row[2] == "auth-0220"
    )


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (("--agent", "cursor"), ["cursor-checkout", "poisoned"]),
        (("--project", "/home/ada/写作"), ["写作-会话"]),
        (("--since", "2026-02-23"), ["transcript-only", "agent-and-transcript"]),
        (("--until", "2026-02-17"), ["notes", "cursor-checkout"]),
        (("--limit", "2"), ["transcript-only", "agent-and-transcript"]),
    ],
)
def test_sessions_can_be_chosen(store, args, found):
    shown = json.loads(call("sessions", *args, "--json", "--store", store).out)

    assert found == [one["session_id"] for one in shown]


# ------------------------------------------------------------------------------------------------ verify


def test_verify_of_a_whole_log_counts_and_finds_nothing(store):
    assert (0, "59 events in 11 files, 0 damaged lines\n", "") == call("verify", "--store", store)


def test_verify_names_each_damage_and_exits_with_4(tmp_path):
    store = copied(DAMAGED, tmp_path).store.root
    ran = call("verify", "--store", store)
    report = json.loads(call("verify", "--json", "--store", store).out)

    assert 4 == ran.code
    assert f"{store}/log/2026-02-20.jsonl:6 (byte 814) not-json" in ran.out
    assert len(report["damage"]) == ran.out.count(" (byte ")
    assert ["2026-02-21.jsonl.bak", "notes.txt"] == [path.rpartition("/")[2] for path in report["strangers"]]
