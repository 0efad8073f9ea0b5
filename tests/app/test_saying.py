"""What `query --grep` and `--regex` find: words of what was said, whoever wrote the line and however; and `--follow`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.ask.query import EventFilter, Follower, query, saying
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from tests.support import builders

ALPHABET = 'aAkKsSéÉß第三章 "\\/\u212a\u0130\u0131\U0001f389'
KINDS = ["fact", "turn_end", "Née", "第三章", 'a"b', "K\u212a"]
texts = st.text(ALPHABET, max_size=12)


@given(content=texts, words=texts, ascii_only=st.booleans())
def test_a_line_that_says_the_words_has_one_of_the_bytes_it_is_looked_for_by(content, words, ascii_only):
    line = json.dumps(builders.fact(1, content=content), ensure_ascii=ascii_only).encode()
    fits, needles = saying(words, None)

    assert all(word in content.lower() for word in words.lower().split()) == fits(line)
    assert not fits(line) or not needles or any(needle in line.lower() for needle in needles)


def _said(log, **wanted):
    return [to_fields(entry.event)["content"] for entry in query(log, EventFilter(**wanted))]


@pytest.fixture
def said(log):
    log.append_many(
        Fact(conversation_id="s", project="/src/postgres", entities=entities, content=content)
        for content, entities in (
            ("Postgres 16 is pinned in CI", []),
            ("pinned: node 22", ["postgres"]),
            ("第三章讲的是编码问题,用 UTF-8", []),
            ("编码在第一章", []),
        )
    )
    return log


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"text": "pinned POSTGRES"}, [0, 1]),
        ({"text": "postgres"}, [0, 1]),
        ({"text": "编码 第三章"}, [2]),
        ({"text": "utf-8 编码"}, [2]),
        ({"text": "conversation_id"}, []),
        ({"regex": r"(postgres|node) \d+"}, [0, 1]),
        ({"regex": "第.章", "text": "编码"}, [2, 3]),
        ({"regex": "^pinned"}, [1]),
    ],
)
def test_all_words_in_any_order_are_found_in_what_was_said_and_nowhere_else(said, wanted, found):
    all_said = _said(said)

    assert [all_said[number] for number in found] == _said(said, **wanted)


@given(kinds=st.lists(st.sampled_from(KINDS), max_size=12), asked=st.sets(st.sampled_from(KINDS), min_size=1))
def test_events_of_a_type_are_found_however_a_writer_spells_it(tmp_path_factory, kinds, asked):
    log = EventLog(tmp_path_factory.mktemp("kinds"), fsync=False)
    events = [builders.fact(number) | {"type": kind} for number, kind in enumerate(kinds)]
    lines = [json.dumps(event, ensure_ascii=number % 2 == 0) for number, event in enumerate(events)]
    builders.write(log.store.log, "".join(f"{line}\n" for line in lines).encode())

    found = [entry.event.id for entry in query(log, EventFilter(types=tuple(asked)))]

    assert [event["id"] for event in events if event["type"] in asked] == found


def test_of_events_of_another_type_none_is_decoded(said, monkeypatch):
    log, decoded, check = said, [], LogLine.check

    def counting(line, day):
        decoded.append(line.line)
        return check(line, day)

    monkeypatch.setattr(LogLine, "check", counting)
    said.append({"type": "turn_end", "conversation_id": "s"})

    assert 1 == len(list(query(log, EventFilter(types=("turn_end",)))))
    assert 1 == len(decoded)


def test_an_expression_that_is_none_is_refused(said):
    with pytest.raises(BadRequest, match="no regular expression"):
        list(query(said, EventFilter(regex="(")))


@given(days=st.lists(st.integers(0, 9), max_size=30), limit=st.integers(1, 8))
def test_the_newest_are_the_last_of_all_however_few_days_are_read(tmp_path_factory, days, limit):
    log = EventLog(tmp_path_factory.mktemp("newest"), fsync=False)
    log.append_many(
        Fact(conversation_id="s", ts=f"2026-02-{10 + day}T12:00:00.000000Z", content=str(number))
        for number, day in enumerate(days)
    )

    assert list(query(log, EventFilter()))[-limit:] == list(query(log, EventFilter(), limit=limit, reverse=True))[::-1]


def test_following_tells_each_new_event_once_past_midnight_and_only_those_that_fit(log, clock):
    log.append(Fact(conversation_id="s", content="before"))
    follower = Follower(log, EventFilter(types=("fact",), text="wanted"))
    steps = iter(range(5))

    def wait():
        step = next(steps, None)
        if step == 1:
            clock.now = builders.NOON + builders.DAY_NS
        if step is not None and step < 4:
            log.append(Fact(conversation_id="s", content=f"wanted {step}"))
            log.append({"type": "turn_end", "conversation_id": "s", "status": "wanted"})
            log.append(Fact(conversation_id="s", content="something else"))
        return step is not None

    found = [to_fields(entry.event)["content"] for entry in follower.after(iter(()), wait)]

    assert [f"wanted {step}" for step in range(4)] == found
    assert 2 == len(log.days())


def test_following_does_not_tell_again_what_was_appended_while_the_rest_was_looked_for(log):
    follower = Follower(log, EventFilter())
    log.append(Fact(conversation_id="s", content="meanwhile"))
    waits = iter([True, False])

    assert 1 == len(list(follower.after(query(log, EventFilter()), lambda: next(waits))))


def test_half_a_line_is_told_when_it_is_whole(log, log_dir):
    log.append(Fact(conversation_id="s", content="first"))
    [file] = log_dir.iterdir()
    follower, line = Follower(log, EventFilter()), builders.line(7) + b"\n"
    looks = iter([line[:40], line[40:], None])

    def wait():
        part = next(looks)
        if part:
            with file.open("ab") as opened:
                opened.write(part)
        return part is not None

    assert ["fact 7"] == [to_fields(entry.event)["content"] for entry in follower.after((), wait)]
