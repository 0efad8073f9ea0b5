"""What was drawn of a session can be drawn better: an import repairs stores, once, and never against a person."""

import json
from pathlib import Path

import pytest

from eventlog.app.memory import Memory
from eventlog.settings.schema import Settings
from tests.support.pasts import bring_in, conversation, put
from tests.support.use_cases import rebuild

AT = "2026-02-20T10:00:00.000000Z"
FOREIGN = "Draggable legends cannot be pickled"
ENDED = "2026-02-20T10:30:00.000000Z"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "home"


def of_type(log, kind):
    return [event for event in log.read() if event.type == kind]


def drawn_before(log, name="one", **changes):
    """What an earlier program drew: another session's title, and a list of commands."""
    about = {"conversation_id": name, "project": "/home/ada/shop", "agent": "claude-code", "ts": ENDED}
    summary = {
        "layer": 3,
        "scope": "session",
        "topic": FOREIGN,
        "summary": "Ran `git clone x`.",
        "decisions": ["a slip"],
    }
    text = {"title": FOREIGN, "prompts": ["Fix the rounding of prices"], "closing": "I'll look."}
    start = {"type": "session_start", **about, "ts": AT}
    end = {"type": "session_end", **about}
    log.append_many([start, {"type": "stage_summary", **about, **summary, **changes}])
    log.append_many([{"type": "conversation_text", **about, **text}, end])


def test_what_was_drawn_before_is_drawn_anew_once(place, log):
    drawn_before(log)
    conversation(place, "one", AT)
    first, second = bring_in(log, "claude", place), bring_in(log, "claude", place)

    assert (first.revised, sum(first.new.values())) == (1, 0)
    assert (second.revised, sum(second.new.values())) == (0, 0)
    assert ["Fix the rounding of prices"] == [event.topic for event in of_type(log, "stage_summary")[1:]]
    assert ["Fix the rounding of prices"] == [event.title for event in of_type(log, "conversation_text")[1:]]


def test_a_dry_run_counts_what_would_be_drawn_anew(place, log):
    drawn_before(log)
    conversation(place, "one", AT)

    assert bring_in(log, "claude", place, dry_run=True).revised == 1
    assert len(of_type(log, "stage_summary")) == 1


def test_nothing_of_the_drawing_before_is_told_anywhere(place, log):
    drawn_before(log)
    conversation(place, "one", AT)
    rebuild(log, Settings())
    bring_in(log, "claude", place)
    rebuild(log, Settings())
    files = "\n".join(path.read_text() for path in (place.parent).rglob("knowledge/**/*") if path.is_file())

    assert "Fix the rounding of prices" in files
    assert not [word for word in (FOREIGN, "git clone", "a slip") if word in files]
    assert not list(Memory(log.store).search("draggable legends pickled", everywhere=True))
    assert list(Memory(log.store).search("rounding of prices", everywhere=True))


def test_an_agents_own_summary_is_never_revised(place, log):
    drawn_before(log, layer=1)
    conversation(place, "one", AT)
    done = bring_in(log, "claude", place)

    assert [FOREIGN] == [event.topic for event in of_type(log, "stage_summary")]
    assert ["Fix the rounding of prices"] == [event.title for event in of_type(log, "conversation_text")[1:]]
    assert done.revised == 1


def test_what_a_person_took_away_is_not_drawn_again(place, log):
    drawn_before(log)
    conversation(place, "one", AT)
    [summary] = of_type(log, "stage_summary")
    log.append({"type": "retraction", "conversation_id": "human-2026-02-21", "agent": "human", "target": summary.id})
    bring_in(log, "claude", place)

    assert [summary.id] == [event.id for event in of_type(log, "stage_summary")]


def test_what_was_erased_is_not_drawn_again(place, log):
    drawn_before(log)
    conversation(place, "one", AT)
    [path] = Path(log.store.log).glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    erased = [line | ({"redacted": "0" * 64} if "topic" in line or "title" in line else {}) for line in lines]
    path.write_bytes(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in erased))

    assert bring_in(log, "claude", place).revised == 0
    assert len(of_type(log, "stage_summary")) == len(of_type(log, "conversation_text")) == 1


def test_an_older_copy_of_a_transcript_takes_nothing_back(place, log):
    path = conversation(place, "one", AT)
    lines = path.read_bytes().splitlines(keepends=True)
    more = json.loads(lines[0]) | {"uuid": "later", "message": {"role": "user", "content": "And the tax, please"}}
    put(path, b"".join([*lines, json.dumps(more).encode() + b"\n"]))
    bring_in(log, "claude", place)
    before = {event.id for event in log.read()}
    put(path, b"".join(lines))

    assert bring_in(log, "claude", place).revised == 0
    assert before == {event.id for event in log.read()}


def test_the_third_session_that_begins_alike_names_the_first_ones_anew(place, log):
    opening = "You work on the shop. Follow the rules.\n\nToday: "
    for number, text in enumerate(("totals are off", "no badge is shown", "round half even")):
        conversation(place, f"talk-{number}", AT, words=opening + text)
        done = bring_in(log, "claude", place)

    topics = {event.conversation_id: event.topic for event in of_type(log, "stage_summary")}
    assert {"talk-0": "totals are off", "talk-1": "no badge is shown", "talk-2": "round half even"} == topics
    assert done.revised == 2
    assert bring_in(log, "claude", place).revised == 0


def test_a_long_opening_that_several_share_is_drawn_once_and_the_same_again(place, log):
    rules = " ".join(f"Rule {name} of the shop is to be read with care." for name in "abcdefghijklmnopqrst")
    for number, text in enumerate(("totals are off", "no badge is shown", "round half even")):
        conversation(place, f"talk-{number}", AT, words=f"{rules}\n\n{text}")
    first, second = bring_in(log, "claude", place), bring_in(log, "claude", place)

    topics = {event.topic for event in of_type(log, "stage_summary")}
    assert topics == {"totals are off", "no badge is shown", "round half even"}
    assert (first.revised, second.revised) == (0, 0)
