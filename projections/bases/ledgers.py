"""Sort the events of all knowledge bases into a ledger for each file; pure.

An entry that a person has rejected or discarded is in no ledger, nor is any other entry that plans the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from eventlog.format.events import EntryApplied, EntryResolved, KnowledgeEdited, PlanEntry
from eventlog.format.marks import says_the_same
from eventlog.format.retractions import Retractions
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.bases.base_file import BaseFile, Bases, base_file_of
from eventlog.projections.bases.ledger import FileHistory, Ledger, Observation, is_from, key_of
from eventlog.projections.bases.plan_file import change_of
from eventlog.projections.bases.sections import SectionId, Under
from eventlog.projections.current.knowledge_events import Knowledge

if TYPE_CHECKING:
    from eventlog.format.events import Event

_ALWAYS = ""  # before every time
_Files = Mapping[str, BaseFile | None]  # by entry and by edit


def ledgers(state: Knowledge, bases: Bases, replica: str | None = None) -> dict[BaseFile, Ledger]:
    """Build the ledger of every file; `unmatched_entries` has the entries of no knowledge base.

    With a `replica`, builds those of that store's machine. Events of another machine's file count only if they came
    with a copied text; the rest is `elsewhere`. Entries for files inside projects of another machine are left out
    likewise. Events without a replica count everywhere.
    """
    withdrawn = Retractions(state.retractions)
    records: dict[BaseFile, FileHistory] = {}
    record_of: dict[str, FileHistory] = {}
    declared: list[PlanEntry | KnowledgeEdited] = [*state.entries, *state.edits]
    files = {event.id: base_file_of(event.key, event.project, bases) for event in declared}
    copied = _copied(state, files, replica)
    refusals = Refusals(state.entries, state.resolved, withdrawn, bases, state.applied)

    def counts(event: "Event") -> bool:
        return is_from(event, replica) or event.id in copied

    for event in sorted(declared, key=order):
        file = files[event.id]
        # an entry for a person's own files is for theirs on every machine; all else is about a file of one machine
        is_local = file is not None and (isinstance(event, KnowledgeEdited) or bool(file.project))
        if file is not None and (counts(event) or not is_local):
            record = record_of[event.id] = records.setdefault(file, FileHistory(rejects=withdrawn.rejects))
            is_hidden = withdrawn.hides(event) or (isinstance(event, PlanEntry) and bool(refusals.of(event)))
            record.add(event, withdrawn.touched_at(event), is_hidden=is_hidden)
    followed: list[EntryApplied | EntryResolved] = [*state.applied, *state.resolved]
    for later in sorted(followed, key=order):
        if later.target in record_of and (isinstance(later, EntryResolved) or counts(later)):
            record_of[later.target].follow(later, withdrawn.touched_at(later), is_hidden=withdrawn.hides(later))
    for text in sorted((text for text in _observations(state) if not counts(text)), key=order):
        file = _file_of(text, files)
        if file is not None and file in records:
            records[file].elsewhere.append(text)
    return {file: Ledger(record, replica, review=bases[file.base].review) for file, record in sorted(records.items())}


def _copied(state: Knowledge, files: _Files, replica: str | None) -> set[str]:
    """Collect the events of other machines whose texts came here with a copy of a file.

    Those are the events named as `found`, all before them of the same section, file and machine, the events that were
    found on those machines in turn, and the entries behind all of these.
    """
    found = [applied.found for applied in state.applied if applied.found and is_from(applied, replica)]
    if not found:
        return set()
    events = {event.id: event for event in _observations(state)}
    same: dict[tuple[str | None, BaseFile | None, SectionId], list[Observation]] = defaultdict(list)
    for event in events.values():
        same[event.replica, _file_of(event, files), key_of(event)].append(event)
    seen: set[str] = set()
    copied: set[str] = set()
    while found:
        last = events.get(found.pop())
        if last is None or last.id in seen:
            continue
        seen.add(last.id)
        section = same[last.replica, _file_of(last, files), key_of(last)]
        before = [event for event in section if order(event) <= order(last)]
        applied = [event for event in before if isinstance(event, EntryApplied)]
        copied |= {event.id for event in before} | {event.target for event in applied}
        found += [event.found for event in applied if event.found]
    return copied


def _observations(state: Knowledge) -> list[Observation]:
    return [*state.applied, *state.edits]


def _file_of(event: Observation, files: _Files) -> BaseFile | None:
    return files.get(event.target if isinstance(event, EntryApplied) else event.id)


class _Target(NamedTuple):
    """The section that an entry changes, and the operation."""

    place: BaseFile | str | None
    section: SectionId
    under: Under | None
    operation: str


class _Refusal(NamedTuple):
    """A person's decision against an entry, and the content it refuses; `since`: for entries of later than that."""

    id: str
    since: str
    entry: str
    content: str


class Refusals:
    """People's decisions against entries, found by the change that an entry plans.

    A rejection holds for every entry; a discard only for entries that had not been applied before.
    """

    def __init__(
        self,
        entries: Iterable[PlanEntry],
        resolved: Iterable[EntryResolved],
        withdrawn: Retractions,
        bases: Bases,
        applied: Iterable[EntryApplied] = (),
    ) -> None:
        self._bases = bases
        self._applied = {event.target for event in applied}
        self._decided = {event.target: event for event in sorted(resolved, key=order) if not withdrawn.hides(event)}
        self._by_target: dict[_Target, list[_Refusal]] = {}
        for entry in entries:
            decisions = [(rejection, _ALWAYS) for rejection in withdrawn.rejections_of(entry)]
            decision = self._decided.get(entry.id)
            if decision and decision.choice == "discard":
                decisions.append((decision.id, counts_at(decision)))
            if decisions:
                target, content = self._planned(entry)
                refusals = (_Refusal(*decision, entry.id, content) for decision in decisions)
                self._by_target.setdefault(target, []).extend(refusals)

    def of(self, entry: PlanEntry) -> str:
        """Return the decision about another entry that refuses this as well; "" without any.

        A decision about the entry itself takes precedence.
        """
        if not self._by_target or entry.id in self._decided:
            return ""
        target, content = self._planned(entry)
        is_new = entry.id not in self._applied
        for refusal in self._by_target.get(target, ()):
            is_due = refusal.entry != entry.id and (is_new or counts_at(entry) > refusal.since)
            if is_due and says_the_same(refusal.content, content):
                return refusal.id
        return ""

    def _planned(self, entry: PlanEntry) -> tuple[_Target, str]:
        key = entry.key
        place = base_file_of(key, entry.project, self._bases) or key.path or key.url
        operation, content = change_of(entry)
        return _Target(place, SectionId.of(key.heading, key.level), key.under, operation), content
