"""Entries a person does not want: one they have rejected or discarded, and every other that plans just the same; pure.

What was rejected is refused whenever it is said; what was discarded, but for what had reached a file before.
"""

from collections.abc import Iterable
from typing import NamedTuple

from eventlog.events import EntryApplied, EntryResolved, PlanEntry, order
from eventlog.projections.bases.names import BaseFile, Bases, base_file_of
from eventlog.projections.bases.plan_file import change_of
from eventlog.projections.bases.sections import SectionId, Under
from eventlog.retractions import Retractions
from eventlog.text import statement_of

_ALWAYS = ""  # before every time


class Sense(NamedTuple):
    """The change an entry plans, whatever its wording."""

    place: BaseFile | str | None
    section: SectionId
    under: Under | None
    operation: str
    content: str


class EntryRefusal(NamedTuple):
    """A decision against an entry, from when on it holds for others, and the entry it was about."""

    id: str
    since: str
    about: str


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
        self._made: dict[Sense, list[EntryRefusal]] = {}
        for entry in entries:
            refusals = [EntryRefusal(one, _ALWAYS, entry.id) for one in withdrawn.rejections_of(entry)]
            decision = self._decided.get(entry.id)
            if decision and decision.choice == "discard":
                refusals.append(EntryRefusal(decision.id, decision.ts, entry.id))
            if refusals:
                self._made.setdefault(self._sense(entry), []).extend(refusals)

    def of(self, entry: PlanEntry) -> str:
        """Name the decision about another entry that is one about this, too; "" where there is none.

        What a person has decided about the entry itself goes first.
        """
        if not self._made or entry.id in self._decided:
            return ""
        others = (one for one in self._made.get(self._sense(entry), ()) if one.about != entry.id)
        is_new = entry.id not in self._arrived
        return next((one.id for one in others if is_new or entry.ts > one.since), "")

    def _sense(self, entry: PlanEntry) -> Sense:
        key = entry.key
        place = base_file_of(key, entry.project, self._bases) or key.path or key.url
        operation, content = change_of(entry)
        return Sense(place, SectionId.of(key.heading, key.level), key.under, operation, statement_of(content))
