"""Who does what these pages say, word for word, gets what they promise."""

import tomllib

import pytest

from tests.docs.follow import Checkout, Step, follow, steps
from tests.support.tree import ROOT, needs_tree

pytestmark = pytest.mark.slow

needs_tree()
HOST, PROJECTION = (
    (ROOT / "docs" / f"adding-a-{what}.md").read_text(encoding="utf-8") for what in ("host", "projection")
)
OWN_PACKAGE = "## In a package of your own"


@pytest.fixture
def checkout(tmp_path):
    checkout = Checkout(tmp_path)
    yield checkout
    checkout.close()


def test_a_host_is_added_as_its_page_says(checkout):
    for step in steps(HOST.partition(f"\n{OWN_PACKAGE}")[0]):
        follow(step, checkout)

    wheel = tomllib.loads((checkout.root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert "eventlog.hosts.heron" in wheel


def test_a_host_is_added_in_a_package_of_ones_own_as_its_page_says(checkout):
    before, heading, after = HOST.partition(f"\n{OWN_PACKAGE}")
    assert heading

    for step in (*steps(before)[:3], *steps(after)):
        follow(step, checkout)


def test_a_projection_is_added_as_its_page_says(checkout):
    for step in steps(PROJECTION.partition(OWN_PACKAGE)[0]):
        follow(step, checkout)


def test_a_projection_is_added_in_a_package_of_ones_own_as_its_page_says(checkout):
    before, heading, after = PROJECTION.partition(OWN_PACKAGE)
    assert heading

    for step in (steps(before)[0], *steps(after)):
        follow(step, checkout)


def test_a_page_that_promises_something_else_is_found(checkout):
    with pytest.raises(AssertionError, match="eventlog --version"):
        follow(
            Step("console", "$ eventlog --version # eventlog --version\neventlog, version of the future\n"), checkout
        )
