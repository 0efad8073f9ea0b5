"""The README cannot rot: what it shows is what the program does."""

import re

import click
import pytest

from eventlog import Memory
from eventlog.cli.verbs import VERBS, load
from eventlog.projections.catalog import KINDS
from eventlog.store import Store
from tests.support.tree import ROOT, files, needs_tree

needs_tree()
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_section_on_the_page_of_verbs(verb):
    assert f"\n### `eventlog {verb}`\n" in (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_example_in_its_help(verb):
    command = load(verb)

    assert isinstance(command, click.Command)
    assert f"eventlog {verb}" in (command.epilog or "")


def test_everything_a_program_can_ask_of_memory_is_on_the_page_for_python():
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    told = re.search(r"`Memory` has (.*?); all of it is typed", page, re.DOTALL)
    asked = {name for name in vars(Memory) if not name.startswith("_")}

    assert told
    assert asked | {"log"} == set(re.findall(r"`(\w+)`", told[1]))


def test_everything_the_cache_holds_is_told():
    page = (ROOT / "docs" / "cache.md").read_text(encoding="utf-8")
    names = re.search(
        r"CacheName = Literal\[(.*?)\n    \]", (ROOT / "eventlog" / "store" / "__init__.py").read_text(), re.DOTALL
    )
    tables = re.findall(r"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)", "".join(files("app").values()))
    kinds = [*KINDS]

    locks = re.search(r"LockName = Literal\[(.*?)\]", (ROOT / "eventlog" / "store" / "__init__.py").read_text())
    assert names
    assert locks
    assert [] == [name for name in re.findall(r'"(\w+)"', locks[1]) if f"`{name}.lock`" not in page]
    assert {"units", "words"} <= set(tables)
    assert [] == [name for name in re.findall(r'^        "(.+?)"', names[1], re.MULTILINE) if f"`{name}`" not in page]
    assert [] == [name for name in [*tables, *kinds] if f"`{name}`" not in page]


def test_everything_beside_the_log_is_told():
    page = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
    paths = [path.removeprefix("/s/") for path in vars(Store("/s")).values() if path.startswith("/s/")]

    assert "rewritten.jsonl" in paths
    assert [] == [path for path in paths if not re.search(rf"^{re.escape(path.split('/')[0])}\b", page, re.MULTILINE)]


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 200


def test_every_command_of_the_readme_exists():
    named = set(re.findall(r"eventlog ([a-z]+)\b", "\n".join(re.findall(r"^\$ (.*)$", README, re.MULTILINE))))

    assert named <= set(VERBS)
