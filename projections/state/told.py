"""One conversation as the views read it: with what it came to, and what of it is withdrawn."""

from collections.abc import Callable

from eventlog.projections.state.conclusions import conclude
from eventlog.projections.state.conversations import Conversation
from eventlog.projections.state.distinct_facts import of_fact
from eventlog.retractions import Retractions

Local = Callable[[str], str]  # timestamp -> `YYYY-MM-DDTHH:MM` on the clocks of the user


class Told:
    """A conversation, the withdrawals in force, the clock of the user, and what all rows of it are made of.

    `stated` maps each fact that is not withdrawn to what it states, `summaries` are those not withdrawn; `touched` maps
    those that anybody ever withdrew to when their fate was last decided.
    """

    def __init__(self, conversation: Conversation, withdrawn: Retractions, local: Local) -> None:
        hides, touched_at = withdrawn.hides, withdrawn.touched_at
        said = (*conversation.facts, *conversation.summaries)
        self.conversation = conversation
        self.withdrawn = withdrawn
        self.local = local
        self.stated = {fact.id: of_fact(fact) for fact in conversation.facts if not hides(fact)}
        self.summaries = [summary for summary in conversation.summaries if not hides(summary)]
        self.conclusion = conclude(conversation, withdrawn, lambda fact: self.stated[fact.id])
        self.touched = {event.id: at for event in said if (at := touched_at(event))}

    @property
    def project(self) -> str:
        """Return its project, "" for none."""
        return self.conversation.project or ""
