"""Knowledge bases as the log has them: all that was planned, applied, decided and edited by hand.

`bases/<name>.md` (`bases/<name>/<project>.md` for a base inside projects) is what a file would be if only the log had
ever written it. It is rendered where a replay is told a directory; the real files are people's, and are changed
section by section (`apply`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, assert_never

from msgspec import Struct, field

from eventlog.events import (
    AnyEvent,
    ContextInjected,
    ConversationText,
    EntryApplied,
    EntryResolved,
    Fact,
    HostEvent,
    KnowledgeEdited,
    PlanEntry,
    ProjectJoined,
    ProjectSeen,
    Rejected,
    Restored,
    Retraction,
    SaveRequested,
    SessionEnd,
    SessionStart,
    StageSummary,
    TurnEnd,
    UnknownEvent,
    Withdrawal,
    order,
)
from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.bases.carry import carry
from eventlog.projections.bases.ledger import FileHistory, Ledger, is_of
from eventlog.projections.bases.names import BaseFile, Bases, base_file_of
from eventlog.projections.bases.refusals import Refusals
from eventlog.projections.bases.sections import Page, SectionId
from eventlog.projections.stamp import stamped
from eventlog.retractions import Retractions
from eventlog.settings.schema import Settings

FOLDER = "bases/"


class Knowledge(Struct):
    """The events that change knowledge bases, unfolded; `ledgers` folds them."""

    version: ClassVar[int] = 3

    entries: list[PlanEntry] = field(default_factory=list)
    edits: list[KnowledgeEdited] = field(default_factory=list)
    applied: list[EntryApplied] = field(default_factory=list)
    resolved: list[EntryResolved] = field(default_factory=list)
    retractions: list[Withdrawal] = field(default_factory=list)

    @property
    def tells_of_files(self) -> bool:
        """Tell whether anything was ever planned, applied, decided or edited: withdrawals alone tell of no file."""
        return bool(self.entries or self.edits or self.applied or self.resolved)

    def fold(self, event: AnyEvent) -> None:
        """Take in one event; subagents' are for audits."""
        if event.subagent:
            return
        match event:
            case Fact() | HostEvent() | TurnEnd() | StageSummary() | SessionStart() | SessionEnd():
                pass  # the many; they have no say here
            case (
                SaveRequested()
                | ContextInjected()
                | ConversationText()
                | ProjectSeen()
                | ProjectJoined()
                | UnknownEvent()
            ):
                pass
            case PlanEntry():
                self.entries.append(event)
            case KnowledgeEdited():
                self.edits.append(event)
            case EntryApplied():
                self.applied.append(event)
            case EntryResolved():
                self.resolved.append(event)
            case Retraction() | Rejected() | Restored():
                self.retractions.append(event)
            case _:
                assert_never(event)

    def merge(self, other: "Knowledge") -> None:
        """Take in the state of other events."""
        self.entries += other.entries
        self.edits += other.edits
        self.applied += other.applied
        self.resolved += other.resolved
        self.retractions += other.retractions


def ledgers(state: Knowledge, bases: Bases, replica: str | None = None) -> dict[BaseFile, Ledger]:
    """Make the ledger of every file; entries that mean no knowledge base are `unmatched_entries`.

    With a `replica` it is that of the files of this store's machine: what another's files said is left out, and
    entries for files inside its projects. Events that name no replica count for all.
    """
    withdrawn = Retractions(state.retractions)
    records: dict[BaseFile, FileHistory] = {}
    recorded_in: dict[str, FileHistory] = {}
    said: list[PlanEntry | KnowledgeEdited] = [*state.entries, *state.edits]
    refusals = Refusals(state.entries, state.resolved, withdrawn, bases, state.applied)
    for event in sorted(said, key=order):
        file = base_file_of(event.key, event.project, bases)
        is_of_file = isinstance(event, KnowledgeEdited) or bool(file and file.project)
        if file is None or (is_of_file and not is_of(event, replica)):
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
        if home is None or (isinstance(told, EntryApplied) and not is_of(told, replica)):
            continue
        home.newest = max(home.newest, told.ts, withdrawn.touched_at(told))
        if isinstance(told, EntryApplied):
            home.applied.append(told)  # it happened, whatever became of its conversation
        elif not withdrawn.hides(told):
            home.resolved.setdefault(told.target, []).append(told)
        elif told.choice != "discard":
            home.undone[told.target] = max(home.undone.get(told.target, ""), withdrawn.touched_at(told))
    return {file: Ledger(record, replica, review=bases[file.base].review) for file, record in sorted(records.items())}


def unmatched_entries(state: Knowledge, bases: Bases) -> list[PlanEntry]:
    """List entries that mean no knowledge base there is, and that nobody has discarded."""
    withdrawn = Retractions(state.retractions)
    decided = {decision.target for decision in state.resolved if decision.choice == "discard"}
    lost = (entry for entry in state.entries if base_file_of(entry.key, entry.project, bases) is None)
    return sorted((entry for entry in lost if entry.id not in decided and not withdrawn.hides(entry)), key=order)


def render(state: Knowledge, settings: Settings) -> Iterable[Document]:
    """Render one document for every file that has a section."""
    for file, ledger in ledgers(state, settings.knowledge_bases).items():
        last_word = settings.knowledge_bases[file.base].on_people_text == "replace"
        done = carry(ledger, file, "", None, replace=last_word)
        if done.data:
            sources = {key: history.now.event for key, history in ledger.histories.items() if history.now}
            sources |= {arrival.key: arrival.event for arrival in done.arrivals}
            yield stamped(file.document, list(_lines(Page(done.data), sources)), ledger.newest)


def _lines(page: Page, sources: Mapping[SectionId, str]) -> Iterator[Line]:
    """Yield the page line by line, with sources; a heading that is there for what is below it comes from that."""
    for section in page.sections:
        near = (sources.get(part.key) for part in (section, *page.below(section)))
        events = tuple(event for event in near if event)[:1]
        for line in page.lines[section.start : section.end]:
            yield Line(line.decode().rstrip("\r\n"), events)


KNOWLEDGE = Projection(name="knowledge", state=Knowledge, render=render, owns=(f"{FOLDER}*.md", f"{FOLDER}*/*.md"))
