"""The ledger of each file of a knowledge base: what sections should contain, which entries are pending or wait; pure.

Order    the text of a section is its last wording in force: an applied entry (from when it was first applied) or a
         person's text, each by the time when it counts, wherever it was declared.
Hold     an entry waits for a person, whatever the page says, if its base wants every entry reviewed, if its batch names
         a section twice, if it contains a rejected line, or if no file could contain its text.
Pending  every other open entry; `apply_entries` tries it on a page.

An entry that a person has rejected or discarded is in no ledger, nor is any other entry that plans the same.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from eventlog.format.events import EntryApplied, EntryResolved, Event, KnowledgeEdited, PlanEntry, SectionKey
from eventlog.format.marks import says_the_same
from eventlog.format.retractions import Retractions
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.bases import sections
from eventlog.projections.bases.base_file import BaseFile, Bases
from eventlog.projections.bases.plan_file import Change, change_of
from eventlog.projections.bases.section_edits import refused_content, refused_heading
from eventlog.projections.bases.section_history import SectionHistory, Spelling, Wording
from eventlog.projections.bases.sections import SectionId, Under
from eventlog.projections.current.conversations import Knowledge

REVIEW = "the file is set to review every change"
REJECTED = "says what you have forgotten"
DUPLICATE = "its batch plans the same section of this file twice"

_BULLET = re.compile(r"^\s*([-*+]|\d{1,9}[.)])?\s*(\[[ xX]\]\s+)?")  # of a list item
Observation = EntryApplied | KnowledgeEdited  # an event that reports the text of a section
_Decisions = dict[str, EntryResolved]  # entry -> the decision in force
_Files = Mapping[str, BaseFile | None]  # by entry and by edit
_ALWAYS = ""  # before every time


class HeldEntry(NamedTuple):
    """An entry that waits for a person."""

    entry: PlanEntry
    reason: str


class _FileHistory(Struct):
    """The events of one file, each list in the order of the log, without withdrawn events.

    `by_id` and `applied` include the withdrawn: a withdrawal does not change what is on disk.
    """

    entries: list[PlanEntry] = field(default_factory=list)
    edits: list[KnowledgeEdited] = field(default_factory=list)
    applied: list[EntryApplied] = field(default_factory=list)
    resolved: dict[str, list[EntryResolved]] = field(default_factory=dict)  # decisions in force, by entry
    undone: dict[str, str] = field(default_factory=dict)  # when the acceptance of an entry was withdrawn
    by_id: dict[str, PlanEntry | KnowledgeEdited] = field(default_factory=dict)
    elsewhere: list[Observation] = field(default_factory=list)  # of this file on other machines
    orphans: list[EntryApplied] = field(default_factory=list)  # whose entries the log has lost; the texts are on disk
    newest: str = ""
    rejects: Callable[[str], bool] = lambda _text: False  # recognises what a person has rejected

    def add(self, event: PlanEntry | KnowledgeEdited, decided_at: str, *, is_hidden: bool) -> None:
        """Add an entry or a person's text; `decided_at`: when it was last withdrawn or restored."""
        self.newest = max(self.newest, event.ts, decided_at)
        self.by_id[event.id] = event
        if isinstance(event, KnowledgeEdited):
            self.edits += [] if is_hidden else [event]
        else:
            self.entries += [] if is_hidden else [event]

    def follow(self, event: EntryApplied | EntryResolved, decided_at: str, *, is_hidden: bool) -> None:
        """Add what became of an entry: it was applied, or a person decided about it."""
        self.newest = max(self.newest, event.ts, decided_at)
        if isinstance(event, EntryApplied):
            self.applied.append(event)  # the text is on disk, also if its conversation is withdrawn
        elif not is_hidden:
            self.resolved.setdefault(event.target, []).append(event)
        elif event.choice != "discard":
            self.undone[event.target] = max(self.undone.get(event.target, ""), decided_at)


class Ledger:
    """The sections of one file according to the log; `held` and `pending` entries are open."""

    def __init__(self, record: _FileHistory, replica: str | None = None, *, review: bool) -> None:
        self.record = record
        self._replica = replica
        self.newest = record.newest
        self.decisions = {target: decisions[-1] for target, decisions in record.resolved.items()}
        under = {target: decision.under for target, decision in self.decisions.items() if decision.under is not None}
        entries = [  # with the headings above its section that a person has named
            replace(entry, key=replace(entry.key, under=under[entry.id])) if entry.id in under else entry
            for entry in record.entries
        ]
        self.entries = {entry.id: entry for entry in entries}

        discarded = {target for target, decision in self.decisions.items() if decision.choice == "discard"}
        standing = self.entries.keys() - discarded
        counts = standing | {edit.id for edit in record.edits}
        by_key: dict[SectionId, list[Wording]] = {}
        for key, wording in _wordings(record, self.decisions):
            by_key.setdefault(key, []).append(wording)
        self.histories = {key: SectionHistory(wordings, counts) for key, wordings in by_key.items()}
        self.applied = {wording.event for wordings in by_key.values() for wording in wordings} & counts
        self.managed = {key_of(applied) for applied in record.applied}
        self.headings = {key_of(event): _spelling(event) for event in reversed(self.observations)}

        remaining = standing - self.applied
        open_entries = [entry for entry in entries if entry.id in remaining and change_of(entry)[0] != "no-op"]
        held = dict(_held(record, self.decisions, review=review))
        self.held = [HeldEntry(entry, held[entry.id]) for entry in open_entries if entry.id in held]
        self.pending = sorted((entry for entry in open_entries if entry.id not in held), key=self.moment)

    def observed_digests(self, path: str) -> dict[SectionId, str]:
        """Return the digest that each section of the file at the path had when the log last heard of it."""
        found: dict[SectionId, str] = {}
        for event in self.observations:
            key = key_of(event)
            if isinstance(event, EntryApplied):
                if event.path == path:
                    found[key] = event.digest
            elif key in found:
                found[key] = digest_of(event)
        return found

    def expected_digests(self, path: str) -> dict[SectionId, str]:
        """Return the digest of each section: as last observed, else as computed; "" for an absent section."""
        observed = self.observed_digests(path)
        others = {key: history.now for key, history in self.histories.items() if key not in observed}
        return observed | {key: sections.digest(now.body if now else None) for key, now in others.items()}

    @property
    def last_observed_at(self) -> str:
        """Return the time of the last observation, or of the last withdrawn acceptance; "" without any."""
        return max((*map(counts_at, self.observations), *self.record.undone.values()), default="")

    @property
    def recorded_before_entries(self) -> set[str]:
        """Name the texts that were recorded because an entry was about to change them: no person edited anything."""
        first: dict[SectionId, Observation] = {}
        for event in self.observations:
            first.setdefault(key_of(event), event)
        texts = [event for event in self.record.by_id.values() if isinstance(event, KnowledgeEdited)]
        return {event.id for event in texts if event.below or first[key_of(event)] is event}

    def moment(self, entry: PlanEntry) -> tuple[str, str]:
        """Return the place of an entry in the order: its declaration, or the person's decision about it."""
        return order(self.decisions.get(entry.id, entry))

    def change(self, entry: PlanEntry) -> Change:
        """Return the change of an entry, with the text that a person has decided."""
        return _decided_change(entry, self.decisions.get(entry.id))

    def is_decided(self, entry: PlanEntry) -> bool:
        """Return whether a person has accepted the entry for the file of this store."""
        return entry.id in self.decisions and is_from(self.decisions[entry.id], self._replica)

    def has_events_of(self, key: SectionId) -> bool:
        """Return whether the log has any event of this section of the file."""
        return key in self.managed or key in self.histories

    def is_present(self, key: SectionId) -> bool:
        """Return whether the section should have a body, by its wording in force."""
        now = self.histories[key].now if key in self.histories else None
        return now is not None and now.body is not None

    def is_news(self, key: SectionId, entry_id: str) -> bool:
        """Return whether an entry is newer than every entry that was ever applied to the section of this file."""
        entry = self.record.by_id.get(entry_id)
        applied = (self.record.by_id[event.target] for event in self.record.applied if key_of(event) == key)
        moments = [self.moment(other) for other in applied if isinstance(other, PlanEntry)]
        return isinstance(entry, PlanEntry) and self.moment(entry) > max(moments, default=("", ""))

    @cached_property
    def observations(self) -> list[Observation]:
        """Sort the events that report a text of the file, withdrawn or not, oldest first."""
        texts = (event for event in self.record.by_id.values() if isinstance(event, KnowledgeEdited))
        return sorted([*self.record.applied, *self.record.orphans, *texts], key=order)


def is_from(event: Event, replica: str | None) -> bool:
    """Return whether an event is about a file of that store; without a replica, it is about every store's."""
    return replica is None or event.replica in (None, replica)


def key_of(event: Observation) -> SectionId:
    """Return the section that an event is about."""
    return SectionId.of(*_spelling(event))


def _spelling(event: Observation) -> Spelling:
    at: SectionKey | EntryApplied = event.key if isinstance(event, KnowledgeEdited) else event
    return Spelling(at.heading, at.level, at.under)


def digest_of(event: Observation) -> str:
    """Return the digest of the text that an event reports, "" for a removed section."""
    return event.digest if isinstance(event, EntryApplied) else sections.digest(_body_of_edit(event))


def rejected_line(entry: PlanEntry, rejects: Callable[[str], bool]) -> str:
    """Return the first line of an entry that a person has rejected; "" where none is."""
    lines = (_BULLET.sub("", line) for line in (change_of(entry)[1] or "").split("\n"))
    return next(filter(rejects, lines), "")


def _body_of_edit(edit: KnowledgeEdited) -> str | None:
    return None if edit.operation == "delete" else sections.canonical(edit.content or "")


def _decided_change(entry: PlanEntry, decision: EntryResolved | None) -> Change:
    operation, content = change_of(entry)
    if decision and decision.choice == "edited":
        content = sections.canonical(decision.content or "")
        return ("update" if content else "clear"), content
    return operation, sections.canonical(content)


def _wordings(record: _FileHistory, decisions: _Decisions) -> Iterator[tuple[SectionId, Wording]]:
    """Yield every wording of every section, withdrawn or not, each from the moment it was first applied."""
    seen: set[tuple[str, SectionId, str | None]] = set()
    for applied in record.applied:
        event, key, at = record.by_id[applied.target], key_of(applied), counts_at(applied)
        first = (applied.target, key, applied.replica)
        # an acceptance that was withdrawn applies again only if the entry reached the file again after that
        if first in seen or at <= record.undone.get(applied.target, ""):
            continue
        seen.add(first)
        if isinstance(event, KnowledgeEdited):
            continue
        operation, content = _decided_change(event, decisions.get(event.id))
        meant = None if operation == "delete" else content
        body = meant if applied.content is None or meant is None else sections.canonical(applied.content)
        yield key, Wording(at, applied.id, event.id, applied.heading, body, meant, person=False)
    for edit in record.by_id.values():
        if isinstance(edit, KnowledgeEdited):
            body, below, at = _body_of_edit(edit), edit.below or "", counts_at(edit)
            yield key_of(edit), Wording(at, edit.id, edit.id, edit.key.heading, body, None, person=True, below=below)


def _held(record: _FileHistory, decisions: _Decisions, *, review: bool) -> Iterator[tuple[str, str]]:
    """Yield the entries that wait on every page, each with the reason."""
    entries = [entry for entry in record.entries if change_of(entry)[0] != "no-op"]
    planned = Counter(
        (entry.batch, (SectionId.of(entry.key.heading, entry.key.level), entry.key.under))
        for entry in entries
        if entry.batch
    )
    doubled = {batch for (batch, _), count in planned.items() if count > 1}
    for entry in entries:
        if entry.id in decisions:
            continue
        if entry.batch in doubled:
            yield entry.id, DUPLICATE
        elif refused := refused_heading(entry.key.heading, entry.key.level) or refused_content(change_of(entry)[1]):
            yield entry.id, refused
        elif line := rejected_line(entry, record.rejects):
            yield entry.id, f"{REJECTED}: {line}"
        elif review:
            yield entry.id, REVIEW


def ledgers(state: Knowledge, bases: Bases, replica: str | None = None) -> dict[BaseFile, Ledger]:
    """Build the ledger of every file; the entries of no knowledge base are in none.

    With a `replica`, builds those of that store's machine. Events of another machine's file count only if they came
    with a copied text; the rest is `elsewhere`. Entries for files inside projects of another machine are left out
    likewise. Events without a replica count everywhere.
    """
    withdrawn = Retractions(state.retractions if state.tells_of_files else ())
    records: dict[BaseFile, _FileHistory] = {}
    record_of: dict[str, _FileHistory] = {}
    declared: list[PlanEntry | KnowledgeEdited] = [*state.entries, *state.edits]
    files = {event.id: BaseFile.of(event.key, event.project, bases) for event in declared}
    observed: list[Observation] = [*state.applied, *state.edits]
    copied = _copied(observed, files, bases, replica)
    refusals = Refusals(state.entries, state.resolved, withdrawn, bases, state.applied)

    def counts(event: Event) -> bool:
        return is_from(event, replica) or event.id in copied

    for event in sorted(declared, key=order):
        file = files[event.id]
        # an entry for a person's own files is for theirs on every machine; all else is about a file of one machine
        is_local = file is not None and (isinstance(event, KnowledgeEdited) or bool(file.project))
        if file is not None and (counts(event) or not is_local):
            record = record_of[event.id] = records.setdefault(file, _FileHistory(rejects=withdrawn.rejects))
            is_hidden = withdrawn.hides(event) or (isinstance(event, PlanEntry) and bool(refusals.of(event)))
            record.add(event, withdrawn.touched_at(event), is_hidden=is_hidden)
    followed: list[EntryApplied | EntryResolved] = [*state.applied, *state.resolved]
    for later in sorted(followed, key=order):
        if later.target in record_of and (isinstance(later, EntryResolved) or counts(later)):
            record_of[later.target].follow(later, withdrawn.touched_at(later), is_hidden=withdrawn.hides(later))
        elif isinstance(later, EntryApplied) and later.target not in files and counts(later):
            file = _file_of(later, files, bases)
            if file in records:
                records[file].orphans.append(later)
    for text in sorted((text for text in observed if not counts(text)), key=order):
        file = _file_of(text, files, bases)
        if file is not None and file in records:
            records[file].elsewhere.append(text)
    return {file: Ledger(record, replica, review=bases[file.base].review) for file, record in sorted(records.items())}


def _copied(observed: list[Observation], files: _Files, bases: Bases, replica: str | None) -> set[str]:
    """Collect the events of other machines whose texts came here with a copy of a file.

    Those are the events named as `found`, all before them of the same section, file and machine, the events that were
    found on those machines in turn, and the entries behind all of these.
    """
    applications = (event for event in observed if isinstance(event, EntryApplied))
    found = [event.found for event in applications if event.found and is_from(event, replica)]
    if not found:
        return set()
    events = {event.id: event for event in observed}
    same: dict[tuple[str | None, BaseFile | None, SectionId], list[Observation]] = defaultdict(list)
    for event in events.values():
        same[event.replica, _file_of(event, files, bases), key_of(event)].append(event)
    seen: set[str] = set()
    copied: set[str] = set()
    while found:
        last = events.get(found.pop())
        if last is None or last.id in seen:
            continue
        seen.add(last.id)
        section = same[last.replica, _file_of(last, files, bases), key_of(last)]
        before = [event for event in section if order(event) <= order(last)]
        applied = [event for event in before if isinstance(event, EntryApplied)]
        copied |= {event.id for event in before} | {event.target for event in applied}
        found += [event.found for event in applied if event.found]
    return copied


def _file_of(event: Observation, files: _Files, bases: Bases) -> BaseFile | None:
    """Return the file of an observation, by its path where the log has lost the entry."""
    if isinstance(event, EntryApplied) and event.target not in files:
        return BaseFile.of(SectionKey(heading=event.heading, path=event.path), event.project, bases)
    return files[event.target if isinstance(event, EntryApplied) else event.id]


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
        place = BaseFile.of(key, entry.project, self._bases) or key.path or key.url
        operation, content = change_of(entry)
        return _Target(place, SectionId.of(key.heading, key.level), key.under, operation), content
