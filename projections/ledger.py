"""From the events of one knowledge base to what each section says, and why; pure.

Entries and edits are taken in the order of the log; the last to write a section decides what it says. Four things
make an entry wait for a person instead (see `Waiting.reason`):

review       the base wants every entry reviewed.
duplicate    its batch names a section of this file twice: all entries of the batch for this file wait.
unwritable   its heading or content could not be read back from any file as it was meant.
conflict     a person has edited the section since the log first wrote it, and the entry says something else.

An entry that has once been applied does not wait again: what happened, happened. A person's decision makes it a
write of the moment of the decision.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field

from eventlog import sections, writable
from eventlog.events import EntryApplied, EntryResolved, KnowledgeEdited, PlanEntry, Target
from eventlog.exchange import change_of

REVIEW = "the knowledge base wants every entry reviewed"
DUPLICATE = "its batch plans the same section of this file twice"
CONFLICT = "a person has edited the section"
EDITED_BELOW = "a person has edited a section below it"


class Key(NamedTuple):
    """What identifies a section of a file."""

    heading: str
    level: int

    @classmethod
    def of(cls, target: Target) -> "Key":
        """The section a target means, however its heading is marked up."""
        return cls(sections.plain(target.heading), target.level)


class Write(NamedTuple):
    """Something that decides what a section says; `body` None: the section is not to be there."""

    ts: str
    id: str  # of the event that gives it its place in the order
    event: str  # the entry, or the person's edit
    title: str  # the heading as it is written
    level: int
    body: str | None
    person: bool = False
    subsections: bool = False  # a deletion takes them along

    @property
    def decided(self) -> bool:
        """Whether a person has accepted it."""
        return self.id != self.event

    @property
    def key(self) -> Key:
        """The section."""
        return Key(sections.plain(self.title), self.level)


class Waiting(NamedTuple):
    """An entry that waits for a person."""

    entry: PlanEntry
    write: Write
    reason: str


class Record(Struct):
    """The events of one file, each list in the order of the log, without what was withdrawn.

    `known` has the withdrawn ones too: an application tells of what it applied even when that is taken back.
    """

    entries: list[PlanEntry] = field(default_factory=list)
    edits: list[KnowledgeEdited] = field(default_factory=list)
    applied: list[EntryApplied] = field(default_factory=list)
    resolved: dict[str, EntryResolved] = field(default_factory=dict)
    known: dict[str, PlanEntry | KnowledgeEdited] = field(default_factory=dict)
    newest: str = ""


class Ledger:
    """What the log says of one file."""

    def __init__(self, record: Record) -> None:
        self.newest = record.newest
        self.current: dict[Key, Write] = {}  # who decides what each section says
        self.waiting: list[Waiting] = []
        self.writes: list[Write] = []  # all that took part, in order
        self.entries = {entry.id: entry for entry in record.entries}
        self.reached = {one.target for one in record.applied}
        self.applied = {_key_of(one) for one in record.applied}
        self.managed_from: dict[Key, str] = {}  # when the log first wrote the section
        self._record = record
        self._order: list[Key] = []
        for one in record.applied:
            self.managed_from.setdefault(_key_of(one), one.ts)

    @property
    def sections(self) -> list[Write]:
        """The sections there should be, in the order they came to be."""
        return [self.current[key] for key in self._order]

    def observed(self, path: str) -> dict[Key, str]:
        """The digest each section of the file at that path was last known to have."""
        seen: dict[Key, str] = {}
        edits = [one for one in self._record.known.values() if isinstance(one, KnowledgeEdited)]
        told: list[EntryApplied | KnowledgeEdited] = [*self._record.applied, *edits]
        for one in sorted(told, key=lambda one: (one.ts, one.id)):
            if isinstance(one, EntryApplied):
                if one.path == path:
                    seen[_key_of(one)] = one.digest
            elif (key := Key.of(one.key)) in seen:
                seen[key] = sections.digest(_body_of_edit(one))
        return seen

    def last_applied(self, key: Key) -> str:
        """The entry that last reached the section; raises LookupError where none did."""
        return next(one.target for one in reversed(self._record.applied) if _key_of(one) == key)

    def is_edited(self, key: Key) -> bool:
        """Whether the section says what a person made of it after the log had written it."""
        now = self.current.get(key)
        return now is not None and now.person and self.managed_from.get(key, "~") <= now.ts

    def below(self, key: Key) -> list[Key]:
        """The sections below it, as the log has built the file."""
        if key not in self._order:
            return []
        start = self._order.index(key)
        stop = (at for at in range(start + 1, len(self._order)) if self._order[at].level <= key.level)
        return self._order[start + 1 : next(stop, len(self._order))]

    def take(self, write: Write) -> None:
        """The section says this from now on; a deletion takes along what stands below it."""
        key = write.key
        self.writes.append(write)
        if write.body is not None and key not in self._order:
            self._order.append(key)
        if write.body is None and key in self._order:
            for child in self.below(key) if write.subsections else []:
                title = self.current[child].title
                self.current[child] = write._replace(title=title, level=child.level, subsections=False)
                self._order.remove(child)
            self._order.remove(key)
        self.current[key] = write


def settle(record: Record, *, review: bool) -> Ledger:
    """Take in every write in the order of the log."""
    overtaken: dict[str, str] = {}
    while True:
        ledger = Ledger(record)
        found = _take_in(ledger, {**overtaken, **dict(_held(record, ledger.reached, review=review))}, record)
        if not found:
            ledger.waiting = [one for one in ledger.waiting if not _is_superseded(one, ledger)]
            return ledger
        overtaken |= found


def _take_in(ledger: Ledger, held: Mapping[str, str], record: Record) -> dict[str, str]:
    """Let every write have its say, but those that are held.

    An entry that was still pending when a person edited what it is about should have been held: the first such entry
    is returned with the reason, and what the ledger says is of no use.
    """
    for write in sorted(_writes(record), key=lambda one: (one.ts, one.id)):
        entry = ledger.entries.get(write.event)
        before = ledger.current.get(write.key)
        fresh = entry is not None and not write.decided and entry.id not in ledger.reached
        if entry and fresh and (reason := held.get(entry.id) or _conflict(write, ledger)):
            ledger.waiting.append(Waiting(entry, write, reason))
            continue
        if write.person and before and _is_pending(before, ledger) and before.body != write.body:
            own = Key.of(ledger.entries[before.event].key) == write.key
            if not before.decided:
                return {before.event: CONFLICT if own else EDITED_BELOW}
            ledger.waiting += [Waiting(ledger.entries[before.event], before, CONFLICT)] if own else []
        if not write.person:
            ledger.managed_from[write.key] = min(write.ts, ledger.managed_from.get(write.key, "~"))
        ledger.take(write)
    return {}


def _writes(record: Record) -> Iterator[Write]:
    for entry in record.entries:
        operation, content = change_of(entry)
        decision = record.resolved.get(entry.id)
        if operation == "no-op" or (decision and decision.choice == "discard"):
            continue
        body = None if operation == "delete" else sections.canonical(content)
        if decision and decision.choice == "edited":
            body = sections.canonical(decision.content or "")
        at = decision or entry
        title, level = entry.key.heading.strip(), entry.key.level
        write = Write(at.ts, at.id, entry.id, title, level, body, subsections=body is None)
        yield write
        yield from _taken_along(record, write)
    for edit in record.edits:
        title, level = edit.key.heading.strip(), edit.key.level
        yield Write(edit.ts, edit.id, edit.id, title, level, _body_of_edit(edit), person=True)


def _taken_along(record: Record, write: Write) -> Iterator[Write]:
    """Subsections that were found below a deleted section, and went with it."""
    for one in record.applied:
        if one.target == write.event and write.body is None and _key_of(one) != write.key:
            yield write._replace(title=one.heading, level=one.level, subsections=False)


def _held(record: Record, reached: set[str], *, review: bool) -> Iterator[tuple[str, str]]:
    """The entries that wait whatever the section says, and why."""
    planned = Counter((one.batch, Key.of(one.key)) for one in record.entries if one.batch and _acts(one))
    doubled = {batch for (batch, _), count in planned.items() if count > 1}
    for entry in record.entries:
        if entry.id in record.resolved or entry.id in reached or not _acts(entry):
            continue
        if entry.batch in doubled:
            yield entry.id, DUPLICATE
        elif refused := writable.refusal(entry.key.heading, entry.key.level, change_of(entry)[1]):
            yield entry.id, refused
        elif review:
            yield entry.id, REVIEW


def _conflict(write: Write, ledger: Ledger) -> str | None:
    if ledger.is_edited(write.key) and ledger.current[write.key].body != write.body:
        return CONFLICT
    below = ledger.below(write.key) if write.subsections else []
    return EDITED_BELOW if any(map(ledger.is_edited, below)) else None


def _is_pending(write: Write, ledger: Ledger) -> bool:
    return not write.person and write.event not in ledger.reached


def _is_superseded(waiting: Waiting, ledger: Ledger) -> bool:
    """Whether the section says it anyway, or a later entry wants, or has got, something newer."""
    write, entry = waiting.write, waiting.entry
    now = ledger.current.get(write.key)
    if now and now.body == write.body:
        return True
    newer = [one for one in ledger.writes if not one.person and one.event != entry.id and one.key == write.key]
    newer += [one.write for one in ledger.waiting if not _same_batch(one.entry, entry) and one.write.key == write.key]
    return any((one.ts, one.id) > (write.ts, write.id) for one in newer)


def _same_batch(one: PlanEntry, other: PlanEntry) -> bool:
    return one.id == other.id or (one.batch is not None and one.batch == other.batch)


def _acts(entry: PlanEntry) -> bool:
    return change_of(entry)[0] != "no-op"


def _body_of_edit(edit: KnowledgeEdited) -> str | None:
    return None if edit.operation == "delete" else sections.canonical(edit.content or "")


def _key_of(one: EntryApplied) -> Key:
    return Key(sections.plain(one.heading), one.level)
