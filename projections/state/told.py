"""One conversation as the views read it: with what it came to, and what of it is withdrawn."""

from collections.abc import Callable

from eventlog.projections.state.conclusions import conclude
from eventlog.projections.state.conversations import Conversation
from eventlog.projections.state.distinct_facts import of_fact
from eventlog.retractions import Retractions

Local = Callable[[str], str]  # timestamp -> `YYYY-MM-DDTHH:MM` on the clocks of the user


class Told:
    """A conversation, the withdrawals in force, the clock of the user, and what all rows of it are made of.

    `said` are its facts and summaries, `hidden` the ids of those withdrawn, `touched` maps those that anybody ever
    withdrew to when their fate was last decided. Of what is left, `stated` maps each fact to what it states.
    """

    def __init__(self, conversation: Conversation, withdrawn: Retractions, local: Local) -> None:
        hides, touched_at = withdrawn.hides, withdrawn.touched_at
        self.conversation = conversation
        self.withdrawn = withdrawn
        self.local = local
        self.said = [*conversation.facts, *conversation.summaries]
        self.hidden = {event.id for event in self.said if hides(event)}
        self.touched = {event.id: at for event in self.said if (at := touched_at(event))}
        self.stated = {fact.id: of_fact(fact) for fact in conversation.facts if fact.id not in self.hidden}
        self.summaries = [summary for summary in conversation.summaries if summary.id not in self.hidden]
        self.conclusion = conclude(conversation, withdrawn, lambda fact: self.stated[fact.id])

    @property
    def project(self) -> str:
        """Return its project, "" for none."""
        return self.conversation.project or ""
