"""The ledger of every knowledge base: what was planned, applied, decided and edited, file by file; pure."""

from eventlog.events import EntryApplied, EntryResolved, KnowledgeEdited, PlanEntry, order
from eventlog.projections.bases.ledger import FileHistory, Ledger, is_of
from eventlog.projections.bases.names import BaseFile, Bases, base_file_of
from eventlog.projections.bases.refusals import Refusals
from eventlog.projections.state.knowledge_events import Knowledge
from eventlog.retractions import Retractions


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
