"""Retractions: of single events, of whole conversations, and of retractions themselves; pure."""

from collections.abc import Iterable

from eventlog.events import Event, Retraction, order


class Retractions:
    """The withdrawals in force.

    A retraction may itself be retracted (that is how something is restored). Newer ones are judged first, so one
    only ever undoes an older one, and no two can undo each other.
    """

    def __init__(self, retractions: Iterable[Retraction]) -> None:
        newest_first = sorted(retractions, key=order, reverse=True)
        self._goals = {retraction.id: _goal(retraction) for retraction in newest_first}
        self._events: set[str] = set()
        self._conversations: set[str] = set()
        self.touched: dict[str, str] = {}
        for retraction in newest_first:
            self._touch(retraction)
            if retraction.id in self._events:
                continue
            if retraction.target:
                self._events.add(retraction.target)
            elif retraction.conversation:
                self._conversations.add(retraction.conversation)

    def hides(self, event: Event) -> bool:
        """Tell whether the event, or all its conversation said, is withdrawn."""
        return event.id in self._events or event.conversation_id in self._conversations

    @property
    def events(self) -> frozenset[str]:
        """The ids of single events that are withdrawn."""
        return frozenset(self._events)

    @property
    def conversations(self) -> frozenset[str]:
        """Those of which all is withdrawn."""
        return frozenset(self._conversations)

    def touched_at(self, event: Event) -> str:
        """When the fate of the event was last decided; "" where nobody ever withdrew it."""
        return max(self.touched.get(event.id, ""), self.touched.get(f"conversation {event.conversation_id}", ""))

    def differing(self, other: "Retractions") -> set[str]:
        """Find what another set of withdrawals decides otherwise: ids of events, and `conversation ID`."""
        touched = {goal for goal, _ in self.touched.items() ^ other.touched.items()}
        conversations = {f"conversation {one}" for one in self.conversations ^ other.conversations}
        return touched | (self.events ^ other.events) | conversations

    def _touch(self, one: Retraction) -> None:
        """Note the time at what the chain of retractions ends in; a chain that runs in a circle ends anywhere."""
        goal = _goal(one)
        passed = {one.id}
        while goal in self._goals and goal not in passed:
            passed.add(goal)
            goal = self._goals[goal]
        self.touched[goal] = max(self.touched.get(goal, ""), one.ts)


def _goal(one: Retraction) -> str:
    return f"conversation {one.conversation}" if one.conversation else str(one.target)
