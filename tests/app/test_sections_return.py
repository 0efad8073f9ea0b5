"""Sections of a knowledge base that leave and return stand where they stood, in whichever order they do."""

from itertools import permutations

import pytest

from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.undo import undo, undoable
from eventlog.format.events import HUMAN, Restored
from eventlog.log.event_log import EventLog
from tests.support.bases import LAST_WORD, SETTINGS, planned, user_md, write_user
from tests.support.use_cases import apply, opened

pytestmark = pytest.mark.slow

OWN = "# Me\n\nI wrote this.\n"


@pytest.fixture
def log(tmp_path):
    ticks = iter(range(10**6))
    return EventLog(tmp_path / "store", fsync=False, clock=lambda: 1_771_588_800 * 10**9 + next(ticks) * 10**9)


def arrive(log, heading, content, **entry):
    event = planned(log, heading, content, **entry)
    apply(log, SETTINGS)
    return event


def withdraw(log, *events):
    """Take events back, all at once; return what takes that back."""
    done = log.put([Restored(conversation_id=HUMAN, agent=HUMAN, target=event.id) for event in events])
    apply(log, SETTINGS)
    return [appended.event for appended in done]


def undo_last(log):
    undo(opened(log), undoable(opened(log)))


def edit(log, data):
    write_user(data)
    apply(log, SETTINGS)


def test_sections_return_to_where_they_stood_whichever_leaves_and_returns_first(log):
    write_user(OWN)
    entries = {heading: arrive(log, heading, f"- {heading}") for heading in "ABC"}
    before = user_md().read_bytes()
    for leaving, returning in (("ABC", "ABC"), ("CAB", "CAB"), ("BCA", "ABC")):
        gone = {heading: withdraw(log, entries[heading]) for heading in leaving}
        assert user_md().read_text() == OWN
        for heading in returning:
            withdraw(log, *gone[heading])

        assert before == user_md().read_bytes()


@pytest.mark.parametrize(
    "own", ["", "\ufeff", "\ufeff\n", "\n\n", "# Me\n  \n\t\n", "## A\r\nx\r\n  \r\n", "## A\n\ufeff"]
)
def test_an_entry_taken_back_leaves_every_byte_as_it_was(log, own):
    write_user(own)
    arrive(log, "B", "agent's")
    undo_last(log)

    assert own == user_md().read_bytes().decode()


def test_sections_that_leave_and_return_together_keep_their_order(log):
    entries = [arrive(log, heading, f"- {heading}") for heading in "CAB"]
    before = user_md().read_bytes()

    withdraw(log, *withdraw(log, *entries[::-1]))

    assert before == user_md().read_bytes()


def test_a_section_written_again_by_hand_returns_to_where_it_was_written_last(log):
    withdraw(log, arrive(log, "Tea", "- fern"))
    arrive(log, "Work", "- moss")
    edit(log, "## Work\n\n- moss\n\n## Tea\n\n- mine\n")
    before = user_md().read_bytes()
    edit(log, before.partition(b"## Tea")[0])

    undo_last(log)

    assert before == user_md().read_bytes()


def test_the_first_text_of_a_section_returns_to_its_own_place_after_another_stood_elsewhere(log):
    arrive(log, "Tea", "- fern")
    arrive(log, "Work", "- moss")
    first = user_md().read_bytes()
    forget(opened(log), forgettable(opened(log), f"{user_md()}:3"))
    assert user_md().read_text() == "## Work\n\n- moss\n"
    arrive(log, "Tea", "- ivy")
    assert user_md().read_text() == "## Work\n\n- moss\n\n## Tea\n\n- ivy\n"

    undo_last(log)
    undo_last(log)

    assert first == user_md().read_bytes()


def test_a_section_that_returns_takes_in_no_subsection_made_meanwhile(log):
    arrive(log, "Work", "- moss")
    gone = withdraw(log, arrive(log, "Tea", "- fern"))
    arrive(log, "New", "- ivy", level=3, under=["Work"])

    withdraw(log, *gone)

    assert user_md().read_text() == "## Work\n\n- moss\n\n### New\n\n- ivy\n\n## Tea\n\n- fern\n"


def test_a_section_stays_where_a_person_has_moved_it(log):
    entries = {heading: arrive(log, heading, f"- {heading}") for heading in "ABC"}
    edit(log, "## C\n\n- C\n\n## A\n\n- A\n\n## B\n\n- B\n")
    before = user_md().read_bytes()

    for first, then in permutations("ABC", 2):
        one, other = withdraw(log, entries[first]), withdraw(log, entries[then])
        withdraw(log, *one)
        withdraw(log, *other)
        assert before == user_md().read_bytes(), (first, then)


def test_a_section_returns_where_a_heading_of_the_person_has_gone_meanwhile(log):
    write_user("# Me\n\n# My own\n")
    entries = [arrive(log, "B", "- B", level=1), arrive(log, "A", "- A", level=1)]
    gone = withdraw(log, entries[0])
    edit(log, "# Me\n\n# A\n\n- A\n")

    arrive(log, "A", "- A2", level=1)
    withdraw(log, *gone)

    assert user_md().read_text() == "# Me\n\n# B\n\n- B\n\n# A\n\n- A2\n"


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_the_blank_lines_at_the_end_of_the_file_return_with_its_last_section(log, end):
    arrive(log, "Work", "- moss")
    arrive(log, "Tea", "- fern")
    edit(log, f"## Work\n\n- moss\n{end}")
    before = user_md().read_bytes()
    edit(log, "")

    undo_last(log)
    assert before == user_md().read_bytes()

    forget(opened(log), forgettable(opened(log), f"{user_md()}:3"))
    undo_last(log)
    assert before == user_md().read_bytes()


def test_a_section_that_a_person_moved_and_then_removed_returns_to_where_it_was_moved(log):
    for heading in "ABC":
        arrive(log, heading, f"- {heading}")
    edit(log, "## C\n\n- C\n\n## A\n\n- A\n\n## B\n\n- mine\n")
    before = user_md().read_bytes()
    edit(log, "## C\n\n- C\n\n## B\n\n- mine\n")

    undo_last(log)

    assert before == user_md().read_bytes()


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_section_that_goes_again_leaves_the_end_of_the_file_as_it_was(log, end, by_hand):
    arrive(log, "Work", "- moss")
    arrive(log, "Tea", "- fern")
    edit(log, f"## Work\n\n- moss\n{end}")
    before = user_md().read_bytes()
    if by_hand:
        edit(log, before + (b"" if end else b"\n") + b"## Tea\n\n- mine\n")
    else:
        planned(log, "Tea", "- ivy", operation="update")
        apply(log, LAST_WORD)
    assert b"Tea" in user_md().read_bytes()

    undo_last(log)

    assert before == user_md().read_bytes()
