"""The pages as a site: every page is in the navigation and on the first page, every link leads to a page and a heading."""

import re

import pytest
import yaml

from tests.docs.references import PAGES
from tests.docs.site_pages import with_links
from tests.support.tree import ROOT, needs_tree

needs_tree()
DOCS = ROOT / "docs"
_LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def leaves(part):
    """The pages of the navigation, whatever they are grouped by."""
    if isinstance(part, str):
        return [part]
    return [page for one in (part.values() if isinstance(part, dict) else part) for page in leaves(one)]


def anchors(page):
    """What its headings are linked by: as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ +(.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken(page):
    """The links of a page that lead nowhere; those to other sites are left alone."""
    for found in _LINK.finditer(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        path, anchor = found["path"], found["anchor"]
        if ":" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield found.group()


def test_the_navigation_has_every_page():
    navigation = leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])

    assert sorted(navigation) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_first_page_leads_to_every_page_of_a_subject():
    linked = set(_LINK.findall((DOCS / "index.md").read_text(encoding="utf-8")))

    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= {path for path, _ in linked}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_page_and_a_heading(page):
    assert [] == list(broken(page))


@pytest.mark.parametrize(
    ("page", "link", "led"),
    [
        ("index.md", "[it](../README.md#proof)", "[it](repository/README.md#proof)"),
        ("bench/recall.md", "[it](../store.md)", "[it](../store.md)"),
        ("repository/README.md", "[it](docs/store.md)", "[it](../store.md)"),
        ("repository/README.md", "[it](SECURITY.md)", "[it](SECURITY.md)"),
        ("repository/fixtures/README.md", "[it](../README.md)", "[it](../README.md)"),
        ("index.md", "[it](../eventlog/hosts)", "[it]"),
        ("index.md", "[it](https://a.example/x)", "[it](https://a.example/x)"),
    ],
)
def test_a_link_out_of_the_pages_leads_to_a_page_of_the_site(page, link, led):
    known = {"index.md", "store.md", "repository/README.md", "repository/SECURITY.md", "repository/fixtures/README.md"}

    assert with_links(link, page, known) == led


def test_a_link_to_a_heading_that_is_not_there_is_found(tmp_path):
    page = tmp_path / "a.md"
    page.write_text(
        "# One thing\n[a](#one-thing) [b](#two) [c](none.md) [d](a.md#one-thing) [e](https://x.example/#y)\n"
    )

    assert ["](#two)", "](none.md)"] == list(broken(page))
