"""One conversation as the views read it: with what it came to, and what of it is withdrawn."""

from collections.abc import Callable

from eventlog.projections.state.conclusions import conclude
from eventlog.projections.state.conversations import Conversation
from eventlog.projections.state.distinct_facts import of_fact
from eventlog.retractions import Retractions

Local = Callable[[str], str]  # timestamp -> `YYYY-MM-DDTHH:MM` on the clocks of the user


class Told:
    """A conversation, the withdrawals in force, the clock of the user, and what all rows of it are made of.

    `stated` maps each fact that is not withdrawn to what it states, `summaries` are those not withdrawn, `visible` the
    ids of both; `touched` maps each to when its fate was last decided, "" where nobody ever withdrew it.
    """

    def __init__(self, conversation: Conversation, withdrawn: Retractions, local: Local) -> None:
        hides, touched_at = withdrawn.hides, withdrawn.touched_at
        facts, summaries = conversation.facts, conversation.summaries
        self.conversation = conversation
        self.withdrawn = withdrawn
        self.local = local
        self.conclusion = conclude(conversation, withdrawn)
        self.stated = {fact.id: of_fact(fact) for fact in facts if not hides(fact)}
        self.summaries = [summary for summary in summaries if not hides(summary)]
        self.visible = {*self.stated, *[summary.id for summary in self.summaries]}
        self.touched = {one.id: touched_at(one) for one in (*facts, *summaries)}

    @property
    def project(self) -> str:
        """Return its project, "" for none."""
        return self.conversation.project or ""
