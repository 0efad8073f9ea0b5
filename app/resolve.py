"""A person decides about a staged entry: the decision is an event, and the file follows it."""

from typing import Literal, NamedTuple

from eventlog.app.apply import UNMATCHED, ApplyResult, apply, read_knowledge
from eventlog.app.staging import StagedEntry, as_edited, keep, path_of, unstage
from eventlog.errors import BadRequest
from eventlog.events import EntryResolved
from eventlog.log import EventLog
from eventlog.projections.bases import section_safety
from eventlog.projections.bases.drift import HUMAN
from eventlog.projections.bases.plan_file import change_of
from eventlog.settings.schema import Settings

Choice = Literal["apply", "discard", "edited"]


class ResolveResult(NamedTuple):
    """The decision as it stands in the log, and what it led to."""

    event: EntryResolved
    applied: ApplyResult


def waiting(log: EventLog, settings: Settings, name: str = "") -> list[StagedEntry]:
    """What waits for a person, oldest first; `name`: the beginning of an id, or the name of a staged file."""
    found = sorted(apply(log, settings, dry_run=True).staged, key=lambda one: (one.entry.ts, one.entry.id))
    return [one for one in found if one.entry.id.startswith(name) or one.name == name.rpartition("/")[2]]


def decide(
    log: EventLog, settings: Settings, staged: StagedEntry, choice: Choice, content: str | None = None
) -> ResolveResult:
    """Store the decision and carry it out; raises BadRequest or NotStored.

    `apply` takes the text of the staged file: where a person has edited that, the decision is `edited`. A `content`
    that cannot be applied is kept in the staged file.
    """
    path, typed = path_of(log.store, staged), content
    if choice == "apply":
        edited = as_edited(path, staged.entry)
        if change_of(edited) != change_of(staged.entry):
            choice, content = "edited", edited.content
    if choice != "discard" and (refusal := _refusal(staged, content)):
        if typed is not None:
            keep(log.store, staged, typed)
        raise refusal
    event = EntryResolved(
        conversation_id=HUMAN,
        agent=HUMAN,
        project=staged.entry.project,
        target=staged.entry.id,
        choice=choice,
        content=content if choice == "edited" else None,
    )
    apply(log, settings)  # what the person decided against must be in the log before the decision is
    stored = log.append(event)
    assert isinstance(stored, EntryResolved)
    unstage(path)
    return ResolveResult(stored, apply(log, settings, state=read_knowledge(log, settings)))


def _refusal(staged: StagedEntry, content: str | None) -> BadRequest | None:
    if UNMATCHED in staged.reason:
        return BadRequest(staged.reason, hint="discard it, or name the file in `knowledge_bases` first")
    key = staged.entry.key
    refused = section_safety.refusal(key.heading, key.level, staged.entry.content if content is None else content)
    return BadRequest(refused, hint=f"correct it in {staged.name} or with --edit, or discard it") if refused else None
