"""Sections that leave and return keep their order, among them and among the headings of a person."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog.format.events import EntryApplied
from eventlog.projections.bases.managed_page import PageOrder
from eventlog.projections.bases.sections import Page, SectionId
from tests.support.effort import rounds

MANAGED, OWN = "ABCDE", "xyz"


def page_of(headings):
    return Page("".join(f"## {heading}\n\n- text\n\n" for heading in headings).encode())


def told(page, heading, *, is_gone):
    """Build the event of a section that is on the page and stays, or leaves it."""
    section = page.find(heading, 2)
    return EntryApplied(
        conversation_id="s", target=f"entry {heading}", path="~/USER.md", heading=heading, level=2, under=(),
        digest="" if is_gone else "a digest", previous=page.spot(section).previous,
    )  # fmt: skip


@settings(max_examples=rounds(fixed=30, fuzz=20_000))
@given(st.permutations([*MANAGED, *OWN]), st.lists(st.sampled_from(MANAGED), max_size=20))
def test_sections_that_leave_and_return_in_any_order_keep_the_order_of_the_page(original, toggled):
    there = list(original)
    events = [told(page_of(there), heading, is_gone=False) for heading in there if heading in MANAGED]
    for heading in toggled:
        page = page_of(there)
        if heading in there:
            events.append(told(page, heading, is_gone=True))
            there.remove(heading)
        else:
            line, _ = PageOrder(events).give_back(SectionId(heading, 2), f"entry {heading}", page)
            there.insert(sum(section.start < line for section in page.sections), heading)
            events.append(replace(told(page_of(there), heading, is_gone=False), previous=None))

        assert there == [other for other in original if other in there]
