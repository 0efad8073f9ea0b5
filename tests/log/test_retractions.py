from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eventlog.format import retractions
from eventlog.format.marks import digest_of
from eventlog.format.retractions import Retractions
from tests.support.typed_events import event, fact, quarantine, retract

FACT = fact(1)


def test_nothing_is_withdrawn_at_first():
    assert not Retractions([]).hides(FACT)
    assert "" == Retractions([]).touched_at(FACT)


def test_a_withdrawn_event_is_hidden_and_others_are_not():
    withdrawn = Retractions([retract(5, FACT)])

    assert withdrawn.hides(FACT)
    assert not withdrawn.hides(fact(2))


def test_a_quarantined_conversation_is_hidden_whole_and_others_are_not():
    withdrawn = Retractions([quarantine(5)])

    assert withdrawn.hides(FACT)
    assert not withdrawn.hides(fact(1, conversation_id="d"))


def test_a_withdrawn_withdrawal_restores_and_withdrawing_that_hides_again():
    chain = [retract(5, FACT)]
    for number in (6, 7, 8):
        chain.append(retract(number, chain[-1]))

    assert [True, False, True, False] == [Retractions(chain[:length]).hides(FACT) for length in (1, 2, 3, 4)]


def test_a_withdrawn_quarantine_restores_the_conversation():
    first = quarantine(5)

    assert not Retractions([first, retract(6, first)]).hides(FACT)


def test_a_second_withdrawal_survives_the_end_of_the_first():
    first, second = retract(5, FACT), retract(6, FACT)

    assert Retractions([first, second, retract(7, first)]).hides(FACT)


def test_withdrawals_that_name_each_other_end_somewhere():
    one = retract(5, FACT)
    other = retract(6, one)
    circle = event("retraction", 5, target=other.id, conversation_id="by-hand")

    assert isinstance(Retractions([circle, other]).touched_at(FACT), str)
    assert not Retractions([event("retraction", 5, target=event("retraction", 5, target="x").id)]).hides(FACT)


def test_an_event_is_touched_when_its_fate_was_last_decided():
    first, whole = retract(5, FACT), quarantine(7)

    assert first.ts == Retractions([first]).touched_at(FACT)
    assert retract(6, first).ts == Retractions([first, retract(6, first)]).touched_at(FACT)
    assert retract(9, whole).ts == Retractions([first, whole, retract(9, whole)]).touched_at(FACT)


CHAIN = [retract(5, FACT), quarantine(6)]
CHAIN += [retract(7, CHAIN[0]), retract(8, CHAIN[1])]
CHAIN += [retract(9, CHAIN[2])]


@given(st.permutations(CHAIN))
def test_the_order_in_which_they_are_read_does_not_matter(chain):
    assert Retractions(CHAIN).hides(FACT) == Retractions(chain).hides(FACT)
    assert Retractions(CHAIN).touched_at(FACT) == Retractions(chain).touched_at(FACT)


_AIMS = st.one_of(
    st.builds(lambda number: {"target": fact(number).id}, st.integers(0, 3)),
    st.just({"conversation": "c"}),
    st.just({"salt": "5a17", "digest": digest_of("Tea", "5a17")}),
)


@st.composite
def _withdrawals(draw):
    """Withdrawals of few events, of all that was said, of a statement, and of one another, mostly as time passes."""
    made = list[Any]()
    for number in range(draw(st.integers(0, 8))):
        minute = draw(st.sampled_from([10 + number] * 4 + [9, 30]))
        aim, kind = draw(_AIMS), draw(st.sampled_from(["rejected", "retraction", "restored"]))
        if made and draw(st.integers(0, 3)) == 0:
            aim = {"target": draw(st.sampled_from(made)).id}
        kind = "rejected" if "digest" in aim else "retraction" if "conversation" in aim else kind
        made.append(event(kind, minute, **aim, conversation_id="by-hand"))
    return made


def _judgement(withdrawn):
    """All that was judged, with what comes first in it."""
    return {name: list(value.items()) if isinstance(value, dict) else value for name, value in vars(withdrawn).items()}


@given(_withdrawals(), st.lists(st.integers(0, 8), max_size=3))
def test_withdrawals_judged_as_they_come_are_those_judged_at_once(withdrawals, sizes):
    grown = Retractions(())
    for size in (*sizes, len(withdrawals)):
        grown = grown.grown(withdrawals[:size])

        assert _judgement(grown) == _judgement(Retractions(withdrawals[:size]))


def test_a_withdrawal_that_comes_later_is_judged_alone(monkeypatch):
    before = Retractions([retract(number, fact(number)) for number in range(5, 9)])
    judged = list[Any]()

    def noted(withdrawals):
        judged.extend(withdrawals)
        return judge(judged)

    judge = retractions._judged
    monkeypatch.setattr(retractions, "_judged", noted)
    grown = before.grown([*before._made.values(), retract(9, FACT)])

    assert judged == [retract(9, FACT)]
    assert grown.events == before.events | {FACT.id}
