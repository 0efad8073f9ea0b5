"""The statements that hold for an audience, each once with the events that make it; found by an id or by words.

An audience hears its project and what is about the user; what was withdrawn or replaced holds nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from eventlog.app.build.replay import replay
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.references import is_part_of
from eventlog.format.codec import from_fields
from eventlog.format.events import Event, StageSummary
from eventlog.format.text import one_line, statement_of
from eventlog.format.timestamps import order
from eventlog.log.event_log import EventLog
from eventlog.projections.current.conclusions import Mention
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import distinct_facts
from eventlog.projections.current.fact_scopes import Statement, stated_about
from eventlog.projections.current.standing import (
    WHOLE,
    by_event,
    called_done,
    held_back,
    not_done,
    not_replaced,
    replaced,
    standing_saves,
    standing_text,
)
from eventlog.projections.edits.memory_edits import withdrawals
from eventlog.settings.schema import Settings

if TYPE_CHECKING:
    from eventlog.format.timestamps import Dated


class CurrentStatement(NamedTuple):
    """A statement: its wording, the events that make it, oldest first, and those it replaced under its key.

    `remaining` are the summaries among these once more, without what it replaced.
    """

    text: str
    events: tuple[Event, ...]
    replaced: tuple[Event, ...] = ()
    remaining: tuple[Event, ...] = ()

    @property
    def newest(self) -> Event:
        """The event that made the statement last."""
        return self.events[-1]

    def withdraw(self, log: EventLog, speaker: dict[str, Any], reason: str | None) -> None:
        """Withdraw every event that makes it, and those it had replaced, which would hold again; raises NotStored.

        `speaker` has the fields that tell who does: an agent may, until it is said again; to reject something for good
        is a person's. All or nothing.
        """
        goals = dict.fromkeys(event.id for event in (*self.events, *self.replaced))
        withdrawn = [from_fields({**speaker, "type": "retraction", "target": goal, "reason": reason}) for goal in goals]
        log.put([*self.remaining, *withdrawn])


def current_statements(
    log: EventLog, settings: Settings, project: str | None, *, shared: bool = False
) -> list[CurrentStatement]:
    """List every fact and summary that holds for who works in a project (its path); newest last.

    What is `shared` with others than the user is not about the user.
    """
    replayed = replay(log, settings, projections=[])
    withdrawn = replayed.index.withdrawn
    here = KnownProjects(log.store, replayed.identities).meant(project or "")
    subjects = {here} - {""} if shared else {here, ""}
    stated = stated_about(replayed.conversations.by_id.values(), withdrawn)
    over = replaced(stated.get(here, ()))
    found: list[CurrentStatement] = []
    about = [some for some in replayed.conversations.by_id.values() if (some.project or "") == here in subjects]
    saves = [[withdrawn.cleared(save) for save in some.summaries if not withdrawn.hides(save)] for some in about]
    done = called_done(save for valid in saves for save in valid)
    for valid in saves:
        found += _summaries(valid, over, done)
    for subject in sorted(subjects & stated.keys()):
        found += _facts(stated[subject], replayed.conversations)
    return sorted(found, key=lambda statement: order(statement.newest))


def matching(statements: list[CurrentStatement], words: str) -> list[CurrentStatement]:
    """Find statements by an id or a part of it, by the exact wording, or else by words in it."""
    by_id = [statement for statement in statements if any(is_part_of(event.id, words) for event in statement.events)]
    wanted = statement_of(words)
    same = by_id or [statement for statement in statements if statement_of(statement.text) == wanted]
    return same or [statement for statement in statements if wanted and wanted in statement_of(statement.text)]


def _facts(stated: Sequence[Statement | Mention], state: Conversations) -> Iterator[CurrentStatement]:
    """Yield the facts of a subject, of all that is stated about it, oldest first."""
    every = (event for conversation in state.by_id.values() for event in (*conversation.facts, *conversation.summaries))
    by_id: dict[str, Event] = {event.id: event for event in every}
    for group in distinct_facts(statement for statement in stated if isinstance(statement, Statement)):
        held = held_back(stated, group.first.same) if any(statement.key for statement in group.statements) else []
        decided = by_event(each for each in held if isinstance(each, Mention))
        again = tuple(event for event in withdrawals(decided, state, "") if isinstance(event, StageSummary))
        sources, older = (tuple(by_id[each] for each in ids) for ids in (group.sources, by_event(held)))
        yield CurrentStatement(group.first.text, sources, older, again)


def _summaries(
    valid: Iterable[StageSummary], over: "Mapping[bytes, Dated]", done: Mapping[bytes, str]
) -> Iterator[CurrentStatement]:
    """Yield what stands of each summary of a conversation; a text of the whole of it has replaced those before."""
    before: list[Event] = []
    for save, *named, left in standing_saves(sorted(valid, key=order)):
        topic, summary = (standing_text(text, save, over) for text in named)
        decisions, todos = not_replaced(save.decisions, save, over), not_done(left, save, done)
        is_whole = save.scope == WHOLE
        if summary or decisions or todos:
            parts = [": ".join(filter(None, (topic, summary))), *(f"Decision: {text}" for text in decisions)]
            text = one_line(" · ".join([*parts, *(f"To do: {todo}" for todo in todos)]))
            yield CurrentStatement(text, (save,), tuple(before) if is_whole and summary else ())
        before += [save] if is_whole else []
