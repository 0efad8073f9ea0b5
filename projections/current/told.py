"""One conversation as the views read it: with what it came to, and what of it is withdrawn."""

from collections.abc import Callable

from eventlog.format.retractions import Retractions
from eventlog.projections.current.conclusions import conclusion_of
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.distinct_facts import subject_of
from eventlog.projections.current.statements import of_fact

Local = Callable[[str], str]  # timestamp -> `YYYY-MM-DDTHH:MM` on the clocks of the user


class Told:
    """A conversation, the withdrawals in force, the clock of the user, and what all rows of it are made of.

    `project` is its project, "" for none. `said` are its facts and summaries, `hidden` the ids of those withdrawn,
    `touched` maps those that anybody ever withdrew to when their fate was last decided. Of what is left, `stated` maps
    each fact to its subject and what it states, `summaries` are the summaries.
    """

    def __init__(self, conversation: Conversation, withdrawn: Retractions, local: Local) -> None:
        self.conversation = conversation
        self.project = conversation.project or ""
        self.withdrawn = withdrawn
        self.local = local
        self.said = [*conversation.facts, *conversation.summaries]
        self.touched = withdrawn.touched_of(self.said)
        self.hidden = {event.id for event in self.said if event.id in self.touched and withdrawn.hides(event)}
        facts = [fact for fact in conversation.facts if fact.id not in self.hidden]
        self.stated = {fact.id: (subject_of(fact), of_fact(fact)) for fact in facts}
        self.summaries = [summary for summary in conversation.summaries if summary.id not in self.hidden]
        self.conclusion = conclusion_of(self.summaries, self.stated.values(), withdrawn)
