"""Knowledge bases as the log has them: all that was planned, applied, decided and edited by hand."""

from typing import ClassVar

from msgspec import Struct, field

from eventlog.format.events import (
    AnyEvent,
    EntryApplied,
    EntryResolved,
    KnowledgeEdited,
    PlanEntry,
    Rejected,
    Restored,
    Retraction,
    Withdrawal,
)
from eventlog.format.retractions import wordless


class Knowledge(Struct):
    """The events that change knowledge bases, unfolded; `bases/ledger.py: ledgers` folds them."""

    version: ClassVar[int] = 4

    entries: list[PlanEntry] = field(default_factory=list)
    edits: list[KnowledgeEdited] = field(default_factory=list)
    applied: list[EntryApplied] = field(default_factory=list)
    resolved: list[EntryResolved] = field(default_factory=list)
    retractions: list[Withdrawal] = field(default_factory=list)

    @property
    def tells_of_files(self) -> bool:
        """The log has planned, applied, resolved or edited entries: withdrawals alone concern no file."""
        return bool(self.entries or self.edits or self.applied or self.resolved)

    def fold(self, event: AnyEvent) -> None:
        """Take in one event; most do not concern knowledge bases, and subagents' are for audits."""
        if event.subagent:
            return
        match event:
            case PlanEntry():
                self.entries.append(event)
            case KnowledgeEdited():
                self.edits.append(event)
            case EntryApplied():
                self.applied.append(event)
            case EntryResolved():
                self.resolved.append(event)
            case Retraction() | Restored():
                self.retractions.append(event)
            case Rejected():
                self.retractions.append(wordless(event))

    def merge(self, other: "Knowledge") -> None:
        """Take in the state of other events."""
        self.entries += other.entries
        self.edits += other.edits
        self.applied += other.applied
        self.resolved += other.resolved
        self.retractions += other.retractions
