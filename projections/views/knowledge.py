"""`bases/<name>.md`, `bases/<name>/<project>.md`: what a knowledge base would be if only the log had ever written it.

Those with a project are of bases inside projects. They are rendered where a replay is told a directory; the real files
are people's, and are changed section by section (`apply`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.current.conversations import Knowledge
from eventlog.projections.views.markdown import stamped
from eventlog.settings.schema import Settings

if TYPE_CHECKING:
    from eventlog.projections.bases.sections import Page, SectionId

FOLDER = "bases/"


def render(state: Knowledge, settings: Settings) -> Iterable[Document]:
    """Render one document for every file that has a section."""
    from eventlog.projections.bases.apply_entries import apply_entries  # a replay into the store renders none
    from eventlog.projections.bases.ledger import ledgers
    from eventlog.projections.bases.sections import page_of

    for file, ledger in ledgers(state, settings.knowledge_bases).items():
        last_word = settings.knowledge_bases[file.base].on_people_text == "replace"
        done = apply_entries(ledger, file, "", None, replace=last_word)
        if done.data:
            sources = {key: history.now.event for key, history in ledger.histories.items() if history.now}
            sources |= {applied.key: applied.event for applied in done.sections}
            yield stamped(file.document, list(_lines(page_of(done.data), sources)), ledger.newest)


def _lines(page: "Page", sources: "Mapping[SectionId, str]") -> Iterator[Line]:
    """Yield the page line by line, with sources; a heading that is there for what is below it comes from that."""
    for section in page.sections:
        near = (sources.get(part.key) for part in (section, *page.below(section)))
        events = tuple(event for event in near if event)[:1]
        for line in page.lines[section.start : section.end]:
            yield Line(line.decode().rstrip("\r\n"), events)


KNOWLEDGE = Projection(name="knowledge", state=Knowledge, render=render, owns=(f"{FOLDER}*.md", f"{FOLDER}*/*.md"))
