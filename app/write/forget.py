"""Forgetting: what is meant, all that stands behind it, and the decision that keeps it away until it is taken back."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from eventlog.app.ask.why import LineReason, names_line, reasons_behind
from eventlog.app.build.rebuild import DeedResult, carry_out
from eventlog.app.build.replay import replay
from eventlog.app.naming.names import SEARCH, did_you_mean
from eventlog.app.naming.references import event_named
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Event, Fact, KnowledgeEdited, PlanEntry, Rejected, StageSummary
from eventlog.format.marks import digest_of
from eventlog.format.retractions import statements_of
from eventlog.format.text import cut, one_line, statement_of
from eventlog.format.timestamps import order
from eventlog.log.lines import LogLine
from eventlog.projections.current.conclusions import Mention
from eventlog.projections.current.fact_scopes import Statement, stated_about
from eventlog.projections.current.standing import by_event, held_back, likeness
from eventlog.projections.edits.memory_edits import withdrawals
from eventlog.secrets import looks_secret

_SAYING = (Fact, StageSummary, PlanEntry)
_LISTED, _LISTED_CHARS = 8, 100
_SALT = 16  # bytes
_rejected = partial(Rejected, conversation_id=HUMAN, agent=HUMAN)
_EARLIER = "an earlier wording of what is forgotten"


class Forgettable(NamedTuple):
    """A statement that can be forgotten: its wording, every event behind it, and the decision to be made."""

    text: str
    behind: list[LogLine]
    decision: Rejected
    earlier: Sequence[Event] = ()  # withdraws what it replaced, which would hold again

    @property
    def looks_secret(self) -> bool:
        """The statement should be erased from the log, too."""
        return looks_secret(self.text)


def forgettable(
    opened: OpenStore, reference: str = "", *, session: str | None = None, matching: str | None = None
) -> list[Forgettable]:
    """Find what is meant by an id, a line (`FILE:LINE`), which may show several statements, or a text.

    Else all that a `session` said, as one, or every statement that the text `matching` is a part of, the most frequent
    first. Raises BadRequest where nothing is, where a text is in several statements, and for a person's own words.
    """
    if session is not None:
        entries = [entry for entry in opened.log.session_entries(session) if isinstance(entry.event, _SAYING)]
        if not entries:
            raise BadRequest(f"session {session!r} has said nothing")
        return [Forgettable(f"all that session {session} said", entries, _rejected(conversation=session))]
    if matching is not None:
        return _Known(opened).matching(matching)
    event = event_named(opened.log, reference, opened.machine.project)
    statements = _Known(opened)
    if event:
        return statements.of_event(event)
    if names_line(opened, reference):
        return statements.of_line(reasons_behind(opened, reference)[0])
    return statements.of_text(reference)


def forget(opened: OpenStore, chosen: Sequence[Forgettable]) -> DeedResult:
    """Reject these statements for every speaker, and rebuild; raises NotStored."""
    return carry_out(opened, [event for item in chosen for event in (item.decision, *item.earlier)])


class _Known:
    """The statements that are not withdrawn, by what all wordings have in common."""

    def __init__(self, opened: OpenStore) -> None:
        self._log = opened.log
        self._stating: dict[str, list[str]] = {}  # the ids of the events that say so
        self._worded: dict[str, str] = {}
        replayed = replay(opened.log, opened.settings, projections=[])
        withdrawn, conversations = replayed.index.withdrawn, replayed.conversations.by_id.values()
        self._salt = withdrawn.oldest_salt or os.urandom(_SALT).hex()
        events = (event for found in conversations for event in (*found.facts, *found.summaries))
        self._state, self._withdrawn = replayed.conversations, withdrawn
        for event in sorted((*events, *replayed.knowledge.entries), key=order):
            for text in () if withdrawn.hides(event) else filter(None, map(one_line, statements_of(event))):
                if not withdrawn.rejects(text):
                    self._stating.setdefault(statement_of(text), []).append(event.id)
                    self._worded.setdefault(statement_of(text), text)

    def of_event(self, event_id: str) -> list[Forgettable]:
        """Take a fact for what it states, a summary or an entry for itself."""
        entry = self._log.find([event_id])[event_id]
        match entry.event:
            case Fact(content=content):
                if statement_of(content) not in self._stating:
                    raise BadRequest(f"{content!r} is withdrawn already", where=event_id)
                return [self._statement(statement_of(content))]
            case StageSummary() | PlanEntry():
                text = one_line("; ".join(statements_of(entry.event))) or entry.event.type
                return [Forgettable(text, [entry], _rejected(target=event_id))]
            case KnowledgeEdited():
                raise BadRequest("these are your own words", hint=f"change the file, or eventlog undo {event_id}")
            case _:
                raise BadRequest(f"{entry.event.type} states nothing that could be forgotten", where=event_id)

    def of_line(self, line: LineReason) -> list[Forgettable]:
        """Take a line for the statements it shows, of the events behind it; a knowledge base's for its entries."""
        if line.entries is None:
            raise BadRequest("the line is not from the log", hint="it was written by hand: take it out of the file")
        if line.is_of_section:
            entries = [event for event in line.events if isinstance(event, PlanEntry)]
            return [item for event in entries or line.events for item in self.of_event(event.id)]
        found = [statement for statement in line.shown_statements() if statement in self._stating]
        if not found:
            raise BadRequest("the line shows no statement", hint="name a line that says something, or give its text")
        return [self._statement(statement) for statement in found]

    def of_text(self, text: str) -> list[Forgettable]:
        """Take a text for the statement it is, else for the only one it is a part of."""
        wanted = statement_of(text)
        if wanted in self._stating:
            return [self._statement(wanted)]
        found = self._containing(text)
        if len(found) > 1:
            several = "\n".join(cut(self._worded[statement], _LISTED_CHARS) for statement in found[:_LISTED])
            what = f"{len(found)} statements say {text!r}: give one of them whole, or --matching for all"
            raise BadRequest(what, hint=several)
        return [self._statement(statement) for statement in found]

    def matching(self, text: str) -> list[Forgettable]:
        """Take a text for all statements it is a part of."""
        found = self._containing(text)
        lines = self._log.find({event for statement in found for event in self._stating[statement]})
        return sorted(
            (self._statement(statement, lines) for statement in found), key=lambda item: (-len(item.behind), item.text)
        )

    def _containing(self, text: str) -> list[str]:
        wanted = statement_of(text)
        found = [statement for statement in self._stating if wanted and wanted in statement]
        if not found:
            raise BadRequest(f"nothing says {text!r}", hint=did_you_mean(text, self._worded.values(), SEARCH))
        return found

    def _statement(self, statement: str, lines: Mapping[str, LogLine] | None = None) -> Forgettable:
        lines = self._log.find(self._stating[statement]) if lines is None else lines
        behind = {event: lines[event] for event in self._stating[statement] if event in lines}
        text = self._worded[statement]
        in_order = sorted(behind.values(), key=lambda entry: order(entry.event))
        first = in_order[0].event.id if in_order else min(self._stating[statement])  # its day cannot be read
        digest = digest_of(statement, self._salt)
        decision = _rejected(salt=self._salt, digest=digest, source=first)
        keyed = [entry for entry in in_order if isinstance(entry.event, Fact) and entry.event.key]
        may_replace = keyed or len(behind) < len(self._stating[statement])  # what has no key replaces nothing
        same, about = likeness(statement), self._stated.values() if may_replace else ()
        earlier = by_event(held for stated in about for held in held_back(stated, same))
        return Forgettable(text, in_order, decision, [*withdrawals(earlier, self._state, "", _EARLIER)])

    @cached_property
    def _stated(self) -> dict[str, list[Statement | Mention]]:
        return stated_about(self._state.by_id.values(), self._withdrawn)
