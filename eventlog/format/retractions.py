"""Withdrawals: of events, of conversations, of statements in any event, and of withdrawals themselves; pure.

Imported inside agents' hooks, which have events by another class: they are told by their type.
"""

from eventlog.format.marks import A_STATEMENT, ALL_OF, AN_EVENT, RejectedStatements, mark_in, marks_of, salts_in
from eventlog.format.timestamps import counts_at, order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from typing_extensions import TypeIs

    from eventlog.format.events import Event, Fact, PlanEntry, Rejected, Restored, Retraction, StageSummary, Withdrawal


class Retractions(RejectedStatements):
    """The withdrawals in force, of which a helper makes none: a retraction of a retraction restores something.

    `statements` maps the marks of rejected statements to their rejections, `rejected_events` single events to theirs.
    `events` are the ids of single events that are withdrawn, `taken_back` those that a person has taken back, as if
    they had never been, `conversations` those withdrawn as a whole; `touched` says when each of all that was ever
    withdrawn was last decided about.
    """

    statements: dict[str, list[str]]

    def __init__(self, withdrawals: "Iterable[Withdrawal]") -> None:
        self._made = {withdrawal.id: withdrawal for withdrawal in withdrawals if not withdrawal.subagent}
        self._in_force: list[Withdrawal] = []  # the newest first
        self.events: set[str] = set()
        self.taken_back: set[str] = set()
        self.conversations: set[str] = set()
        self.statements = {}
        self.rejected_events: dict[str, list[str]] = {}
        self.touched: dict[str, str] = {}
        for withdrawal, is_in_force in _judged(self._made.values()):
            self._touch(withdrawal)
            if is_in_force:
                self._in_force.append(withdrawal)
                self._count(withdrawal)
        super().__init__(self.statements)
        self.salts_ever = salts_in(self.judged_statements(self.touched))  # also of what is not in force

    def grown(self, withdrawals: "Iterable[Withdrawal]") -> "Retractions":
        """Return these withdrawals, judged: of more than its own only those beyond them, where these are apart."""
        made = {withdrawal.id: withdrawal for withdrawal in withdrawals}
        if made == self._made:
            return self
        more = [withdrawal for event_id, withdrawal in made.items() if event_id not in self._made]
        if {**made, **self._made} != made or not self._are_apart(more, made):
            return Retractions(made.values())
        found = Retractions(more)
        found._made = made
        found._in_force += self._in_force
        for name in ("events", "taken_back", "conversations", "salts", "salts_ever"):
            setattr(found, name, getattr(found, name) | getattr(self, name))
        for new, old in ((found.statements, self.statements), (found.rejected_events, self.rejected_events)):
            new.update({goal: new.get(goal, []) + ids for goal, ids in old.items()})
        found.touched.update({goal: max(found.touched.get(goal, ""), at) for goal, at in self.touched.items()})
        return found

    def _are_apart(self, more: "list[Withdrawal]", made: "dict[str, Withdrawal]") -> bool:
        """Return whether withdrawals are newer than those before, and neither are about the others."""
        goals = {_goal(withdrawal) for withdrawal in more}
        newest = [order(withdrawal) for withdrawal in self._in_force[:1]]
        is_newer = all(order(withdrawal) > before for before in newest for withdrawal in more)
        return is_newer and goals.isdisjoint(made) and self.touched.keys().isdisjoint(made)

    def hides(self, event: "Event") -> bool:
        """Return whether the event, its whole conversation, or its statement is withdrawn."""
        if self.hides_whole(event):
            return True
        return bool(self.statements) and _is_one_statement(event) and self.rejects(event.content or "")

    def hides_whole(self, event: "Event") -> bool:
        """Return whether just this event, or its whole conversation, is withdrawn."""
        return event.id in self.events or event.conversation_id in self.conversations

    def withdrawal_of(self, event: "Event") -> "Withdrawal | None":
        """Find the newest withdrawal in force that takes away this event, or its whole conversation."""
        goals = event.id, f"{ALL_OF}{event.conversation_id}"
        return next((withdrawal for withdrawal in self._in_force if _goal(withdrawal) in goals), None)

    @property
    def oldest_salt(self) -> str:
        """The salt that rejections of a log share, in force or not: that of the oldest; "" where none has any."""
        salted = [withdrawal for withdrawal in self._made.values() if _is_rejected(withdrawal) and withdrawal.salt]
        return str(min(salted, key=order).salt) if salted else ""

    def rejected_marks(self, text: str) -> list[str]:
        """List the marks of rejections that a text has; a stand-in has the marks of the text it replaces."""
        return [mark for mark in marks_of(text, self.salts) if mark in self.statements] if self.statements else []

    def rejections(self, text: str) -> list[str]:
        """List the ids of the rejections of this statement."""
        return [rejection for mark in self.rejected_marks(text) for rejection in self.statements[mark]]

    def rejections_of(self, event: "Event") -> list[str]:
        """List the ids of the decisions of people about just this event."""
        return self.rejected_events.get(event.id, [])

    @staticmethod
    def aim_of(withdrawal: "Withdrawal") -> str:
        """Name what a withdrawal takes away: an event by its id, all of a conversation, or a statement by its mark."""
        if withdrawal.target:
            return f"{AN_EVENT}{withdrawal.target}"
        if _is_rejected(withdrawal) and (mark := mark_in(withdrawal)):
            return f"{A_STATEMENT}{mark}"
        return f"{ALL_OF}{withdrawal.conversation}" if not _is_restored(withdrawal) and withdrawal.conversation else ""

    @staticmethod
    def judged_statements(goals: "Iterable[str]") -> set[str]:
        """Pick the marks of the statements of what two sets of withdrawals decide otherwise."""
        return {goal.removeprefix(A_STATEMENT) for goal in goals if goal.startswith(A_STATEMENT)}

    @property
    def aims(self) -> set[str]:
        """The aims of the withdrawals in force."""
        return {self.aim_of(withdrawal) for withdrawal in self._in_force} - {""}

    @property
    def decisions(self) -> "list[Rejected]":
        """The rejections in force."""
        return [
            withdrawal
            for withdrawal in self._made.values()
            if _is_rejected(withdrawal) and withdrawal.id not in self.events
        ]

    def touched_at(self, event: "Event") -> str:
        """Return the time of the last decision about the event; "" for an event that was never withdrawn."""
        at = self.touched.get
        touched_at = max(at(event.id, ""), at(f"{ALL_OF}{event.conversation_id}", ""))
        if self.salts_ever and not self.hides_whole(event):  # of what is hidden the words may be gone
            marks = (mark for text in statements_of(event) for mark in marks_of(text, self.salts_ever))
            return max([touched_at, *(at(f"{A_STATEMENT}{mark}", "") for mark in marks)])
        return touched_at

    def touched_of(self, events: "Iterable[Event]") -> dict[str, str]:
        """Map the ids of events that were ever withdrawn to the time of the last decision about each."""
        if not self.touched:
            return {}
        return {event.id: touched_at for event in events if (touched_at := self.touched_at(event))}

    def differing(self, other: "Retractions") -> set[str]:
        """Find what another set of withdrawals decides otherwise: ids, `conversation ID` and `statement MARK`."""
        touched = {goal for goal, _ in self.touched.items() ^ other.touched.items()}
        conversations = {f"{ALL_OF}{conversation}" for conversation in self.conversations ^ other.conversations}
        statements = {f"{A_STATEMENT}{statement}" for statement in self.statements.keys() ^ other.statements.keys()}
        events = (self.events ^ other.events) | (self.taken_back ^ other.taken_back)
        return touched | events | conversations | statements

    def _count(self, withdrawal: "Withdrawal") -> None:
        if withdrawal.target:
            self.events.add(withdrawal.target)
            if _is_restored(withdrawal):
                self.taken_back.add(withdrawal.target)
            if _is_rejected(withdrawal):
                self.rejected_events.setdefault(withdrawal.target, []).append(withdrawal.id)
        elif _is_rejected(withdrawal) and (mark := mark_in(withdrawal)):
            self.statements.setdefault(mark, []).append(withdrawal.id)
        elif not _is_restored(withdrawal) and withdrawal.conversation:
            self.conversations.add(withdrawal.conversation)

    def _touch(self, withdrawal: "Withdrawal") -> None:
        """Note the time at what the chain of retractions ends in; a chain that runs in a circle ends anywhere."""
        goal = _goal(withdrawal)
        passed = {withdrawal.id}
        while goal in self._made and goal not in passed:
            passed.add(goal)
            goal = _goal(self._made[goal])
        self.touched[goal] = max(self.touched.get(goal, ""), counts_at(withdrawal))


def statements_of(event: "Event") -> "Iterator[str]":
    """Yield what an event states, as it is worded."""
    if _is_one_statement(event):
        yield from filter(None, (event.content,))
    elif _is_summary(event):
        yield from filter(None, (event.topic, event.summary, *event.decisions, *event.todos, *event.done))


def wordless(rejection: "Rejected") -> "Rejected":
    """Return a rejection as it is stored: a statement by its mark, not by its words."""
    if not rejection.statement:
        return rejection
    from eventlog.fast.copies import replace

    salt, _, digest = mark_in(rejection).rpartition(":")
    return replace(rejection, statement=None, salt=salt, digest=digest)


def decided_by(event: "Event") -> set[str]:
    """Collect the subjects an event decides about: ids, conversations, marks of statements."""
    if _is_rejected(event) and (mark := mark_in(event)):
        return {mark}
    if _is_rejected(event) or _is_retraction(event):
        return {str(event.target or event.conversation)}
    target = getattr(event, "target", None) if event.type in ("restored", "entry_resolved") else None
    return {target} if target else set()


def goals_of(stating: "Iterable[Event]", events: "Iterable[Event]") -> set[str]:
    """Collect the subjects of decisions that concern these events: ids, conversations, marks of statements."""
    salts = salts_in(filter(None, (mark_in(event) for event in events if _is_rejected(event))))
    found: set[str] = set()
    for event in stating:
        found |= {event.id, event.conversation_id}
        found.update(mark for text in statements_of(event) for mark in marks_of(text, salts))
    return found


def _goal(withdrawal: "Withdrawal") -> str:
    return Retractions.aim_of(withdrawal).removeprefix(AN_EVENT)


def _is(event: "Any", *types: str) -> bool:
    """Return whether the event is of such a type, in a version whose fields this program knows."""
    return event.type in types and getattr(event, "is_known", True)


def _is_retraction(event: "Event") -> "TypeIs[Retraction]":
    return _is(event, "retraction")


def _is_rejected(event: "Event") -> "TypeIs[Rejected]":
    return _is(event, "rejected")


def _is_restored(event: "Event") -> "TypeIs[Restored]":
    return _is(event, "restored")


def _is_one_statement(event: "Event") -> "TypeIs[Fact | PlanEntry]":
    return _is(event, "fact", "plan_entry")


def _is_summary(event: "Event") -> "TypeIs[StageSummary]":
    return _is(event, "stage_summary")


def _judged(withdrawals: "Iterable[Withdrawal]") -> "Iterator[tuple[Withdrawal, bool]]":
    """Yield withdrawals, newest first, and whether each is in force.

    A withdrawal may be taken back by another. Newer ones are judged first, so one only ever undoes an older one, and no
    two can undo each other. What a person decided, only a person takes back: others who try are passed over.
    """
    newest_first = sorted(withdrawals, key=order, reverse=True)
    by_hand = {withdrawal.id for withdrawal in newest_first if withdrawal.type != "retraction"}
    taken_back: set[str | None] = set()
    for withdrawal in newest_first:
        if withdrawal.type == "retraction" and withdrawal.target in by_hand:
            continue
        is_in_force = withdrawal.id not in taken_back
        if is_in_force:
            taken_back.add(withdrawal.target)
        yield withdrawal, is_in_force
