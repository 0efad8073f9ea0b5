"""A page of a knowledge base that changes step by step, and the log's knowledge of its sections; pure."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from eventlog.format.events import PlanEntry
from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.drift import locate
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.section_history import SectionHistory, Spelling, Wording
from eventlog.projections.bases.sections import Page, Section, SectionId, Unsafe, page_of

_EMPTY = SectionHistory((), ())


class ManagedPage:
    """The sections of a page as the log names them; `histories` and `managed` follow what is done to the page."""

    def __init__(self, ledger: Ledger, path: str, data: bytes) -> None:
        self._ledger = ledger
        self.histories = dict(ledger.histories)
        self._own: set[SectionId] = set()  # histories that have gone on here
        self.managed = set(ledger.managed)
        self.stood = ledger.stood(path)
        self._read(data)

    def _read(self, data: bytes) -> None:
        self.page = page_of(data)
        self.located = locate(self.page, self.stood, self._ledger.spelled)
        self._keys = {section: key for key, section in self.located.items()}

    @property
    def data(self) -> bytes:
        """Return the page as it is now."""
        return self.page.data

    def change(self, data: bytes) -> None:
        """Make this the page; sections taken from it before are not its sections any more."""
        if data != self.data:
            self._read(data)

    def key(self, section: Section) -> SectionId:
        """Return the name the log has for a section, wherever it stands by now."""
        return self._keys.get(section, section.key)

    def spelling(self, section: Section) -> Spelling:
        """Return the headings of a section as events spell them."""
        here = Spelling(section.source, section.level, section.above)
        return self._ledger.spelled.get(self.key(section), here)

    def meant_by(self, entry: PlanEntry) -> SectionId:
        """Return the section an entry means, on the page or not."""
        found = self.page.candidates(entry.key.heading, entry.key.level, entry.key.under)
        return self.key(found[0]) if len(found) == 1 else self.absent(entry)

    def absent(self, entry: PlanEntry) -> SectionId:
        """Return the section the log knows by that name and the page has not, else the name of a new one."""
        name = SectionId.of(entry.key.heading, entry.key.level, entry.key.under)
        here = {self.key(section) for section in self.page.sections}
        known = [key for key in self.histories if key[:2] == name[:2] and key not in here]
        known = [key for key in known if entry.key.under is None or _is_part(name.under, key.under)]
        return name if name in known or len(known) != 1 else known[0]

    def says(self, key: SectionId, text: str) -> bool:
        """Tell whether a section is on the page with this text as its body."""
        section = next((section for section in self.page.sections if self.key(section) == key), None)
        return section is not None and self.page.text(section) == text

    # ------------------------------------------------------------------------------------------ who wrote what

    def history(self, key: SectionId) -> SectionHistory:
        """Return the wordings of a section, none where the log knows none."""
        return self.histories.get(key) or _EMPTY

    def persons_lines(self, section: Section) -> list[str]:
        """List the lines of a section that a person wrote, its heading first."""
        history = self.history(self.key(section))
        lines = [line for line, is_persons in history.marked(self.page.text(section)) if is_persons and line.strip()]
        return [section.source, *lines] if history.is_persons else lines

    def is_recorded(self, section: Section) -> bool:
        """Tell whether the log has the body of a section."""
        key = self.key(section)
        now = self.history(key).now
        return key in self.managed or (now is not None and now.body == self.page.text(section))

    def record_return(self, key: SectionId, body: str | None) -> None:
        """Note that a section is what the log says of it."""
        self.stood[key] = sections.digest(body)

    def record_text(self, section: Section, below: str) -> None:
        """Note that the log will have a section as a person wrote it."""
        body = self.page.text(section)
        self._record(self.key(section), Wording("", "", "", section.source, body, None, person=True, below=below))

    def record_entry(self, key: SectionId, title: str, entry: str, body: str | None, meant: str | None) -> None:
        """Note that an entry has reached a section, on the page or not."""
        self._record(key, Wording("", "", entry, title, body, meant, person=False))
        self.managed.add(key)

    def _record(self, key: SectionId, wording: Wording) -> None:
        if key not in self._own:
            self.histories[key] = self.history(key).copy()  # the ledger's stays as the log has it
            self._own.add(key)
        self.histories[key].add(wording)
        self.stood[key] = sections.digest(wording.body)


def _is_part(under: Iterable[str], above: Iterable[str]) -> bool:
    left = iter(above)
    return all(name in left for name in under)


def render_base(ledger: Ledger) -> bytes:
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
