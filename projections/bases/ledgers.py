"""The ledger of every knowledge base: what was planned, applied, decided and edited, file by file; pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from eventlog.format.events import EntryApplied, EntryResolved, Event, KnowledgeEdited, PlanEntry, order
from eventlog.format.retractions import Retractions
from eventlog.projections.bases.base_file import BaseFile, Bases, base_file_of
from eventlog.projections.bases.ledger import FileHistory, Ledger, Told, is_of, key_of
from eventlog.projections.current.knowledge_events import Knowledge

if TYPE_CHECKING:
    from eventlog.projections.bases.sections import SectionId

from typing import NamedTuple

from eventlog.format.events import counts_at
from eventlog.format.marks import says_the_same
from eventlog.projections.bases.plan_file import change_of
from eventlog.projections.bases.sections import SectionId, Under

_Files = Mapping[str, BaseFile | None]  # by entry and by edit


def ledgers(state: Knowledge, bases: Bases, replica: str | None = None) -> dict[BaseFile, Ledger]:
    """Make the ledger of every file; entries that mean no knowledge base are `unmatched_entries`.

    With a `replica` it is that of the files of this store's machine: what another's files said counts only where it
    came along with a text that was found here, else it is `elsewhere`; entries for files inside another's projects are
    left out likewise. Events that name no replica count for all.
    """
    withdrawn = Retractions(state.retractions)
    records: dict[BaseFile, FileHistory] = {}
    recorded_in: dict[str, FileHistory] = {}
    said: list[PlanEntry | KnowledgeEdited] = [*state.entries, *state.edits]
    files = {event.id: base_file_of(event.key, event.project, bases) for event in said}
    along = _came_along(state, files, replica)
    refusals = Refusals(state.entries, state.resolved, withdrawn, bases, state.applied)
    for event in sorted(said, key=order):
        file = files[event.id]
        if file is None or (_is_of_file(event, file) and not _counts(event, replica, along)):
            continue
        record = recorded_in[event.id] = records.setdefault(file, FileHistory(rejects=withdrawn.rejects))
        record.newest = max(record.newest, event.ts, withdrawn.touched_at(event))
        record.known[event.id] = event
        if isinstance(event, KnowledgeEdited):
            record.edits += [] if withdrawn.hides(event) else [event]
        elif not withdrawn.hides(event) and not refusals.of(event):
            record.entries.append(event)
    became: list[EntryApplied | EntryResolved] = [*state.applied, *state.resolved]
    for told in sorted(became, key=order):
        home = recorded_in.get(told.target)
        if home is None or (isinstance(told, EntryApplied) and not _counts(told, replica, along)):
            continue
        home.newest = max(home.newest, told.ts, withdrawn.touched_at(told))
        if isinstance(told, EntryApplied):
            home.applied.append(told)  # it happened, whatever became of its conversation
        elif not withdrawn.hides(told):
            home.resolved.setdefault(told.target, []).append(told)
        elif told.choice != "discard":
            home.undone[told.target] = max(home.undone.get(told.target, ""), withdrawn.touched_at(told))
    _note_elsewhere(records, [text for text in _texts(state) if not _counts(text, replica, along)], files)
    return {file: Ledger(record, replica, review=bases[file.base].review) for file, record in sorted(records.items())}


def _note_elsewhere(records: Mapping[BaseFile, FileHistory], texts: Iterable[Told], files: _Files) -> None:
    for text in sorted(texts, key=order):
        file = _file_of(text, files)
        if file is not None and file in records:
            records[file].elsewhere.append(text)


def _is_of_file(event: PlanEntry | KnowledgeEdited, file: BaseFile) -> bool:
    """Tell whether it is about the file of one machine; an entry for a person's own files is for all of theirs."""
    return isinstance(event, KnowledgeEdited) or bool(file.project)


def _counts(event: Event, replica: str | None, along: Collection[str]) -> bool:
    return is_of(event, replica) or event.id in along


def _came_along(state: Knowledge, files: _Files, replica: str | None) -> set[str]:
    """Collect what tells, on other machines, how sections came to the texts in which they were found here.

    That is the event that is named as `found`, all before it of the same section, file and machine, what was found
    there in its turn, and the entries behind.
    """
    found = [told.found for told in state.applied if told.found and is_of(told, replica)]
    if not found:
        return set()
    events = {event.id: event for event in _texts(state)}
    alike: dict[tuple[str | None, BaseFile | None, SectionId], list[Told]] = defaultdict(list)
    for event in events.values():
        alike[event.replica, _file_of(event, files), key_of(event)].append(event)
    seen: set[str] = set()
    along: set[str] = set()
    while found:
        last = events.get(found.pop())
        if last is None or last.id in seen:
            continue
        seen.add(last.id)
        before = [one for one in alike[last.replica, _file_of(last, files), key_of(last)] if order(one) <= order(last)]
        arrivals = [one for one in before if isinstance(one, EntryApplied)]
        along |= {one.id for one in before} | {one.target for one in arrivals}
        found += [one.found for one in arrivals if one.found]
    return along


def _texts(state: Knowledge) -> list[Told]:
    return [*state.applied, *state.edits]


def _file_of(told: Told, files: _Files) -> BaseFile | None:
    return files.get(told.target if isinstance(told, EntryApplied) else told.id)


def unmatched_entries(state: Knowledge, bases: Bases) -> list[PlanEntry]:
    """List entries that mean no knowledge base there is, and that nobody has discarded."""
    withdrawn = Retractions(state.retractions)
    decided = {decision.target for decision in state.resolved if decision.choice == "discard"}
    lost = (entry for entry in state.entries if base_file_of(entry.key, entry.project, bases) is None)
    return sorted((entry for entry in lost if entry.id not in decided and not withdrawn.hides(entry)), key=order)


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
