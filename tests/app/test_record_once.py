"""What a conversation has said once, it need not say again."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.write.record_once import record_once
from eventlog.format import codec
from eventlog.format.events import Restored
from eventlog.format.text import same_text
from eventlog.log.event_log import EventLog
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings
from tests.support import builders
from tests.support.builders import replay
from tests.support.command_line import command, surroundings
from tests.support.histories import a_log


def _fact(content="Use RS256", **fields):
    return codec.from_fields({"type": "fact", "conversation_id": "s", "content": content, **fields})


def _summary(summary="did it", **fields):
    return codec.from_fields({"type": "stage_summary", "conversation_id": "s", "summary": summary, **fields})


def _new(log, *events):
    """Whether each was new, when said one after the other."""
    return [record_once(log, event).new for event in events]


def test_the_same_fact_again_adds_nothing_and_names_the_first(log):
    first = record_once(log, _fact())
    again = record_once(log, _fact("use  rs256."))

    assert (first.event, False) == (again.event, again.new)
    assert 1 == len(list(log.read()))


OTHER = {
    "another text": {"content": "Use RS512"},
    "another conversation": {"conversation_id": "t"},
    "another project": {"project": "/p"},
    "another scope": {"project": "/p", "scope": "user"},
    "another type": {"memory_type": "B"},
    "another category": {"category": "lesson"},
    "another key": {"key": "k"},
    "another speaker": {"subagent": "a"},
}


@pytest.mark.parametrize("fields", OTHER.values(), ids=OTHER)
def test_what_differs_in_meaning_is_said(log, fields):
    assert [True, True] == _new(log, _fact(), _fact(**fields))


@pytest.mark.parametrize(
    "fields", [{"confidence": 0.1}, {"importance": 5}, {"entities": ["a"]}, {"agent": "x"}, {"layer": 4}]
)
def test_what_differs_in_weight_only_is_a_repetition(log, fields):
    assert [True, False] == _new(log, _fact(), _fact(**fields))


def test_a_fact_from_days_ago_is_recognised(log, clock):
    record_once(log, _fact())
    clock.now += 9 * builders.DAY_NS

    assert not record_once(log, _fact()).new


def test_a_session_summary_repeats_only_the_newest(log):
    said = [_summary(text, scope="session") for text in "aabba"]

    assert [True, False, True, False, True] == _new(log, *said)


def test_a_stage_repeats_any_earlier_one(log):
    assert [True, True, False] == _new(log, _summary("a"), _summary("b"), _summary("a"))


def test_a_stage_and_a_session_summary_of_the_same_words_are_two(log):
    assert [True, True] == _new(log, _summary(), _summary(scope="session"))


def test_a_summary_with_other_decisions_is_another(log):
    assert [True, True] == _new(log, _summary(scope="session"), _summary(scope="session", decisions=["d"]))


def test_a_correction_back_to_an_earlier_value_is_said(log):
    assert [True, True, True] == _new(log, *(_fact(f"port {number}", key="port") for number in (1, 2, 1)))
    assert ["port 1", "port 2", "port 1"] == builders.contents(log.read())


def test_what_another_conversation_replaced_may_be_said_again(log, clock):
    record_once(log, _fact("port 1", key="port"))
    clock.now += builders.DAY_NS
    record_once(log, _fact("port 2", key="port", conversation_id="t"))

    assert [True, False] == _new(log, _fact("port 1", key="port"), _fact("port 1", key="port"))


@pytest.mark.parametrize("fields", [{"project": "/q"}, {"key": "other"}, {"subagent": "a"}, {"memory_type": "O"}])
def test_what_was_said_elsewhere_replaces_nothing_here(log, fields):
    mine = {"project": "/p", "key": "port"}
    record_once(log, _fact("port 1", **mine))
    record_once(log, _fact("port 2", conversation_id="t", **{**mine, **fields}))

    assert not record_once(log, _fact("port 1", **mine)).new


def test_a_replacement_that_was_withdrawn_replaces_nothing(log):
    record_once(log, _fact("port 1", key="port"))
    _withdraw(log, target=record_once(log, _fact("port 2", key="port", conversation_id="t")).event.id)

    assert not record_once(log, _fact("port 1", key="port")).new


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", "３", "3"])), min_size=1, max_size=8))
def test_any_sequence_of_facts_under_a_key_ends_at_the_last_one_said(said):
    with a_log() as log:
        for conversation, text in said:
            record_once(log, _fact(f"端口 {text}", key="端口", conversation_id=conversation))
        (document,) = replay(log, Settings(), projections=[MEMORY]).documents
        (bullet,) = [line.text for line in document.lines if line.text.startswith("- ")]

    assert same_text(f"端口{said[-1][1]}") == same_text(bullet.partition("] ")[2])


def test_a_summary_that_calls_something_done_is_another(log):
    assert [True, True] == _new(log, _summary(), _summary(done=["docs"]))


def test_events_without_words_are_always_appended(log):
    turn = codec.from_fields({"type": "turn_end", "conversation_id": "s"})

    assert [True, True] == _new(log, turn, turn)


def _withdraw(log, **fields):
    return log.append({"type": "retraction", "conversation_id": "by-hand", **fields}).id


def test_what_was_withdrawn_may_be_said_again(log):
    target = record_once(log, _fact()).event.id
    _withdraw(log, target=target)

    assert [True, False] == _new(log, _fact(), _fact())


def test_what_was_quarantined_may_be_said_again(log, clock):
    record_once(log, _fact())
    clock.now += builders.DAY_NS
    _withdraw(log, conversation="s")

    assert record_once(log, _fact()).new


def test_what_was_restored_need_not_be_said_again(log):
    withdrawal = _withdraw(log, target=record_once(log, _fact()).event.id)
    _withdraw(log, target=withdrawal)

    assert not record_once(log, _fact()).new


def test_what_a_person_restored_need_not_be_said_again(log):
    withdrawal = _withdraw(log, target=record_once(log, _fact()).event.id)
    log.put([Restored(conversation_id="human", agent="human", target=withdrawal)])

    assert not record_once(log, _fact()).new


def test_threads_that_say_the_same_at_once_say_it_once(tmp_path):
    def say(_):
        return record_once(EventLog(tmp_path, fsync=False), _fact()).new

    with ThreadPoolExecutor(8) as pool:
        assert 1 == sum(pool.map(say, range(24)))


@pytest.mark.slow
def test_processes_that_say_the_same_at_once_say_it_once(tmp_path):
    saying = [
        subprocess.Popen(
            command("fact", "Use RS256", "--session", "s", "--store", tmp_path),
            stdout=subprocess.PIPE,
            env=surroundings(),
        )
        for _ in range(4)
    ]
    answers = [one.communicate()[0] for one in saying]

    assert 1 == sum(b'"ok"' in answer for answer in answers)
    assert 3 == sum(b'"skipped"' in answer for answer in answers)
    assert 1 == len(list(EventLog(tmp_path).read()))


def test_the_lock_is_free_again_when_saying_fails(log, monkeypatch):
    record_once(log, _fact())
    monkeypatch.setattr(log, "put", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        record_once(log, _fact("other"))

    assert record_once(EventLog(log.store, fsync=False), _fact("other")).new
