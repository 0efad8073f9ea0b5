"""Entries a person does not want: one they have rejected or discarded, and every other that plans just the same; pure.

What was rejected is refused whenever it is said; what was discarded, but for what had reached a file before.
"""

from collections.abc import Iterable
from typing import NamedTuple

from eventlog.format.events import EntryApplied, EntryResolved, PlanEntry, counts_at, order
from eventlog.format.retractions import Retractions
from eventlog.format.statement_marks import says_the_same
from eventlog.projections.bases.names import BaseFile, Bases, base_file_of
from eventlog.projections.bases.plan_file import change_of
from eventlog.projections.bases.sections import SectionId, Under

_ALWAYS = ""  # before every time


class Aim(NamedTuple):
    """The section an entry is about, and what it does with it."""

    place: BaseFile | str | None
    section: SectionId
    under: Under | None
    operation: str


class EntryRefusal(NamedTuple):
    """A decision against an entry, from when on it holds for others, the entry it was about, and what that says."""

    id: str
    since: str
    about: str
    content: str


class Refusals:
    """The decisions against entries, by what those plan."""

    def __init__(
        self,
        entries: Iterable[PlanEntry],
        resolved: Iterable[EntryResolved],
        withdrawn: Retractions,
        bases: Bases,
        arrived: Iterable[EntryApplied] = (),
    ) -> None:
        self._bases = bases
        self._arrived = {told.target for told in arrived}
        in_force = (one for one in sorted(resolved, key=order) if not withdrawn.hides(one))
        self._decided = {one.target: one for one in in_force}
        self._made: dict[Aim, list[EntryRefusal]] = {}
        for entry in entries:
            decisions = [(one, _ALWAYS) for one in withdrawn.rejections_of(entry)]
            decision = self._decided.get(entry.id)
            if decision and decision.choice == "discard":
                decisions.append((decision.id, counts_at(decision)))
            if decisions:
                aim, content = self._planned(entry)
                refusals = (EntryRefusal(*one, entry.id, content) for one in decisions)
                self._made.setdefault(aim, []).extend(refusals)

    def of(self, entry: PlanEntry) -> str:
        """Name the decision about another entry that is one about this, too; "" where there is none.

        What a person has decided about the entry itself goes first.
        """
        if not self._made or entry.id in self._decided:
            return ""
        aim, content = self._planned(entry)
        others = (one for one in self._made.get(aim, ()) if one.about != entry.id)
        is_new = entry.id not in self._arrived
        alike = (
            one.id for one in others if (is_new or counts_at(entry) > one.since) and says_the_same(one.content, content)
        )
        return next(alike, "")

    def _planned(self, entry: PlanEntry) -> tuple[Aim, str]:
        key = entry.key
        place = base_file_of(key, entry.project, self._bases) or key.path or key.url
        operation, content = change_of(entry)
        return Aim(place, SectionId.of(key.heading, key.level), key.under, operation), content
