"""The page of a knowledge base if only the log had ever written it, without what is pending; pure."""

from collections.abc import Iterator

from msgspec import Struct, field

from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.section_history import Wording
from eventlog.projections.bases.sections import Page, SectionId, Unsafe, page_of


def drawn(ledger: Ledger) -> bytes:
    """Write every section where it stands; a heading that only others stand under is there without a text."""
    keys = sorted(ledger.histories, key=lambda key: len(key.under))
    said = {key: now for key in keys if (now := ledger.histories[key].now)}
    there = {key: now for key, now in said.items() if now.body is not None}
    if not any(now.below for now in there.values()):
        top = _tree(there)
        data = "\n".join(_texts(top)).encode()
        if [section.key for section in page_of(data).sections] == [node.key for node in _nodes(top)]:
            return data
    return _with_care(there, [key for key in keys if key not in there])


class _Node(Struct):
    """A section and what stands below it."""

    key: SectionId
    title: str
    body: str = ""
    below: "list[_Node]" = field(default_factory=list)


def _tree(there: dict[SectionId, Wording]) -> list[_Node]:
    top: list[_Node] = []
    for key, now in there.items():
        siblings = top
        for depth, heading in enumerate(key.under):
            above = SectionId(heading, key.level - len(key.under) + depth, key.under[:depth])
            known = (node for node in siblings if node.key.heading == heading and node.key.level < key.level)
            siblings = (next(known, None) or _placed(siblings, _Node(above, heading))).below
        known = (node for node in siblings if node.key == key)
        node = next(known, None) or _placed(siblings, _Node(key, now.title))
        node.title, node.body = now.title, now.body or ""
    return top


def _placed(siblings: list[_Node], node: _Node) -> _Node:
    """Insert a node last, but before one of a smaller level, which would take it in."""
    at = (at for at, other in enumerate(siblings) if other.key.level < node.key.level)
    siblings.insert(next(at, len(siblings)), node)
    return node


def _nodes(nodes: list[_Node]) -> Iterator[_Node]:
    for node in nodes:
        yield node
        yield from _nodes(node.below)


def _texts(top: list[_Node]) -> Iterator[str]:
    for node in _nodes(top):
        yield f"{'#' * node.key.level} {node.title.strip()}\n"
        if node.body:
            yield f"{node.body}\n"


def _with_care(there: dict[SectionId, Wording], gone: list[SectionId]) -> bytes:
    """Write section by section, each read again; what cannot stand beside the others is left out."""
    data = b""
    for key, now in there.items():
        try:
            data = _added(data, key, now)
        except Unsafe:
            continue
    for key in gone:
        if section := _at(page_of(data), key):
            data = section_edits.without(page_of(data), section, subsections=False)
    return data


def _added(data: bytes, key: SectionId, now: Wording) -> bytes:
    """Raises Unsafe."""
    for depth, heading in enumerate(key.under):
        page = page_of(data)
        if not any((section.heading, section.key.under) == (heading, key.under[:depth]) for section in page.sections):
            level = key.level - len(key.under) + depth
            data = section_edits.insert(page, heading, level, "", key.under[:depth])
    page = page_of(data)
    if section := _at(page, key):
        return section_edits.with_body(page, section, now.body or "")
    return section_edits.insert(page, now.title, key.level, now.body or "", key.under, now.below)


def _at(page: Page, key: SectionId) -> sections.Section | None:
    return next((section for section in page.sections if section.key == key), None)
