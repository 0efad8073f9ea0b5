"""Withdrawals: of events, of conversations, of statements whoever says them, and of withdrawals themselves; pure."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from eventlog.events import (
    EntryResolved,
    Event,
    Fact,
    PlanEntry,
    Rejected,
    Restored,
    Retraction,
    StageSummary,
    Withdrawal,
)
from eventlog.in_force import judged
from eventlog.text import statement_of

__all__ = ["Retractions", "decided_by", "judged_statements", "statement_of", "statements_of"]

_STATEMENT = "statement "


class Retractions:
    """The withdrawals in force: a retraction may itself be retracted, that is how something is restored."""

    def __init__(self, withdrawals: Iterable[Withdrawal]) -> None:
        self._made = {one.id: one for one in withdrawals}
        self._events: set[str] = set()
        self._conversations: set[str] = set()
        self._rejected: dict[str, list[str]] = {}
        self._rejected_events: dict[str, list[str]] = {}
        self.touched: dict[str, str] = {}
        made = ((one.ts, one.id, not isinstance(one, Retraction), one.target or "") for one in self._made.values())
        for name, is_in_force in judged(made):
            self._touch(self._made[name])
            if is_in_force:
                self._count(self._made[name])
        self._judges_statements = any(goal.startswith(_STATEMENT) for goal in self.touched)

    def hides(self, event: Event) -> bool:
        """Tell whether the event, all its conversation said, or what it states is withdrawn."""
        if self._hides_whole(event):
            return True
        return bool(self._rejected) and isinstance(event, Fact | PlanEntry) and self.rejects(event.content or "")

    def rejects(self, text: str) -> bool:
        """Tell whether a person does not want this said, by whomever."""
        return bool(self._rejected) and statement_of(text) in self._rejected

    @property
    def has_rejections(self) -> bool:
        """Tell whether a person does not want anything said."""
        return bool(self._rejected or self._rejected_events)

    def rejections(self, text: str) -> list[str]:
        """List the ids of the events that keep this from being said."""
        return self._rejected.get(statement_of(text), []) if self._rejected else []

    def rejections_of(self, event: Event) -> list[str]:
        """List the ids of the decisions of people about just this event."""
        return self._rejected_events.get(event.id, [])

    def cleared(self, summary: StageSummary) -> StageSummary:
        """Take out of a summary what is rejected; "" stands for a topic or a text."""
        if not self._rejected or not any(map(self.rejects, statements_of(summary))):
            return summary
        lists = {
            name: [text for text in getattr(summary, name) if not self.rejects(text)] for name in ("decisions", "todos")
        }
        texts = {name: "" for name in ("topic", "summary") if self.rejects(getattr(summary, name))}
        return replace(summary, **lists, **texts)

    @property
    def events(self) -> frozenset[str]:
        """The ids of single events that are withdrawn."""
        return frozenset(self._events)

    @property
    def rejected_events(self) -> frozenset[str]:
        """The ids of single events that a person does not want said."""
        return frozenset(self._rejected_events)

    @property
    def conversations(self) -> frozenset[str]:
        """Those of which all is withdrawn."""
        return frozenset(self._conversations)

    @property
    def statements(self) -> frozenset[str]:
        """The statements nobody is to say, reduced to what all wordings have in common."""
        return frozenset(self._rejected)

    def touched_at(self, event: Event) -> str:
        """When the fate of the event was last decided; "" where nobody ever withdrew it."""
        at = self.touched.get
        touched_at = max(at(event.id, ""), at(f"conversation {event.conversation_id}", ""))
        if self._judges_statements and not self._hides_whole(event):  # of what is hidden the words may be gone
            statements = (f"{_STATEMENT}{statement_of(text)}" for text in statements_of(event))
            return max([touched_at, *(at(goal, "") for goal in statements)])
        return touched_at

    def touched_of(self, events: Iterable[Event]) -> dict[str, str]:
        """Map those of the events that anybody ever withdrew to when their fate was last decided."""
        if not self.touched:
            return {}
        return {event.id: touched_at for event in events if (touched_at := self.touched_at(event))}

    def differing(self, other: "Retractions") -> set[str]:
        """Find what another set of withdrawals decides otherwise: ids, `conversation ID` and `statement TEXT`."""
        touched = {goal for goal, _ in self.touched.items() ^ other.touched.items()}
        conversations = {f"conversation {one}" for one in self.conversations ^ other.conversations}
        statements = {f"{_STATEMENT}{one}" for one in self.statements ^ other.statements}
        return touched | (self.events ^ other.events) | conversations | statements

    def _hides_whole(self, event: Event) -> bool:
        return event.id in self._events or event.conversation_id in self._conversations

    def _count(self, one: Withdrawal) -> None:
        if one.target:
            self._events.add(one.target)
            if isinstance(one, Rejected):
                self._rejected_events.setdefault(one.target, []).append(one.id)
        elif isinstance(one, Rejected) and one.statement:
            self._rejected.setdefault(statement_of(one.statement), []).append(one.id)
        elif not isinstance(one, Restored) and one.conversation:
            self._conversations.add(one.conversation)

    def _touch(self, one: Withdrawal) -> None:
        """Note the time at what the chain of retractions ends in; a chain that runs in a circle ends anywhere."""
        goal = _goal(one)
        passed = {one.id}
        while goal in self._made and goal not in passed:
            passed.add(goal)
            goal = _goal(self._made[goal])
        self.touched[goal] = max(self.touched.get(goal, ""), one.ts)


def judged_statements(goals: Iterable[str]) -> set[str]:
    """Pick the statements of what two sets of withdrawals decide otherwise."""
    return {goal.removeprefix(_STATEMENT) for goal in goals if goal.startswith(_STATEMENT)}


def statements_of(event: Event) -> Iterator[str]:
    """Yield what an event states, as it is worded."""
    match event:
        case Fact():
            yield event.content
        case PlanEntry(content=str() as content):
            yield content
        case StageSummary():
            yield from filter(None, (event.topic, event.summary, *event.decisions, *event.todos))
        case _:
            return


def decided_by(event: Event) -> set[str]:
    """Collect what an event decides about: ids, conversations, statements."""
    match event:
        case Rejected(statement=str() as statement):
            return {statement_of(statement)}
        case Retraction() | Rejected():
            return {str(event.target or event.conversation)}
        case Restored() | EntryResolved():
            return {event.target}
        case _:
            return set()


def _goal(one: Withdrawal) -> str:
    if isinstance(one, Rejected) and one.statement:
        return f"{_STATEMENT}{statement_of(one.statement)}"
    if not isinstance(one, Restored) and one.conversation:
        return f"conversation {one.conversation}"
    return str(one.target)
