"""One conversation as the views read it: with what it came to, and what of it is withdrawn."""

from collections.abc import Callable
from functools import cached_property

from eventlog.projections.state.conclusions import Conclusion, conclude
from eventlog.projections.state.conversations import Conversation
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

    @property
    def project(self) -> str:
        """Return its project, "" for none."""
        return self.conversation.project or ""
