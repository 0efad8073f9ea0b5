"""The hand-written history becomes exactly the expected files; a log whose memory is too large keeps its budget."""

import shlex

import pytest
from click.testing import CliRunner

from eventlog.cli.group import VerbGroup
from eventlog.format import codec
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings
from tests.support import builders
from tests.support.builders import replay
from tests.support.golden import HISTORY, LOCALES, copied, rendered, tree

MANY = 400


@pytest.mark.parametrize("locale", LOCALES)
def test_the_history_becomes_exactly_the_expected_files(tmp_path, locale):
    documents = rendered(copied(HISTORY, tmp_path), Settings(locale=locale))

    assert tree(HISTORY / "expected" / locale) == documents


def test_replay_out_writes_exactly_the_expected_files(tmp_path):
    log = copied(HISTORY, tmp_path)
    arguments = ["replay", "--store", log.store.root, "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(VerbGroup(), arguments, standalone_mode=False)

    assert result.exception is None
    assert tree(HISTORY / "expected" / "en") == tree(tmp_path / "out")


@pytest.mark.parametrize("file", sorted(path.name for path in (HISTORY / "log").iterdir()))
def test_the_history_is_written_as_the_log_writes_it(file):
    lines = (HISTORY / "log" / file).read_bytes().splitlines()

    assert lines == [codec.encode(codec.decode(line)) for line in lines]


@pytest.mark.parametrize("locale", LOCALES)
def test_no_line_of_a_rendered_file_holds_a_control_character(tmp_path, locale):
    for data in tree(HISTORY / "expected" / locale).values():
        assert not [char for char in data.decode() if char != "\n" and not char.isprintable()]


# ------------------------------------------------------------------------------------------------ more than fits


def _crowded(log, **fields):
    """A log with more facts than a MEMORY.md may hold, and its rendered file of that project."""
    facts = [{**builders.fact(number), "project": "/p/it's", "agent": "codex"} for number in range(MANY)]
    log.append_many(
        [{**fact, **{name: value(number) for name, value in fields.items()}} for number, fact in enumerate(facts)]
    )
    (document,) = replay(log, Settings(), projections=[MEMORY]).documents
    return document


SIZES = {
    "short facts": {},
    "long facts": {"content": lambda number: f"{number} " + "長い" * 100},
    "a section each": {"category": lambda number: f"subject {number:03}"},
    "long and a section each": {
        "content": lambda number: f"{number} " + "x" * 300,
        "category": lambda number: f"ß{number}",
    },
    "enormous facts": {"content": lambda number: f"{number} " + "x" * (30_000 if number % 2 else 2_000)},
}


@pytest.mark.slow
@pytest.mark.parametrize("fields", SIZES.values(), ids=SIZES)
def test_a_memory_never_exceeds_what_agents_load_of_it_and_says_how_to_see_what_is_left_out(log, fields):
    document = _crowded(log, **fields)
    shown = sum(line.text.startswith("- [") for line in document.lines)
    last = document.lines[-3].text
    command = shlex.split(last.split("`")[1])
    result = CliRunner().invoke(VerbGroup(), [*command[1:], "--store", log.store.root, "--format", "jsonl"])

    assert len(document.lines) <= 200
    assert len(document.data) <= 25_000
    assert last.startswith(f"{MANY - shown} more ")
    assert command[0] == "eventlog"
    assert len(result.output.splitlines()) == MANY


@pytest.mark.slow
@pytest.mark.parametrize("locale", LOCALES)
def test_short_facts_fill_every_line_there_is(log, locale):
    _crowded(log)
    (document,) = replay(log, Settings(locale=locale), projections=[MEMORY]).documents

    assert len(document.lines) == 200


def test_what_matters_most_is_kept_when_not_everything_fits(log):
    document = _crowded(log, importance=lambda number: 5 if number == 7 else 3)

    assert any(line.text.endswith("fact 7") for line in document.lines)
