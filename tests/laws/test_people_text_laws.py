"""Random documents with repeated, nested and escaped headings under random plans: only what is addressed changes."""

import tempfile
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import EventLog
from tests.support.bases import LAST_WORD, SETTINGS, planned, user_md, write_user
from tests.support.builders import Clock
from tests.support.effort import rounds
from tests.support.machines import STORES, found_as, of_machine
from tests.support.use_cases import apply, rebuild

pytestmark = pytest.mark.slow

HEADINGS = {"A": "A", "B \\<K\\> c": "B <K> c", "**C** _d_": "C d", "`e` &amp; f": "e & f", "标题": "标题"}
BODIES = st.lists(st.sampled_from(["- one", "- two", "text", "", "```\n## A\n```"]), max_size=3).map(
    lambda lines: "\n".join(lines).strip("\n")
)
DOCUMENTS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(sorted(HEADINGS)), BODIES), min_size=1, max_size=8)
OPERATIONS = st.sampled_from(["update", "clear", "delete"])


def block(level, source, body):
    return f"{'#' * level} {source}\n\n" + (f"{body}\n\n" if body else "")


def text(document):
    return "".join(block(*part) for part in document).rstrip("\n") + "\n"


def above(document, position):
    """The visible headings above a part, outermost first."""
    found: list[str] = []
    level = document[position][0]
    for other, source, _ in reversed(document[:position]):
        if other < level:
            found.insert(0, HEADINGS[source])
            level = other
    return found


def expected(document, position, operation, content):
    """The document after one change, by arithmetic of its own."""
    level, source, _ = document[position]
    if operation != "delete":
        return text([*document[:position], (level, source, content), *document[position + 1 :]])
    later = [number for number in range(position + 1, len(document)) if document[number][0] <= level]
    stop = later[0] if later else len(document)
    starts = [len("".join(block(*part) for part in document[:number])) for number in range(len(document))]
    whole = text(document)
    return whole[: starts[position]] + (whole[starts[stop] :] if stop < len(document) else "")


@contextmanager
def store(found):
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", f"{root}/home")
        of_machine(patch, root, 1)
        log = EventLog(f"{root}/store", fsync=False, clock=Clock())
        found_as(log.store, found)
        yield log


@settings(max_examples=rounds(fixed=6, fuzz=200))
@given(DOCUMENTS, st.data(), OPERATIONS, STORES)
def test_every_byte_outside_the_addressed_range_stays(document, data, operation, found_in):
    position = data.draw(st.integers(0, len(document) - 1))
    level, source, _ = document[position]
    under = above(document, position)
    alike = [
        number
        for number, (other, heading, _) in enumerate(document)
        if (other, HEADINGS[heading], above(document, number)) == (level, HEADINGS[source], under)
    ]
    content = {"update": "agent's", "clear": "", "delete": None}[operation]
    with store(found_in) as log:
        write_user(text(document))
        planned(log, HEADINGS[source], content, level=level, under=under, operation=operation)
        done = apply(log, LAST_WORD)
        again = rebuild(log, LAST_WORD)
        found = user_md().read_text()

    assert found == (text(document) if len(alike) > 1 else expected(document, position, operation, content or ""))
    says_so_already = operation == "clear" and not any(document[number][2] for number in alike)
    assert len(done.staged) == (len(alike) > 1 and not says_so_already)
    assert (0, []) == (again.applied.stored, again.applied.files)


@settings(max_examples=rounds(fixed=6, fuzz=200))
@given(
    DOCUMENTS,
    st.lists(st.tuples(OPERATIONS, st.sampled_from(sorted(HEADINGS)), st.integers(1, 4), BODIES), max_size=5),
    STORES,
)
def test_every_line_a_person_wrote_stays_in_its_order(document, plans, found_in):
    with store(found_in) as log:
        write_user(text(document))
        for operation, source, level, body in plans:
            content = {"update": f"agent's\n{body}", "clear": "", "delete": None}[operation]
            planned(log, HEADINGS[source], content, level=level, operation=operation)
        apply(log, SETTINGS)
        again = rebuild(log, SETTINGS)
        left = iter(user_md().read_text().split("\n"))

    assert all(line in left for line in text(document).split("\n") if line)
    assert (0, []) == (again.applied.stored, again.applied.files)
