"""Correct what holds: replace its wording, or move it to another project.

A correction withdraws every event behind a statement and states it anew, as a person does who changes the line in
MEMORY.md. The log keeps what was replaced, `why` shows it behind the new line, and `undo` takes all of it back.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from eventlog.app.ask.why import names_line, reasons_behind
from eventlog.app.build.rebuild import DeedResult, carry_out, record_deed
from eventlog.app.build.replay import replay
from eventlog.app.naming.names import SEARCH, did_you_mean
from eventlog.app.naming.references import event_named
from eventlog.app.open_store import OpenStore
from eventlog.app.write.hand_edits import restore_retyped
from eventlog.app.write.rejections import Rejections
from eventlog.format.codec import from_fields, to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Event, Fact, Retraction, persons_conversation
from eventlog.format.text import cut, one_line, project_name, statement_of
from eventlog.format.timestamps import order
from eventlog.log.event_log import AppendResult
from eventlog.log.lines import LogLine
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.fact_scopes import FactScope
from eventlog.projections.current.identity import Identities
from eventlog.projections.current.standing import by_event, held_back
from eventlog.projections.edits.memory_edits import in_place_of, withdrawals
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.memory import MEMORY, section_of
from eventlog.store.replica import make_replica, replica_of

_LISTED, _LISTED_CHARS = 8, 100


class Correctable(NamedTuple):
    """A statement that holds in a memory: its text, the events behind it, and a fact that repeats it there.

    `withdrawn` has what takes it away: a withdrawal of each event, and what is left of a summary.
    """

    text: str
    behind: list[LogLine]
    fact: Fact
    withdrawn: list[Event]
    subject: str
    projects: Identities

    def confirm(self, opened: OpenStore) -> DeedResult:
        """Repeat the statement today, as the person, and rebuild; raises NotStored."""
        return carry_out(opened, [_by_person(opened, self.fact)])


def correctable(opened: OpenStore, reference: str, subject: str | None = None) -> Correctable:
    """Find the statement that an id, a line (`FILE:LINE`) or a text means, in any memory or a subject's.

    Raises BadRequest.
    """
    replayed, found = _candidates(opened, reference, subject)
    return _correctable(opened, replayed, *_the_only(reference, found))


def movable(opened: OpenStore, reference: str, project: str | None) -> Correctable:
    """Find the statement that is meant, in another memory than that of a project, or of the user (None), if it can be.

    A move that was killed has left it in both. Raises BadRequest.
    """
    replayed, found = _candidates(opened, reference)
    target = replayed.identities.of(project, replica_of(opened.store) or None)
    elsewhere = [one for one in found if one[0] != target]
    one = _correctable(opened, replayed, *_the_only(reference, elsewhere or found))
    _check_moves(opened, one, project)
    return one


def _check_moves(opened: OpenStore, found: Correctable, project: str | None) -> None:
    if found.projects.of(project, replica_of(opened.store) or None) == found.subject:
        raise BadRequest("it is there already", where=project_name(project) if project else "user")


def _candidates(opened: OpenStore, reference: str, subject: str | None = None) -> tuple[ReplayResult, list["_Found"]]:
    replayed = replay(opened.log, opened.settings, projections=[MEMORY])
    names = [name for name in replayed.index.names(MEMORY.name) if subject in (None, name)]
    scopes = [(name, replayed.fact_scope(name)) for name in names]
    return replayed, _meant(opened, reference, scopes)


def _correctable(
    opened: OpenStore, replayed: ReplayResult, name: str, scope: FactScope, group: DistinctFact
) -> Correctable:
    stated = [*group.statements, *held_back(scope.stated, group.first.same)]
    found = opened.log.find({statement.id for statement in stated})
    state = replayed.conversations
    place = replayed.identities.place(name, replica_of(opened.store))
    return Correctable(
        text=group.first.text,
        behind=sorted(found.values(), key=lambda entry: order(entry.event)),
        fact=_once_more(group, *place),
        withdrawn=list(withdrawals(by_event(stated), state, "")),
        subject=name,
        projects=replayed.identities,
    )


def edit(opened: OpenStore, found: Correctable, content: str, speaker: Mapping[str, Any] | None = None) -> DeedResult:
    """Replace the wording of a statement below the same heading, and rebuild; raises BadRequest or NotStored.

    Without a speaker, here and in `move`, the person speaks.
    """
    return _carry_out(opened, found, replace(found.fact, content=_other_words(found, content)), "replaced", speaker)


def move(
    opened: OpenStore, found: Correctable, project: str | None, speaker: Mapping[str, Any] | None = None
) -> DeedResult:
    """Move a statement to the project of a path, or to the user (None), and rebuild; raises BadRequest or NotStored."""
    _check_moves(opened, found, project)
    scope = "project" if project else "user"
    return _carry_out(opened, found, replace(found.fact, project=project, replica=None, scope=scope), "moved", speaker)


def put_in_place(
    opened: OpenStore, found: Correctable, fields: Mapping[str, Any], speaker: Mapping[str, Any]
) -> AppendResult:
    """Record a fact in the place of a statement, by any speaker; `fields` are those that differ from it.

    What a person has rejected is not recorded: that decision is returned. Raises BadRequest, InvalidEvent or NotStored.
    """
    content = _other_words(found, fields["content"])
    event = from_fields({**to_fields(found.fact), **fields, "content": content, **_named(speaker)})
    assert isinstance(event, Fact)
    if event.agent != HUMAN and (rejection := Rejections(opened.log).of(event)):
        return AppendResult(rejection, new=False)
    stored = record_deed(opened.log, _deed(opened, found, event, "replaced"))
    return next(entry for entry in stored if isinstance(entry.event, Fact))


def _carry_out(
    opened: OpenStore, found: Correctable, fact: Fact, reason: str, speaker: Mapping[str, Any] | None
) -> DeedResult:
    event = replace(fact, **_named(speaker)) if speaker else _by_person(opened, fact)
    if event.agent != HUMAN and Rejections(opened.log).of(event):
        raise BadRequest("a person has asked to forget this", where=cut(event.content, _LISTED_CHARS))
    return carry_out(opened, _deed(opened, found, event, reason))


def _by_person(opened: OpenStore, fact: Fact) -> Fact:
    conversation_id = persons_conversation(opened.machine.now(), make_replica(opened.store), fact.project)
    return replace(fact, conversation_id=conversation_id)


def _named(speaker: Mapping[str, Any]) -> dict[str, Any]:
    return {name: speaker[name] for name in ("conversation_id", "agent", "speaker", "layer")}


def _deed(opened: OpenStore, found: Correctable, fact: Fact, reason: str) -> list[Event]:
    """Make the events of a correction: withdrawals come last, so that a write that was cut off takes nothing away.

    What is left of summaries comes first: they say again, before the fact, what it takes the place of.
    """
    by = {"conversation_id": fact.conversation_id, "agent": fact.agent, "speaker": fact.speaker, "reason": reason}
    remaining = [event for event in found.withdrawn if not isinstance(event, Retraction)]  # of a summary, its agent's
    withdrawn = [replace(event, **by) for event in found.withdrawn if isinstance(event, Retraction)]
    stated = in_place_of(fact, found.text, [entry.event for entry in found.behind])
    return [*remaining, stated, *restore_retyped(opened.log, [fact]), *withdrawn]


def _other_words(found: Correctable, content: str) -> str:
    if not content.strip():
        raise BadRequest("an empty text states nothing", hint="eventlog forget takes a statement away")
    if one_line(content) == found.text:
        raise BadRequest("it says that already; nothing was changed", where=cut(found.text, _LISTED_CHARS))
    return content.strip()


def _once_more(group: DistinctFact, replica: str | None, path: str | None) -> Fact:
    """Make a fact of the person that stands where the statement does."""
    shown = min(group.statements, key=section_of)  # whose heading the line stands below
    keys = [statement.key for statement in group.statements if statement.key]
    return Fact(
        conversation_id=HUMAN,
        agent=HUMAN,
        content=group.first.text,
        memory_type=shown.memory_type,  # type: ignore[arg-type]  # of the three literals
        entities=list(dict.fromkeys(entity for statement in group.statements for entity in statement.entities)),
        confidence=group.confidence,
        importance=group.importance,
        category=shown.category or None,
        key=keys[-1] if keys else None,
        scope="project" if path else "user",
        project=path,
        replica=replica,
    )


_Found = tuple[str, FactScope, DistinctFact]


def _meant(opened: OpenStore, reference: str, scopes: Iterable[tuple[str, FactScope]]) -> list[_Found]:
    groups = [(name, scope, group) for name, scope in scopes for group in scope.facts]
    if event := event_named(opened.log, reference, opened.machine.project):
        found = [group for group in groups if event in group[2].sources]
        if not found:
            hint = "eventlog show ID shows the event"
            raise BadRequest("it states nothing that holds now", where=reference, hint=hint)
        return found
    if names_line(opened, reference):
        return _of_line(opened, reference, groups)
    wanted = statement_of(reference)
    same = [group for group in groups if statement_of(group[2].first.text) == wanted]
    found = same or [group for group in groups if wanted and wanted in statement_of(group[2].first.text)]
    if not found:
        near = did_you_mean(reference, [group.first.text for _, _, group in groups], SEARCH)
        raise BadRequest(f"no memory says {reference!r}", hint=near)
    return found


def _of_line(opened: OpenStore, place: str, groups: list[_Found]) -> list[_Found]:
    [line] = reasons_behind(opened, place)
    if line.entries is None or line.is_of_section:
        raise BadRequest("the line is a person's, or a knowledge base's", where=place, hint="change it in the file")
    ids, shown = {event.id for event in line.events}, line.shown_statements()
    found = [group for group in groups if ids & {*group[2].sources} and statement_of(group[2].first.text) in shown]
    if not found:
        hint = "a fact or a decision is a statement of its own; a summary is replaced by the next one"
        raise BadRequest("the line shows no statement that holds now", where=place, hint=hint)
    longest = max((statement_of(group[2].first.text) for group in found), key=len)  # a line that says it says its parts
    parts = all(statement_of(group[2].first.text) in longest for group in found)
    return [group for group in found if not parts or statement_of(group[2].first.text) == longest]


def _the_only(reference: str, found: list[_Found]) -> _Found:
    if len(found) == 1:
        return found[0]
    several = [
        f"{project_name(name) if name else 'you'}: {cut(group.first.text, _LISTED_CHARS)}"
        for name, _, group in found[:_LISTED]
    ]
    raise BadRequest(f"{len(found)} statements fit {reference!r}: name a line, FILE:LINE", hint="\n".join(several))
