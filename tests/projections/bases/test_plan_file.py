"""The exchange format: every mistake at once with its line, and what is written is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.events import PlanMeta, SectionKey
from eventlog.projections.bases import plan_file
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.settings.schema import Settings

SEED = """version: '1.0.0'
source: 'session_xxx'
entries:
  - key:
      path: '~/.config/agents/USER.md'
      heading: 'Research Interests'
      level: 2
    operation: 'update'
    content: |-
      - AI Agents
      - Domain Modeling
    meta:
      confidence: 0.95
      reason: '用户深入讨论了...'
"""
WHERE = (Settings().knowledge_bases, "/p", "/home/ada")


def mistakes(text):
    return [(one.line, str(one)) for one in plan_file.every_mistake(PlanFile.parse(text), *WHERE)]


def test_the_format_is_read_as_it_was_first_written_down():
    [entry] = PlanFile.parse(SEED).value.entries

    assert mistakes(SEED) == []
    assert SectionKey(heading="Research Interests", path="~/.config/agents/USER.md") == entry.key
    assert ("update", "- AI Agents\n- Domain Modeling") == plan_file.change_of(entry)


def test_every_mistake_of_form_is_told_at_once_with_its_line():
    text = """version: '1.0'
sorce: x
entries:
  - key: {path: user, heading: '', level: 9}
    operation: replace
    content: 7
    meta: {confidence: 2, because: x}
  - key: {path: user, url: 'https://x', heading: A}
  - content: x
  - key: user
"""
    assert mistakes(text) == [
        (1, "version: must be 1.0.0"),
        (2, "sorce: unknown key; known: version, entries, source, error, target_file"),
        (4, "entries[0].key.heading: must not be blank"),
        (4, "entries[0].key.level: must be at most 6"),
        (5, "entries[0].operation: must be one of no-op, update, clear, delete"),
        (6, "entries[0].content: must be text, not a whole number"),
        (7, "entries[0].meta.because: unknown key; known: confidence, reason, created_at, session_id"),
        (7, "entries[0].meta.confidence: must be at most 1"),
        (8, "entries[1].key: exactly one of path and url must be given"),
        (9, "entries[2].key: missing"),
        (10, "entries[3].key: expected a mapping of keys to values"),
    ]


def test_every_mistake_of_meaning_is_told_at_once_with_its_line():
    text = """version: '1.0.0'
entries:
  - key: {path: ../x, heading: A}
    content: a
  - key: {path: user, heading: A}
    operation: update
  - key: {path: user, heading: "B #"}
    operation: delete
    content: text
  - key: {path: user, heading: C}
    content: |
      fine
      # not fine
  - key: {path: ~/.config/agents/USER.md, heading: "**C**"}
    operation: clear
"""
    assert mistakes(text) == [
        (3, "entries[0].key.path: '../x' is not a knowledge base: entries write nowhere else"),
        (6, "entries[1].operation: update needs a content"),
        (7, "entries[2].key.heading: the heading cannot be written so that it is read back as it is"),
        (8, "entries[2].operation: delete takes no content"),
        (11, "entries[3].content: the content has a heading in line 2; plan one entry for each heading"),
        (14, "entries[4]: entries[3] is about the same section"),
    ]


def test_a_mistake_of_form_hides_none_of_meaning():
    text = """version: '1.0.0'
entries:
  - key: {path: ../x, heading: A}
    operation: replace
  - key: {path: user, heading: B}
    operation: delete
    content: text
"""
    assert mistakes(text) == [
        (3, "entries[0].key.path: '../x' is not a knowledge base: entries write nowhere else"),
        (4, "entries[0].operation: must be one of no-op, update, clear, delete"),
        (6, "entries[1].operation: delete takes no content"),
    ]


@pytest.mark.parametrize(("text", "line"), [("a: [", 1), ("version: '1.0.0'\n\tx", 2), ("\n\n- a\n b: c", 4)])
def test_what_is_no_yaml_is_told_with_its_line(text, line):
    assert [line] == [number for number, _ in mistakes(text)]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
targets = st.builds(SectionKey, heading=texts.filter(str.strip), path=texts, level=st.integers(1, 6)) | st.builds(
    SectionKey, heading=texts.filter(str.strip), url=texts
)
entries = st.builds(
    PlannedChange, key=targets, operation=st.sampled_from([None, "update", "clear", "delete", "no-op"]), content=st.none() | texts,
    meta=st.builds(PlanMeta, confidence=st.floats(0, 1), reason=st.none() | texts),
)  # fmt: skip
files = st.builds(
    PlanFile,
    version=st.just("1.0.0"),
    entries=st.lists(entries, max_size=3),
    source=st.none() | texts,
    error=st.none() | texts,
)


@given(files)
def test_what_is_written_is_read(file):
    assert file == PlanFile.parse(file.dump()).value


def test_the_schema_is_json_schema_and_knows_every_key():
    schema = PlanFile.schema()

    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(schema["$defs"]["Target"]["properties"]) == {"path", "url", "heading", "level", "under"}
    assert len(schema["$defs"]["Target"]["oneOf"]) == 2


def test_files_of_the_first_program_are_taken_as_they_are():
    text = """version: '1.0.0'
entries:
  - key: {path: USER.md, heading: A}
    content: a
    meta: {created_at: '2026-02-20T14:30:22', session_id: session_xxx, confidence: 0.9}
"""
    assert mistakes(text) == []


def test_equal_headings_under_different_ones_are_no_duplicates():
    text = """version: '1.0.0'
entries:
  - key: {path: user, heading: A, under: [X]}
    content: a
  - key: {path: user, heading: A, under: [Y]}
    content: a
"""
    assert mistakes(text) == []
