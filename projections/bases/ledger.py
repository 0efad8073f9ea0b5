"""From the events of one knowledge base to what each section says, and why; pure.

What happened decides: entries that reached the file, and texts people had there or put there, each at its moment (an
entry at its first arrival). The last of them that is not taken back says what the section is. Everything else that
was declared is pending; `carry` tries it on a page, the file's or the log's own.

An entry is held back, whatever the page says, because its base wants every entry reviewed, because its batch names a
section of this file twice, or because it could be read back from no file as it was meant.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from eventlog.events import EntryApplied, EntryResolved, KnowledgeEdited, PlanEntry, SectionKey, order
from eventlog.projections.bases import section_safety, sections
from eventlog.projections.bases.merging import added, lines_of
from eventlog.projections.bases.plan_file import Change, change_of
from eventlog.projections.bases.sections import SectionId, Under

REVIEW = "the knowledge base wants every entry reviewed"
DUPLICATE = "its batch plans the same section of this file twice"


class Spelling(NamedTuple):
    """A section as events name it: headings as they are written."""

    heading: str
    level: int
    under: Under | None


class Said(NamedTuple):
    """A moment in the life of a section; `body` None: it was not there any more."""

    ts: str
    id: str  # of the event that tells of it
    event: str  # the entry, or the person's text
    title: str  # the heading as it was written
    body: str | None
    meant: str | None  # what the entry wanted, where a person's lines were kept beside it
    person: bool
    below: str = ""  # subsections that were there, as they were written


class HeldEntry(NamedTuple):
    """An entry that waits for a person."""

    entry: PlanEntry
    reason: str


class FileHistory(Struct):
    """The events of one file, each list in the order of the log, without what was withdrawn.

    `known` has the withdrawn ones too: what happened is on disk even when it is taken back.
    """

    entries: list[PlanEntry] = field(default_factory=list)
    edits: list[KnowledgeEdited] = field(default_factory=list)
    applied: list[EntryApplied] = field(default_factory=list)
    resolved: dict[str, list[EntryResolved]] = field(default_factory=dict)  # decisions in force, by entry
    undone: dict[str, str] = field(default_factory=dict)  # when the acceptance of an entry was taken back
    known: dict[str, PlanEntry | KnowledgeEdited] = field(default_factory=dict)
    newest: str = ""


class History:
    """Everything a section has said, oldest first, and what of it still counts."""

    def __init__(self, told: Iterable[Said], counts: Collection[str]) -> None:
        in_order = sorted(told, key=order)
        self.valid = [said for said in in_order if said.event in counts]

    def then(self, said: Said) -> "History":
        """The history with one thing more."""
        longer = History((), ())
        longer.valid = [*self.valid, said]
        return longer

    @property
    def now(self) -> Said | None:
        """What the section is to say; None where nothing that was said of it counts any more."""
        return self.valid[-1] if self.valid else None

    @property
    def behind(self) -> list[Said]:
        """What the section is made of: the last word, and a person's text that was kept in it."""
        now = self.now
        kept = now is not None and not now.person and now.body != now.meant
        return [said for said in self.valid if said is now or (kept and said.person)]

    @property
    def base(self) -> str | None:
        """The text an entry last wanted here; None where none did, or the last removed the section."""
        ours = [said for said in self.valid if not said.person]
        return (ours[-1].meant if ours[-1].meant is not None else ours[-1].body) if ours else None

    def marked(self, body: str | None) -> list[tuple[str, bool]]:
        """The lines of a body that follows on this, each with whether a person wrote it."""
        lines: list[tuple[str, bool]] = []
        for said in self.valid:
            lines = added(lines, lines_of(said.body), mark=said.person)
        return added(lines, lines_of(body), mark=True)

    @property
    def is_persons(self) -> bool:
        """Whether a person made the heading."""
        there = False
        persons = True
        for said in self.valid:
            if said.body is not None and not there:
                persons = said.person
            there = said.body is not None
        return persons or not there


class Ledger:
    """What the log says of one file."""

    def __init__(self, record: FileHistory, *, review: bool) -> None:
        self.record = record
        self._observed: dict[str, dict[SectionId, str]] = {}
        self.newest = record.newest
        self.entries = {entry.id: entry for entry in record.entries}
        self.decisions = {target: made[-1] for target, made in record.resolved.items()}
        counts = {one.id for one in record.edits} | {one.id for one in record.entries if self._counts(one)}
        self._told = list(_told(record, self.decisions))
        self.histories = {key: History(told, counts) for key, told in _by_key(self._told).items()}
        self.arrived = {said.event for _, said in self._told if said.event in counts}
        self.managed = {key_of(arrival) for arrival in record.applied}
        self.spelled = {key_of(event): _spelling(event) for event in reversed(self._events())}
        waiting = [entry for entry in record.entries if self._is_open(entry)]
        held = dict(_held(record.entries, self.decisions, review=review))
        self.held = [HeldEntry(entry, held[entry.id]) for entry in waiting if entry.id in held]
        self.pending = sorted((entry for entry in waiting if entry.id not in held), key=self.moment)

    def last_known_digests(self, path: str) -> dict[SectionId, str]:
        """The digest each section of the file at that path was last known to have."""
        if path in self._observed:
            return self._observed[path]
        seen = self._observed[path] = {}
        for event in self._events():
            key = key_of(event)
            if isinstance(event, EntryApplied):
                if event.path == path:
                    seen[key] = event.digest
            elif key in seen:
                seen[key] = sections.digest(body_of_edit(event))
        return seen

    def last_arrived(self, key: SectionId) -> str:
        """The event that last reached the section; raises StopIteration where none did."""
        return next(arrival.target for arrival in reversed(self.record.applied) if key_of(arrival) == key)

    def moment(self, entry: PlanEntry) -> tuple[str, str]:
        """When an entry was declared, or a person decided about it."""
        at = self.decisions.get(entry.id, entry)
        return at.ts, at.id

    def change(self, entry: PlanEntry) -> Change:
        """What an entry is to do, as a person has made it."""
        return decided_change(entry, self.decisions.get(entry.id))

    def is_decided(self, entry: PlanEntry) -> bool:
        """Whether a person has accepted it."""
        return entry.id in self.decisions

    def _events(self) -> list[EntryApplied | KnowledgeEdited]:
        """All that tells of what a file said, withdrawn or not, oldest first."""
        texts = (event for event in self.record.known.values() if isinstance(event, KnowledgeEdited))
        return sorted([*self.record.applied, *texts], key=order)

    def _counts(self, event: PlanEntry) -> bool:
        decision = self.decisions.get(event.id)
        return decision is None or decision.choice != "discard"

    def _is_open(self, entry: PlanEntry) -> bool:
        decision = self.decisions.get(entry.id)
        discarded = decision is not None and decision.choice == "discard"
        return change_of(entry)[0] != "no-op" and entry.id not in self.arrived and not discarded


def key_of(event: EntryApplied | KnowledgeEdited) -> SectionId:
    """Tell which section an event of the log is about."""
    at: SectionKey | EntryApplied = event.key if isinstance(event, KnowledgeEdited) else event
    return SectionId.of(at.heading, at.level, at.under)


def body_of_edit(edit: KnowledgeEdited) -> str | None:
    """Return the canonical text a person gave the section; None where they removed it."""
    return None if edit.operation == "delete" else sections.canonical(edit.content or "")


def decided_change(entry: PlanEntry, decision: EntryResolved | None) -> Change:
    """Tell what an entry does, with the text a person gave it."""
    operation, content = change_of(entry)
    if decision and decision.choice == "edited":
        content = sections.canonical(decision.content or "")
        return ("update" if content else "clear"), content
    return operation, sections.canonical(content)


def is_same_batch(one: PlanEntry, other: PlanEntry) -> bool:
    """Tell whether two entries were declared together."""
    return one.id == other.id or (one.batch is not None and one.batch == other.batch)


def _told(record: FileHistory, decisions: dict[str, EntryResolved]) -> Iterator[tuple[SectionId, Said]]:
    """Every text of every section, with the moment it was first there."""
    seen: set[tuple[str, SectionId]] = set()
    for arrival in record.applied:
        event, key = record.known[arrival.target], key_of(arrival)
        if (arrival.target, key) in seen or arrival.ts <= record.undone.get(arrival.target, ""):
            continue
        seen.add((arrival.target, key))
        if isinstance(event, KnowledgeEdited):
            continue
        operation, content = decided_change(event, decisions.get(event.id))
        meant = None if operation == "delete" else content
        body = meant if arrival.content is None or meant is None else sections.canonical(arrival.content)
        yield key, Said(arrival.ts, arrival.id, event.id, arrival.heading, body, meant, person=False)
    for edit in record.known.values():
        if isinstance(edit, KnowledgeEdited):
            body, below = body_of_edit(edit), edit.below or ""
            yield key_of(edit), Said(edit.ts, edit.id, edit.id, edit.key.heading, body, None, person=True, below=below)


def _spelling(event: EntryApplied | KnowledgeEdited) -> Spelling:
    at: SectionKey | EntryApplied = event.key if isinstance(event, KnowledgeEdited) else event
    return Spelling(at.heading, at.level, at.under)


def _by_key(told: Iterable[tuple[SectionId, Said]]) -> dict[SectionId, list[Said]]:
    found: dict[SectionId, list[Said]] = {}
    for key, said in told:
        found.setdefault(key, []).append(said)
    return found


def _held(
    entries: Iterable[PlanEntry], decisions: dict[str, EntryResolved], *, review: bool
) -> Iterator[tuple[str, str]]:
    """The entries that wait whatever the page says, and why."""
    entries = [entry for entry in entries if change_of(entry)[0] != "no-op"]
    planned = Counter((entry.batch, _selector(entry)) for entry in entries if entry.batch)
    doubled = {batch for (batch, _), count in planned.items() if count > 1}
    for entry in entries:
        if entry.id in decisions:
            continue
        if entry.batch in doubled:
            yield entry.id, DUPLICATE
        elif refused := section_safety.refusal(entry.key.heading, entry.key.level, change_of(entry)[1]):
            yield entry.id, refused
        elif review:
            yield entry.id, REVIEW


def _selector(entry: PlanEntry) -> tuple[SectionId, Under | None]:
    return SectionId.of(entry.key.heading, entry.key.level), entry.key.under
