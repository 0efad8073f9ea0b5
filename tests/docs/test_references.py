"""What pages say of files, functions, classes and tests is there."""

import re

import pytest

from tests.docs.follow import steps
from tests.docs.references import PAGES, Reference, links, references
from tests.support.tree import ROOT, needs_tree

needs_tree()
ARCHITECTURE, GLOSSARY, GUARANTEES = (
    ROOT / "docs" / f"{name}.md" for name in ("architecture", "glossary", "guarantees")
)


def text_of(page):
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_everything_a_page_names_is_there(page):
    made = {step.path for step in steps(text_of(page))}  # by who follows the page
    named = [*references(text_of(page)), *links(page)]

    assert [one for one in named if not one.is_there and one.path not in made] == []


def test_a_name_that_is_not_there_is_found():
    assert Reference("eventlog/log/event_log.py", "EventLog.append").is_there
    assert not Reference("eventlog/log/event_log.py", "EventLog.overwrite").is_there
    assert not Reference("eventlog/log/event_log.py", "overwrite").is_there
    assert not Reference("eventlog/overwrite.py").is_there


def rows(text):
    return [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")][1:]


def test_a_newcomers_ten_questions_have_a_file_and_a_name_each():
    questions = rows(text_of(ARCHITECTURE).partition("## Ten questions")[2])

    assert len(questions) == 10
    assert all(references(line) and all(one.name for one in references(line)) for line in questions)


def test_every_floor_and_room_is_in_the_picture():
    picture = text_of(ARCHITECTURE).split("```")[1]
    rooms = [
        path.parent
        for folder in ("eventlog", "projections", "app", "cli")
        for path in (ROOT / folder).glob("*/__init__.py")
    ]

    assert {room.name for room in rooms if not room.is_symlink()} <= set(re.findall(r"(\w+)/", picture))


def test_every_word_of_the_glossary_stands_for_something_in_the_code():
    words = rows(text_of(GLOSSARY))

    assert [line for line in words if not references(line) or not all(one.name for one in references(line))] == []
    assert len({line.split("|")[1] for line in words}) == len(words)


def test_every_promise_is_shown_by_tests():
    promises = text_of(GUARANTEES).partition("## Not promised")[0]
    items = re.split(r"^- ", promises, flags=re.MULTILINE)[1:]

    assert [item for item in items if not any(one.name.startswith("test_") for one in references(item))] == []
