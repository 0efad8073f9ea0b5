"""One conversation as the views read it: with what it came to, and what of it is withdrawn."""

from collections.abc import Callable
from functools import cached_property

from eventlog.events import StageSummary
from eventlog.projections.state.conclusions import Conclusion, conclude
from eventlog.projections.state.conversations import Conversation
from eventlog.projections.state.distinct_facts import Statement, of_fact
from eventlog.retractions import Retractions

Local = Callable[[str], str]  # timestamp -> `YYYY-MM-DDTHH:MM` on the clocks of the user


class Told:
    """A conversation, the withdrawals in force, and the clock of the user."""

    def __init__(self, conversation: Conversation, withdrawn: Retractions, local: Local) -> None:
        self.conversation = conversation
        self.withdrawn = withdrawn
        self.local = local

    @cached_property
    def conclusion(self) -> Conclusion:
        """Conclude it, once."""
        return conclude(self.conversation, self.withdrawn)

    @cached_property
    def stated(self) -> dict[str, Statement]:
        """Map each fact that is not withdrawn to what it states."""
        hides = self.withdrawn.hides
        return {fact.id: of_fact(fact) for fact in self.conversation.facts if not hides(fact)}

    @cached_property
    def summaries(self) -> list[StageSummary]:
        """List the summaries that are not withdrawn."""
        hides = self.withdrawn.hides
        return [summary for summary in self.conversation.summaries if not hides(summary)]

    @cached_property
    def visible(self) -> set[str]:
        """Collect the ids of facts and summaries that are not withdrawn."""
        return {*self.stated, *(summary.id for summary in self.summaries)}

    @cached_property
    def touched(self) -> dict[str, str]:
        """Map each fact and summary to when its fate was last decided; "" where nobody ever withdrew it."""
        touched_at = self.withdrawn.touched_at
        return {one.id: touched_at(one) for one in (*self.conversation.facts, *self.conversation.summaries)}

    @property
    def project(self) -> str:
        """Return its project, "" for none."""
        return self.conversation.project or ""
