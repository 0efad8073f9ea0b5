"""`fact`, `summary` and `append`: what is said is stored once, and what cannot be stored is refused with its reason."""

import io
import json
from unittest.mock import Mock

import pytest

from eventlog.app.open_store import Machine
from eventlog.app.write import append
from eventlog.format.errors import InvalidEvent
from eventlog.log.event_log import EventLog
from tests.support import builders
from tests.support.builders import replay
from tests.support.command_line import call


class _Endless(io.RawIOBase):
    """A line without an end, as a device has it; whoever reads 64 MiB of it would go on for ever."""

    left = 1 << 26

    def readable(self):
        return True

    def readinto(self, buffer):
        self.left -= len(buffer)
        assert self.left > 0
        buffer[:] = b"a" * len(buffer)
        return len(buffer)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def _events(store):
    return list(EventLog(store).read())


def _say(store, *args, stdin=b""):
    """The exit code, and what each line of the answer says."""
    ran = call(*args, "--store", store, stdin=stdin)
    return ran.code, [json.loads(line) for line in ran.out.splitlines()], ran.err


def _fact(store, *args):
    return _say(store, "fact", *args, "--session", "s")


# ------------------------------------------------------------------------------------------------ fact


def test_a_fact_is_stored_and_its_id_printed(store):
    (store / "p").mkdir(parents=True)
    code, (answer,), _ = _fact(
        store, "The API listens on port 8443", "--project", store / "p", "--agent", "codex", "--layer", 2
    )
    (event,) = _events(store)

    assert (0, {"status": "ok", "id": event.id}) == (code, answer)
    assert ("fact", "The API listens on port 8443", "s") == (event.type, event.content, event.conversation_id)
    assert (str(store / "p"), "codex", 2) == (event.project, event.agent, event.layer)


def test_every_option_of_a_fact_reaches_its_field(store):
    options = {
        "--type": "O",
        "--category": "style",
        "--key": "k",
        "--entity": "e",
        "--confidence": 0.5,
        "--importance": 5,
        "--scope": "project",
    }
    _fact(store, "x", *(part for pair in options.items() for part in pair), "--entity", "f")
    (event,) = _events(store)

    assert ("O", "style", "k", ["e", "f"]) == (event.memory_type, event.category, event.key, event.entities)
    assert (0.5, 5, "project") == (event.confidence, event.importance, event.scope)


def test_the_same_fact_again_in_the_same_conversation_is_skipped_with_a_reason(store):
    _, (first,), _ = _fact(store, "Use RS256")
    code, (again,), _ = _fact(store, "use  RS256.")

    assert (0, "skipped", first["id"]) == (code, again["status"], again["id"])
    assert again["reason"]
    assert 1 == len(_events(store))


def test_a_fact_of_type_s_is_stored_as_a_stage_summary(store):
    _fact(store, "did it", "--type", "S")

    assert ["stage_summary"] == [event.type for event in _events(store)]


def test_a_fact_of_type_s_is_stored_with_the_fields_of_a_summary_only(store):
    _fact(store, "did it", "--type", "S", "--category", "decision", "--key", "k")
    (line,) = (line for file in (store / "log").iterdir() for line in file.read_bytes().splitlines())
    own = json.loads(line).keys() - {"v", "id", "ts", "type", "conversation_id", "project", "agent", "replica"}

    assert {"summary"} == own


def test_without_a_project_the_repository_of_the_working_directory_is_meant(store, tmp_path, monkeypatch):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "repo" / "deep")
    _fact(store, "one")
    _fact(store, "two", "--project", "")

    assert [str(tmp_path / "repo"), None] == [event.project for event in _events(store)]


REFUSED = {
    "a blank text": (("fact", " ", "--session", "s"), "content: must not be blank"),
    "a text that nobody sees": (("fact", "\u200b\x01", "--session", "s"), "content: must not be blank"),
    "a summary that nobody sees": (("summary", "--topic", "t", "--summary", "\x1b"), "summary: must not be blank"),
    "a text like an option": (("fact", "--force is forbidden"), "put -- before a text that begins with -"),
    "a blank session": (("fact", "x", "--session", " "), "conversation_id"),
    "an empty session": (("fact", "x", "--session", ""), "conversation_id"),
    "too much confidence": (("fact", "x", "--session", "s", "--confidence", 2), "confidence"),
    "too little importance": (("fact", "x", "--session", "s", "--importance", 0), "importance"),
    "an unknown type of memory": (("fact", "x", "--session", "s", "--type", "Q"), "--type"),
    "a blank summary": (("summary", "--topic", "t", "--summary", "", "--session", "s"), "summary: must not be blank"),
    "a layer that is none": (("summary", "--topic", "t", "--summary", "s", "--session", "s", "--layer", 5), "--layer"),
    "neither type nor stream": (("append",), "either TYPE or --stdin"),
    "both type and stream": (("append", "fact", "--stdin"), "either TYPE or --stdin"),
    "no equals sign": (("append", "fact", "--session", "s", "content"), "FIELD=VALUE"),
    "a number that is none": (("append", "fact", "--session", "s", "content=x", "confidence=high"), "confidence"),
    "two types": (("append", "fact", "--session", "s", "content=x", "type=summary"), "TYPE is fact"),
    "none of a choice": (("append", "fact", "--session", "s", "content=x", "memory_type=X"), "must be one of W, B, O"),
    "an object that is none": (("append", "fact", "--session", "s", "--json", "[1]"), "--json"),
    "a line over one mebibyte": (("append", "turn_end", "--session", "s" * (1 << 20)), "1,048,576"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("args", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_stored_is_refused_by_name_and_nothing_is_written(store, args, said):
    code, answers, err = _say(store, *args)

    assert (2, []) == (code, answers)
    assert said in err
    assert [] == _events(store)


def test_a_store_that_cannot_be_written_exits_with_3_and_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, answers, err = _fact(tmp_path / "file" / "store", "x")

    assert (3, []) == (code, answers)
    assert "not stored" in err
    assert "move it out of the way" in err


# ------------------------------------------------------------------------------------------------ summary


def test_a_summary_is_of_the_session_and_with_stage_of_a_stage(store):
    _say(
        store,
        "summary",
        "--topic",
        "t",
        "--summary",
        "a",
        "--decision",
        "d",
        "--todo",
        "o",
        "--todo",
        "p",
        "--session",
        "s",
    )
    _say(store, "summary", "--topic", "t", "--summary", "b", "--stage", "--session", "s")
    session, stage = _events(store)

    assert ("session", "t", "a", ["d"], ["o", "p"]) == (
        session.scope,
        session.topic,
        session.summary,
        session.decisions,
        session.todos,
    )
    assert ("stage", "b") == (stage.scope, stage.summary)


def test_a_summary_said_again_after_another_is_a_revision(store):
    said = [
        _say(store, "summary", "--topic", "t", "--summary", text, "--session", "s")[1][0]["status"] for text in "aabba"
    ]

    assert ["ok", "skipped", "ok", "skipped", "ok"] == said


# ------------------------------------------------------------------------------------------------ append


def test_values_are_text_or_json_as_the_field_takes_them(store):
    _say(
        store,
        "append",
        "fact",
        "--session",
        "s",
        "content=5",
        "importance=5",
        'entities=["a"]',
        "confidence=0.5",
        "mood=fine",
    )
    (event,) = _events(store)

    assert ("5", 5, ["a"], 0.5, {"mood": "fine"}) == (
        event.content,
        event.importance,
        event.entities,
        event.confidence,
        event.extra,
    )


def test_the_project_of_an_event_of_any_type_is_a_root_as_everywhere(store, tmp_path, monkeypatch):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "repository" / "deep")
    _say(store, "append", "fact", "--session", "s", "--project", ".", "content=x")

    assert [str(tmp_path / "repository")] == [event.project for event in _events(store)]


def test_fields_may_come_as_an_object_and_assignments_count_more(store):
    _say(
        store,
        "append",
        "stage_summary",
        "--session",
        "s",
        "--json",
        '{"summary": "a", "decisions": ["d"]}',
        "summary=b",
    )
    (event,) = _events(store)

    assert ("b", ["d"]) == (event.summary, event.decisions)


def test_a_type_of_the_future_is_stored_as_it_is(store):
    code, _, _ = _say(store, "append", "weather", "--session", "s", "sky=blue")

    assert 0 == code
    assert [("weather", {"sky": "blue"})] == [(event.type, event.extra) for event in _events(store)]


@pytest.mark.parametrize("name", ["fcat", "Facts", "stage_sumary"])
def test_a_mistyped_type_is_asked_about_and_nothing_is_stored(store, name):
    code, _, said = _say(store, "append", name, "--session", "s", "content=x")

    assert 2 == code
    assert "did you mean" in said
    assert [] == _events(store)


@pytest.mark.parametrize("name", ["artifact", "turn"])
def test_a_type_that_only_shares_a_word_is_stored(store, name):
    assert 0 == _say(store, "append", name, "--session", "s")[0]


def test_a_fact_may_come_from_stdin(store):
    code, _, _ = _say(store, "fact", "-", "--session", "s", stdin=b"Prices are in cents\n")

    assert 0 == code
    assert ["Prices are in cents"] == [event.content for event in _events(store)]
    assert 2 == _say(store, "fact", "-", "--session", "s")[0]


def _stream(*numbers):
    return b"".join(builders.line(number) + b"\n" for number in numbers)


def test_a_stream_is_stored_and_answered_in_its_order(store):
    code, answers, _ = _say(store, "append", "--stdin", stdin=_stream(3, 1, 2))

    assert 0 == code
    assert [builders.fact(number)["id"] for number in (3, 1, 2)] == [answer["id"] for answer in answers]
    assert ["fact 1", "fact 2", "fact 3"] == builders.contents(_events(store))


def test_the_same_stream_again_adds_nothing_and_says_so(store):
    _say(store, "append", "--stdin", stdin=_stream(1, 2))
    code, answers, _ = _say(store, "append", "--stdin", stdin=_stream(1, 2, 3))

    assert (0, ["skipped", "skipped", "ok"]) == (code, [answer["status"] for answer in answers])
    assert 3 == len(_events(store))


def test_a_stream_that_withdraws_what_is_not_there_is_stored_and_says_so(store):
    gone, known = builders.fact(9)["id"], builders.fact(1)["id"]
    lines = [{"type": "retraction", "conversation_id": "s", "target": target} for target in (gone, known)]
    lines.append({"type": "retraction", "conversation_id": "s", "conversation": "nobody"})
    stream = _stream(1) + b"\n".join(json.dumps(line).encode() for line in lines)
    code, answers, complaint = _say(store, "append", "--stdin", stdin=stream)

    assert (0, ["ok"] * 4) == (code, [answer["status"] for answer in answers])
    assert [None, gone, None, "nobody"] == [answer.get("withdraws_nothing") for answer in answers]
    assert [gone in complaint, "nobody" in complaint, known in complaint] == [True, True, False]


BAD_LINES = {
    "no JSON": (b"oops", "not a JSON object"),
    "no object": (b"[1]", "not a JSON object"),
    "not UTF-8": (b'{"type":"fact","content":"\xff"}', "not a JSON object"),
    "no content": (b'{"type":"fact","conversation_id":"s"}', "content: missing"),
    "no type": (b'{"conversation_id":"s"}', "type"),
    "a time that is none": (b'{"type":"fact","conversation_id":"s","content":"x","ts":"today"}', "ts"),
}


@pytest.mark.parametrize(("bad", "said"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_in_a_stream_is_named_by_its_number_and_nothing_is_stored(store, bad, said):
    code, answers, err = _say(store, "append", "--stdin", stdin=_stream(1, 2) + b"\n" + bad + b"\n" + _stream(3))

    assert (2, []) == (code, answers)
    assert "stdin:4: " in err
    assert said in err
    assert "nothing was stored" in err
    assert [] == _events(store)


def test_a_stream_may_begin_with_a_byte_order_mark_and_hold_blank_lines_and_carriage_returns(store):
    code, answers, _ = _say(
        store,
        "append",
        "--stdin",
        stdin=b"\xef\xbb\xbf" + _stream(1).replace(b"\n", b"\r\n") + b" \n" + _stream(2)[:-1],
    )

    assert (0, 2) == (code, len(answers))


def test_an_empty_stream_stores_nothing(store):
    assert (0, [], "") == _say(store, "append", "--stdin")


# ------------------------------------------------------------------------------------------------ off

SAYING = pytest.mark.parametrize(
    "words",
    [
        ("fact", "x"),
        ("summary", "--topic", "t", "--summary", "s"),
        ("plan", "--path", "user", "--heading", "h", "--content", "c"),
        ("append", "fact", "content=x"),
    ],
    ids=lambda words: words[0],
)
SKIPPED = {"status": "skipped", "reason": "memory_disabled"}


@SAYING
def test_switched_off_by_the_environment_nothing_is_written(store, monkeypatch, words):
    monkeypatch.setenv("EVENTLOG_DISABLED", "1")

    assert (0, [SKIPPED], "") == _say(store, *words, "--session", "s")
    assert not store.exists()


@SAYING
@pytest.mark.parametrize("where", ["here", "project"])
def test_switched_off_by_a_file_in_the_project_nothing_is_written(store, tmp_path, monkeypatch, words, where):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".eventlog-disable").touch()
    if where == "here":
        monkeypatch.chdir(tmp_path)
    project = ["--project", tmp_path] if where == "project" else []

    assert (0, [SKIPPED], "") == _say(store, *words, "--session", "s", *project)
    assert not store.exists()


def test_switched_off_a_stream_is_not_stored_either(store, monkeypatch):
    monkeypatch.setenv("EVENTLOG_DISABLED", "1")

    assert (0, [SKIPPED], "") == _say(store, "append", "--stdin", stdin=b'{"type": "fact", "content": "x"}\n')
    assert not store.exists()


@pytest.mark.parametrize("project", ["shop", "../..", "./x"])
def test_a_relative_project_is_refused(store, project):
    code, _, error = _say(store, "append", "fact", "--session", "s", "content=x", f"project={project}")

    assert 2 == code
    assert "is not absolute" in error
    assert not store.exists()


# ------------------------------------------------------------------------------------------------ to-dos and times


def test_a_to_do_that_is_done_is_said_in_a_summary_of_its_own(store):
    about = ("--topic", "t", "--session", "s")
    _say(store, "summary", *about, "--summary", "one", "--todo", "Docs", "--todo", "Tests")
    code, _, _ = _say(store, "summary", *about, "--summary", "two", "--done", "docs.", "--done", "other")

    assert (0, ["docs.", "other"]) == (code, _events(store)[-1].done)


@pytest.mark.parametrize(
    "given", ["2026-02-20T12:00:00Z", "2026-02-20t12:00:00.000000000z", "2026-02-20 20:00:00.0+08:00"]
)
def test_a_time_may_be_given_as_other_programs_write_it(store, given):
    line = json.dumps({"type": "fact", "content": "x", "conversation_id": "s", "ts": given}).encode()
    told = [_say(store, "append", "--stdin", stdin=line), _say(store, "append", "--stdin", stdin=line)]
    code, _, _ = _say(store, "append", "fact", "--session", "t", "content=y", f"ts={given}")

    assert ([0, 0, 0], ["ok", "skipped"]) == ([told[0][0], told[1][0], code], [one[1][0]["status"] for one in told])
    assert ["2026-02-20T12:00:00.000000Z"] * 2 == [event.ts for event in _events(store)]


def test_a_time_without_its_zone_is_refused_with_a_hint(store):
    code, _, err = _say(store, "append", "fact", "--session", "t", "content=y", "ts=2026-02-20T12:00:00")

    assert 2 == code
    assert "write it like 2026-02-21T08:35:44Z" in err


# ------------------------------------------------------------------------------------------------ what is withdrawn


def test_withdrawing_one_of_several_equal_statements_names_the_others(store):
    words = {"Deploy on Monday": "a", "deploy  on Monday.": "b", "Deploy on Friday": "c"}
    ids = [_say(store, "fact", text, "--session", name)[1][0]["id"] for text, name in words.items()]
    summary = ("--topic", "t", "--summary", "s", "--decision", "Deploy on Monday", "--session", "d")
    ids.append(_say(store, "summary", *summary)[1][0]["id"])
    first, second, other, decided = ids

    answers = [_say(store, "append", "retraction", f"target={one}")[1][0] for one in (other, second, first, decided)]

    assert [None, [first, decided], [decided], None] == [answer.get("still_said") for answer in answers]
    assert ["ok"] * 4 == [answer["status"] for answer in answers]


def test_withdrawing_replays_with_the_settings_of_the_store_whose_rows_are_cached(store, monkeypatch):
    store.mkdir()
    (store / "config.yaml").write_text("timezone: Asia/Shanghai\n")
    _say(store, "fact", "Deploy on Monday", "--session", "a")
    [other] = _say(store, "fact", "Deploy on Monday", "--session", "b")[1]
    replayed = Mock(wraps=replay)
    monkeypatch.setattr(append, "replay", replayed)

    assert [other["id"]] == _say(store, "append", "retraction", "conversation=a")[1][0]["still_said"]
    assert ["Asia/Shanghai"] == [asked.args[1].timezone for asked in replayed.call_args_list]


def test_withdrawing_a_conversation_names_who_else_says_the_same(store):
    _say(store, "fact", "Deploy on Monday", "--session", "a")
    [other] = _say(store, "fact", "Deploy on Monday", "--session", "b")[1]

    assert [other["id"]] == _say(store, "append", "retraction", "conversation=a")[1][0]["still_said"]


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(store):
    with pytest.raises(InvalidEvent, match="the line is longer than 16,777,216 bytes"):
        append.append_stream(EventLog(store), io.BufferedReader(_Endless()), Machine.here())

    assert not _events(store)
