"""From the events of one knowledge base to what each section says, what is pending, and what is held; pure.

Order    what happened decides: entries that reached the file, and texts people had there or put there, each at its
         moment (an entry at its first arrival).
Hold     an entry waits, whatever the page says, because its base wants every entry reviewed, because its batch names
         a section of this file twice, or because it could be read back from no file as it was meant.
Result   the last wording that is not taken back says what the section is. Everything else that was declared and is
         not held is pending; `carry` tries it on a page, the file's or the log's own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from eventlog.format.events import (
    EntryApplied,
    EntryResolved,
    Event,
    KnowledgeEdited,
    PlanEntry,
    SectionKey,
    counts_at,
    order,
)
from eventlog.projections.bases import sections
from eventlog.projections.bases.plan_file import Change, change_of
from eventlog.projections.bases.section_edits import refused_content, refused_heading
from eventlog.projections.bases.section_history import SectionHistory, Spelling, Wording
from eventlog.projections.bases.sections import SectionId, Under

REVIEW = "the file is set to review every change"
REJECTED = "says what you have forgotten"
DUPLICATE = "its batch plans the same section of this file twice"

_MARK = re.compile(r"^\s*([-*+]|\d{1,9}[.)])?\s*(\[[ xX]\]\s+)?")  # of a list's item
Told = EntryApplied | KnowledgeEdited  # what tells of the text of a section
_Decisions = dict[str, EntryResolved]  # entry -> the decision in force


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
    elsewhere: list[Told] = field(default_factory=list)  # of this file on other machines
    newest: str = ""
    rejects: Callable[[str], bool] = lambda _text: False  # what a person does not want said


class Ledger:
    """The sections of one file as the log has them; `held` and `pending` entries are open."""

    def __init__(self, record: FileHistory, replica: str | None = None, *, review: bool) -> None:
        self.record = record
        self._replica = replica
        self.newest = record.newest
        self.decisions = {target: made[-1] for target, made in record.resolved.items()}
        meant = [_as_decided(entry, self.decisions.get(entry.id)) for entry in record.entries]
        self.entries = {entry.id: entry for entry in meant}
        self._digests: dict[str, dict[SectionId, str]] = {}  # by path

        counts = _counting(record, self.decisions)
        in_order = list(_in_order(record, self.decisions))
        self.histories = {key: SectionHistory(wordings, counts) for key, wordings in _by_key(in_order).items()}
        self.arrived = {wording.event for _, wording in in_order if wording.event in counts}
        self.managed = {key_of(arrival) for arrival in record.applied}
        self.spelled = {key_of(event): _spelling(event) for event in reversed(self.observations)}

        waiting = [entry for entry in meant if self._is_open(entry)]
        held = dict(_held(record, self.decisions, review=review))
        self.held = [HeldEntry(entry, held[entry.id]) for entry in waiting if entry.id in held]
        self.pending = sorted((entry for entry in waiting if entry.id not in held), key=self.moment)

    def last_known_digests(self, path: str) -> dict[SectionId, str]:
        """Return the digest each section of the file at that path was last known to have."""
        if path not in self._digests:
            self._digests[path] = self._read_digests(path)
        return self._digests[path]

    def stood(self, path: str) -> dict[SectionId, str]:
        """Return the digest each section of the file at that path is known or thought to have, "" where it is gone."""
        observed = self.last_known_digests(path)
        others = {key: history.now for key, history in self.histories.items() if key not in observed}
        return observed | {key: sections.digest(now.body if now else None) for key, now in others.items()}

    @property
    def last_told(self) -> str:
        """Return when the log was last told of a text here, or that an acceptance was taken back; "" if never."""
        return max((*map(counts_at, self.observations), *self.record.undone.values()), default="")

    def last_arrived(self, key: SectionId) -> str:
        """Return the event that last reached the section; raises StopIteration where none did."""
        return next(arrival.target for arrival in reversed(self.record.applied) if key_of(arrival) == key)

    @property
    def told_before_entries(self) -> set[str]:
        """Name the texts that were told because an entry was about to change them: nobody edited anything."""
        first: dict[SectionId, EntryApplied | KnowledgeEdited] = {}
        for event in self.observations:
            first.setdefault(key_of(event), event)
        texts = [event for event in self.record.known.values() if isinstance(event, KnowledgeEdited)]
        return {event.id for event in texts if event.below or first[key_of(event)] is event}

    def moment(self, entry: PlanEntry) -> tuple[str, str]:
        """Return when an entry was declared, or a person decided about it, as its place in the order."""
        at = self.decisions.get(entry.id, entry)
        return order(at)

    def change(self, entry: PlanEntry) -> Change:
        """Return the change an entry makes, as a person has decided it."""
        return decided_change(entry, self.decisions.get(entry.id))

    def is_decided(self, entry: PlanEntry) -> bool:
        """Tell whether a person has accepted it, looking at this file."""
        return entry.id in self.decisions and is_of(self.decisions[entry.id], self._replica)

    def knows(self, key: SectionId) -> bool:
        """Tell whether the log tells anything of this section of the file here."""
        return key in self.managed or key in self.histories

    def is_present(self, key: SectionId) -> bool:
        """Tell whether the section should have a body, by its wording in force."""
        now = self.histories[key].now if key in self.histories else None
        return now is not None and now.body is not None

    def is_news(self, key: SectionId, entry_id: str) -> bool:
        """Tell whether this is an entry, and neither it nor a later one has ever reached the section here."""
        entry = self.record.known.get(entry_id)
        reached = (self.record.known[told.target] for told in self.record.applied if key_of(told) == key)
        moments = [self.moment(other) for other in reached if isinstance(other, PlanEntry)]
        return isinstance(entry, PlanEntry) and self.moment(entry) > max(moments, default=("", ""))

    def _read_digests(self, path: str) -> dict[SectionId, str]:
        seen: dict[SectionId, str] = {}
        for event in self.observations:
            key = key_of(event)
            if isinstance(event, EntryApplied):
                if event.path == path:
                    seen[key] = event.digest
            elif key in seen:
                seen[key] = sections.digest(body_of_edit(event))
        return seen

    @cached_property
    def observations(self) -> list[Told]:
        """All that tells of what a file said, withdrawn or not, oldest first."""
        texts = (event for event in self.record.known.values() if isinstance(event, KnowledgeEdited))
        return sorted([*self.record.applied, *texts], key=order)

    def _is_open(self, entry: PlanEntry) -> bool:
        is_change = change_of(entry)[0] != "no-op"
        return is_change and entry.id not in self.arrived and not _is_discarded(entry, self.decisions)


def is_of(event: Event, replica: str | None) -> bool:
    """Tell whether what an event says of a file is said of that store's; None: of any."""
    return replica is None or event.replica in (None, replica)


def key_of(event: Told) -> SectionId:
    """Return the section an event of the log is about."""
    at: SectionKey | EntryApplied = event.key if isinstance(event, KnowledgeEdited) else event
    return SectionId.of(at.heading, at.level, at.under)


def digest_of(event: Told) -> str:
    """Return the digest of the text the section had then, "" where it was gone."""
    return event.digest if isinstance(event, EntryApplied) else sections.digest(body_of_edit(event))


def body_of_edit(edit: KnowledgeEdited) -> str | None:
    """Return the canonical text a person gave the section; None where they removed it."""
    return None if edit.operation == "delete" else sections.canonical(edit.content or "")


def decided_change(entry: PlanEntry, decision: EntryResolved | None) -> Change:
    """Return the change of an entry, with the text a person gave it."""
    operation, content = change_of(entry)
    if decision and decision.choice == "edited":
        content = sections.canonical(decision.content or "")
        return ("update" if content else "clear"), content
    return operation, sections.canonical(content)


def _as_decided(entry: PlanEntry, decision: EntryResolved | None) -> PlanEntry:
    """Return an entry about the section a person has said it means."""
    if decision is None or decision.under is None:
        return entry
    return replace(entry, key=replace(entry.key, under=decision.under))


def _counting(record: FileHistory, decisions: _Decisions) -> set[str]:
    """Collect the ids of edits and entries that are neither withdrawn nor discarded."""
    entries = {entry.id for entry in record.entries if not _is_discarded(entry, decisions)}
    return entries | {edit.id for edit in record.edits}


def _is_discarded(entry: PlanEntry, decisions: _Decisions) -> bool:
    decision = decisions.get(entry.id)
    return decision is not None and decision.choice == "discard"


def _in_order(record: FileHistory, decisions: _Decisions) -> Iterator[tuple[SectionId, Wording]]:
    """Yield every text of every section, from the moment it was first there; taken back or not."""
    seen: set[tuple[str, SectionId, str | None]] = set()
    for arrival in record.applied:
        event, key = record.known[arrival.target], key_of(arrival)
        first = (arrival.target, key, arrival.replica)
        if first in seen or counts_at(arrival) <= record.undone.get(arrival.target, ""):
            continue
        seen.add(first)
        if isinstance(event, KnowledgeEdited):
            continue
        operation, content = decided_change(event, decisions.get(event.id))
        meant = None if operation == "delete" else content
        body = meant if arrival.content is None or meant is None else sections.canonical(arrival.content)
        yield key, Wording(counts_at(arrival), arrival.id, event.id, arrival.heading, body, meant, person=False)
    for edit in record.known.values():
        if isinstance(edit, KnowledgeEdited):
            yield key_of(edit), _wording_of_edit(edit)


def _wording_of_edit(edit: KnowledgeEdited) -> Wording:
    body, below = body_of_edit(edit), edit.below or ""
    return Wording(counts_at(edit), edit.id, edit.id, edit.key.heading, body, None, person=True, below=below)


def _by_key(keyed: Iterable[tuple[SectionId, Wording]]) -> dict[SectionId, list[Wording]]:
    found: dict[SectionId, list[Wording]] = {}
    for key, wording in keyed:
        found.setdefault(key, []).append(wording)
    return found


def _spelling(event: Told) -> Spelling:
    at: SectionKey | EntryApplied = event.key if isinstance(event, KnowledgeEdited) else event
    return Spelling(at.heading, at.level, at.under)


def _held(record: FileHistory, decisions: _Decisions, *, review: bool) -> Iterator[tuple[str, str]]:
    """Yield the entries that wait whatever the page says, and why."""
    entries = [entry for entry in record.entries if change_of(entry)[0] != "no-op"]
    planned = Counter((entry.batch, _selector(entry)) for entry in entries if entry.batch)
    doubled = {batch for (batch, _), count in planned.items() if count > 1}
    for entry in entries:
        if entry.id in decisions:
            continue
        if entry.batch in doubled:
            yield entry.id, DUPLICATE
        elif refused := refused_heading(entry.key.heading, entry.key.level) or refused_content(change_of(entry)[1]):
            yield entry.id, refused
        elif said := rejected_line(entry, record.rejects):
            yield entry.id, f"{REJECTED}: {said}"
        elif review:
            yield entry.id, REVIEW


def rejected_line(entry: PlanEntry, rejects: Callable[[str], bool]) -> str:
    """Return the first line of an entry that a person does not want said; "" where there is none."""
    lines = (_MARK.sub("", line) for line in (change_of(entry)[1] or "").split("\n"))
    return next(filter(rejects, lines), "")


def _selector(entry: PlanEntry) -> tuple[SectionId, Under | None]:
    return SectionId.of(entry.key.heading, entry.key.level), entry.key.under
