import pytest
from hypothesis import given

from eventlog.fast import fastjson
from eventlog.format import codec, events
from tests.support.builders import DAY, contents, fact, write
from tests.support.strategies import any_event


def text_became_content(fields):
    """A step for the tests: version 1 of a fact called its content `text`."""
    rest = {name: value for name, value in fields.items() if name != "text"}
    return {**rest, "content": fields["text"]}


OLD = {"v": 1, "type": "fact", "conversation_id": "c", "text": "the sky is blue", "mood": "calm"}


@pytest.fixture
def _second_version(monkeypatch):
    monkeypatch.setitem(codec.STEPS, ("fact", 1), text_became_content)
    monkeypatch.setitem(events.VERSIONS, "fact", 2)


@pytest.mark.usefixtures("_second_version")
def test_an_old_fact_is_read_in_its_new_shape():
    event = codec.from_fields(OLD)

    assert (2, "the sky is blue") == (event.v, codec.to_fields(event)["content"])


@pytest.mark.usefixtures("_second_version")
def test_lifting_keeps_the_fields_nobody_knows():
    assert {"mood": "calm"} == codec.from_fields(OLD).extra


@pytest.mark.usefixtures("_second_version")
def test_a_new_fact_is_not_lifted_again():
    assert ["as it is"] == contents([codec.from_fields({**OLD, "v": 2, "content": "as it is", "text": "unknown"})])


@pytest.mark.usefixtures("_second_version")
def test_an_old_line_is_lifted_where_the_log_is_read_and_stays_as_it_is(log, log_dir):
    old = {name: value for name, value in fact(text="old words").items() if name != "content"}
    file = write(log_dir, fastjson.dumps(old) + b"\n")

    [entry] = log.entries()

    assert ("old words", fastjson.dumps(old)) == (entry.event.content, entry.line)
    assert file.endswith(f"{DAY}.jsonl")


def test_steps_follow_one_another():
    steps = {("t", 1): lambda fields: {**fields, "one": 1}, ("t", 2): lambda fields: {**fields, "two": 2}}

    assert {"type": "t", "v": 3, "one": 1, "two": 2} == codec.upcast({"type": "t"}, steps)


def test_a_step_is_for_its_own_type_only():
    steps = {("t", 1): lambda fields: {**fields, "one": 1}}

    assert {"type": "other", "v": 1} == codec.upcast({"type": "other", "v": 1}, steps)


def test_lifting_leaves_its_argument_alone():
    given_fields = dict(OLD)
    codec.upcast(given_fields, {("fact", 1): text_became_content})

    assert given_fields == OLD


@given(any_event)
def test_an_event_of_today_is_not_changed(event):
    assert codec.to_fields(event) == codec.upcast(codec.to_fields(event))


def test_a_summary_saved_as_a_fact_is_a_stage_summary():
    event = codec.from_fields({**OLD, "content": "did it", "memory_type": "S", "scope": "user"})

    assert (
        events.StageSummary(conversation_id="c", summary="did it", extra={"text": OLD["text"], "mood": "calm"}) == event
    )


def test_a_version_from_the_future_is_kept_and_not_interpreted():
    event = codec.from_fields({**OLD, "v": 7})

    assert ("fact", 7, OLD["text"]) == (event.type, event.v, event.extra["text"])
    assert isinstance(event, events.UnknownEvent)
