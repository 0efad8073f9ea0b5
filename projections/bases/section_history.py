"""The life of one section: every text it ever had, in order, and who wrote which line of it; pure."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from eventlog.events import order
from eventlog.projections.bases.merging import added, lines_of
from eventlog.projections.bases.sections import Under


class Spelling(NamedTuple):
    """A section as events name it: headings as they are written."""

    heading: str
    level: int
    under: Under | None


class Wording(NamedTuple):
    """The text of a section from a moment on; `body` None: it was not there any more."""

    ts: str
    id: str  # of the event that tells of it
    event: str  # the entry, or the person's text
    title: str  # the heading as it was written
    body: str | None
    meant: str | None  # what the entry wanted, where a person's lines were kept beside it
    person: bool
    below: str = ""  # subsections that were there, as they were written


class SectionHistory:
    """The wordings of a section that still count, oldest first."""

    def __init__(self, wordings: Iterable[Wording], counts: Collection[str]) -> None:
        in_order = sorted(wordings, key=order)
        self.valid = [wording for wording in in_order if wording.event in counts]

    def then(self, wording: Wording) -> "SectionHistory":
        """Return the history with one wording more."""
        longer = SectionHistory((), ())
        longer.valid = [*self.valid, wording]
        return longer

    @property
    def now(self) -> Wording | None:
        """Return the wording in force; None where none counts any more."""
        return self.valid[-1] if self.valid else None

    @property
    def sources(self) -> list[Wording]:
        """List the sources of the section: the wording in force, and a person's texts that were kept in it."""
        now = self.now
        kept = now is not None and not now.person and now.body != now.meant
        return [wording for wording in self.valid if wording is now or (kept and wording.person)]

    @property
    def base(self) -> str | None:
        """Return the text an entry last wanted here; None where none did, or the last removed the section."""
        ours = [wording for wording in self.valid if not wording.person]
        return (ours[-1].meant if ours[-1].meant is not None else ours[-1].body) if ours else None

    def marked(self, body: str | None) -> list[tuple[str, bool]]:
        """Mark each line of a body that follows on this: True where a person wrote it."""
        lines: list[tuple[str, bool]] = []
        for wording in self.valid:
            lines = added(lines, lines_of(wording.body), mark=wording.person)
        return added(lines, lines_of(body), mark=True)

    @property
    def is_removed_by_person(self) -> bool:
        """Tell whether the section is gone because a person removed it; deleting what is gone changes nothing."""
        gone_by_person = was_there = False
        for wording in self.valid:
            if wording.body is None and (was_there or wording.person):
                gone_by_person = wording.person
            was_there = wording.body is not None
        return bool(self.valid) and not was_there and gone_by_person

    @property
    def is_persons(self) -> bool:
        """Tell whether a person made the heading."""
        there = False
        persons = True
        for wording in self.valid:
            if wording.body is not None and not there:
                persons = wording.person
            there = wording.body is not None
        return persons or not there
