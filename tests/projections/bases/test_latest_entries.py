"""Which of many entries about one section is in force, without comparing each with each."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format import ids, timestamps
from eventlog.format.codec import from_fields
from eventlog.projections.bases.apply_entries import LatestEntries, apply_entries
from eventlog.projections.bases.ledger import ledgers
from eventlog.projections.bases.sections import digest
from eventlog.projections.current.conversations import Knowledge
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.support.builders import at
from tests.support.work import lines_run

NUMBERS = count()


def entry(second, batch=None):
    """An entry that says what no other does: no text was ever looked at before."""
    number, key = next(NUMBERS), {"path": "user", "heading": "S"}
    fields = {"ts": at(second), "conversation_id": "s", "key": key, "content": f"text {number:06d}", "batch": batch}
    return from_fields({"type": "plan_entry", "id": ids.derived(timestamps.to_ms(at(second)), str(number)), **fields})


def applied(number, of):
    fields = {"ts": at(number), "conversation_id": "s", "target": of.id, "path": "~/U.md", "heading": "S", "level": 2}
    return from_fields(
        {"type": "entry_applied", **fields, "id": f"arrived-{number}", "digest": digest(of.content), "under": []}
    )


@given(st.lists(st.tuples(st.integers(0, 6), st.sampled_from([None, "a", "b"])), max_size=8), st.data())
def test_later_is_what_was_declared_after_it_and_not_together_with_it(told, data):
    entries = [entry(number, batch) for number, batch in told]
    latest = LatestEntries()
    for one in data.draw(st.permutations(entries)):
        latest.add(one, (one.ts, one.id))

    for one in entries:
        later = [other for other in entries if (other.ts, other.id) > (one.ts, one.id)]
        apart = [other for other in later if other.batch is None or other.batch != one.batch]
        assert latest.is_later_than(one, (one.ts, one.id)) is bool(apart)


def pending(number):
    return [entry(one) for one in range(number)]


def applied_and_pending(number):
    told = [entry(one) for one in range(number)]
    return [*told, *map(applied, range(number), told), *map(entry, range(number, 2 * number))]


@pytest.mark.slow
@pytest.mark.parametrize("history", [pending, applied_and_pending])
@pytest.mark.parametrize("page", [None, b"## S\n\nby hand\n"], ids=["new", "a-persons"])
@pytest.mark.parametrize("review", [False, True], ids=["applied", "reviewed"])
def test_twice_as_many_entries_about_one_section_are_twice_the_work(history, page, review):
    settings = Settings(knowledge_bases={"user": KnowledgeBase(path="~/U.md", review=review)})

    def work(number):
        state = Knowledge()
        for event in history(number):
            state.fold(event)
        [(place, ledger)] = ledgers(state, settings.knowledge_bases).items()
        return lines_run(lambda: apply_entries(ledger, place, "~/U.md", page))

    work(2)  # what is loaded once
    few, some, many = work(20), work(40), work(80)
    assert many - some <= 2.1 * (some - few)
