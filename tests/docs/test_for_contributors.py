"""What the pages tell contributors to type is there, and the page for agents is one screen."""

import re
import tomllib

import pytest
import yaml

from tests.docs.references import PAGES
from tests.support.tree import ROOT, needs_tree

needs_tree()
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_make_a_page_names_is_a_target(page):
    text = re.sub(r"^```markdown.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    told = re.findall(r"(?:`|^ {4}|&& |^)make ([a-z][\w-]*)", text, re.MULTILINE)

    assert set(told) <= TARGETS


def test_contributors_are_told_of_every_target():
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert [target for target in sorted(TARGETS - {"clean", "hosts-terminal"}) if f"`make {target}" not in told] == []


def test_every_change_is_tested_on_each_python_by_targets_there_are():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    made = [step["run"].split() for step in job["steps"] if "run" in step]
    pythons = re.search(r"^PYTHONS \?= (.*)$", makefile, re.MULTILINE)

    assert pythons
    assert pythons[1].split() == [f"python{version}" for version in job["strategy"]["matrix"]["python"]]
    assert {"lint", "test"} <= {target for words in made for target in words[1:]} <= TARGETS
    assert {words[0] for words in made} == {"make"}


def test_the_page_for_agents_is_one_screen():
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 40


def test_what_is_not_released_does_not_bear_the_version_of_what_is():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    unreleased, _, released = (
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("## [Unreleased]")[2].partition("\n## [")
    )

    if version.endswith(".dev0"):
        assert not released.startswith(f"{version.removesuffix('.dev0')}]")
    else:
        assert released.startswith(f"{version}]")
        assert not unreleased.strip()


def test_every_part_of_the_changelog_is_of_a_known_kind():
    headings = re.findall(r"^### (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert set(headings) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
