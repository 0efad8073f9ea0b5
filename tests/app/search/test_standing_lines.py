"""What a search takes for withdrawn is what every view takes for withdrawn."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog.app.search import standing_lines
from eventlog.fast import fastjson
from eventlog.format import codec, marks
from eventlog.format.events import Fact, Rejected, Restored, Retraction, StageSummary, Withdrawal
from eventlog.format.marks import A_STATEMENT, ALL_OF, AN_EVENT, digest_of, mark_of
from eventlog.format.retractions import Retractions
from tests.support import builders
from tests.support.effort import rounds
from tests.support.histories import histories

SAYINGS = ["Use RS256", "ｕｓｅ  rs256！", "other"]
_positions = st.integers(0, 9)
_aims = st.one_of(
    st.tuples(st.just("target"), _positions),
    st.tuples(st.just("conversation"), st.sampled_from(["c", "d"])),
    st.tuples(st.just("statement"), st.sampled_from(SAYINGS)),
    st.tuples(st.just("marked"), st.sampled_from([(salt, text) for salt in ("", "5a17", "17") for text in SAYINGS])),
    st.tuples(st.just("target"), st.sampled_from([f"statement {mark_of('Use RS256', '')}", "conversation c"])),
)


@st.composite
def withdrawals(draw):
    """Withdrawals of every kind, of events and of each other, any of which may come at the same moment."""
    kinds = draw(st.lists(st.tuples(st.sampled_from([Retraction, Rejected, Restored]), _aims), max_size=10))
    ids = [builders.fact(number)["id"] for number in range(10)]
    made = []
    for number, (kind, (how, what)) in enumerate(kinds):
        aim = {how: ids[what] if isinstance(what, int) else what}
        if how == "marked" and kind is Rejected:
            salt, text = what
            aim = {"salt": salt, "digest": digest_of(text, salt)}
        aim = aim if aim.keys() <= set(kind.__struct_fields__) else {"target": ids[0]}
        ts = builders.at(draw(st.integers(0, 3)))
        helper = draw(st.sampled_from([None, None, None, "explore"]))
        made.append(kind(conversation_id="by-hand", id=ids[number], ts=ts, subagent=helper, **aim))
    return made


def _fields(event):
    return fastjson.object_in(codec.encode(event))


def _agree(said, made):
    views, search = Retractions(made), standing_lines.aims_of(map(_fields, made), in_force=True)

    assert {aim for aim in search if aim.startswith(AN_EVENT)} == {f"event {one}" for one in views.events}
    assert {aim for aim in search if aim.startswith(ALL_OF)} == {f"conversation {one}" for one in views.conversations}
    assert {aim.removeprefix(A_STATEMENT) for aim in search if aim.startswith(A_STATEMENT)} == set(views.statements)
    for event in said:
        _agree_on(event, views, search)


def _agree_on(event, views, search):
    is_gone = bool(search & {AN_EVENT + event.id, ALL_OF + event.conversation_id})
    kept = standing_lines.cleared(_fields(event), standing_lines.rejected_in(search))
    if isinstance(event, Fact):
        assert views.hides(event) == (is_gone or not kept["content"])
        return
    assert views.hides(event) == is_gone
    left = views.cleared(event)
    for name in ("topic", "summary"):
        assert getattr(left, name) == kept.get(name, "")
    for name in ("decisions", "todos"):
        assert list(getattr(left, name)) == kept.get(name, [])


@pytest.mark.slow
@settings(max_examples=rounds(fixed=20, fuzz=1000))
@given(withdrawals())
def test_search_and_views_withdraw_the_same_of_any_withdrawals(made):
    facts = [Fact(id=builders.fact(n)["id"], conversation_id="cd"[n % 2], content="Use RS256.") for n in range(4)]
    _agree(facts, made)


@given(histories())
def test_search_and_views_withdraw_the_same_of_any_history(lines):
    events = [codec.decode(line) for line in lines]
    said = [event for event in events if isinstance(event, Fact | StageSummary)]

    _agree(said, [event for event in events if isinstance(event, Withdrawal)])


def test_a_statement_is_told_from_an_id_that_is_spelled_like_one():
    made = [
        Retraction(
            conversation_id="s",
            id=builders.fact(1)["id"],
            ts=builders.at(1),
            target=f"statement {mark_of('use rs256', '')}",
        )
    ]

    assert not standing_lines.rejected_in(standing_lines.aims_of(map(_fields, made), in_force=True))


def test_the_salts_of_what_is_rejected_are_looked_up_once_for_all_lines(monkeypatch):
    looked = []
    salts_in = marks.salts_in

    def counted(several):
        looked.append(len(several))
        return salts_in(several)

    monkeypatch.setattr(marks, "salts_in", counted)
    rejected = standing_lines.rejected_in({"statement salt:0", "statement salt:1"})

    assert all(standing_lines.cleared({"content": f"Text {number}"}, rejected) for number in range(9))
    assert looked == [2]
