"""Why a session was not told something: others listened to it, it was said later, of another project, or no room."""

from collections.abc import Sequence

from eventlog.app.known_projects import about
from eventlog.app.open_store import OpenStore
from eventlog.app.receipt import ReceiptSources, receipts_of
from eventlog.app.why_not import Absence, Cause, why_not
from eventlog.events import Event, Fact, SessionStart
from eventlog.retractions import statements_of
from eventlog.text import statement_of

_IN_A_MEMORY = ("there", "repetition", "no room")


def why_not_told(opened: OpenStore, said: str, conversation_id: str) -> list[Absence]:
    """Tell of every statement that has the text in it why this session was not told it; raises BadRequest.

    What is in no memory is in none for the reason `why_not` finds.
    """
    session = _Session(opened, conversation_id)
    return [session.judged(one) for one in why_not(opened, said)]


class _Session:
    """One session: where it worked, who listened, and what it was given."""

    def __init__(self, opened: OpenStore, conversation_id: str) -> None:
        self._store = opened.store
        events = opened.log.session(conversation_id)
        self._given = receipts_of(opened.log, opened.settings, conversation_id)
        self._last = max((given.receipt.ts for given in self._given), default="")
        self._project = next((event.project for event in events if event.project), None)
        self._is_shared = _is_shared(events, self._given)

    def judged(self, one: Absence) -> Absence:
        """Find why the session was not told; "told" where it was."""
        for given in self._given:
            if any(_states(event, one.text) for event in _told(given)):
                return one._replace(cause="told", by=given.receipt)
        if one.cause not in _IN_A_MEMORY:
            return one
        return one._replace(cause=self._cause(one))

    def _cause(self, one: Absence) -> Cause:
        first = one.by or one.event
        if not self._given:
            return "no start"
        if self._is_shared:
            return "shared"
        if first.ts > self._last:
            return "later"
        if isinstance(first, Fact) and first.effective_scope == "user":
            return "cut"
        is_here = self._project is not None and about(self._store, self._project)(first.project, first.replica)
        return "cut" if is_here else "elsewhere"


def _is_shared(events: Sequence[Event], given: Sequence[ReceiptSources]) -> bool:
    starts = (event.session_type for event in events if isinstance(event, SessionStart))
    return "shared" in {*starts, *(one.receipt.session_type for one in given)}


def _told(given: ReceiptSources) -> list[Event]:
    entries = [*given.entries, *(entry for file in given.files.values() for entry in file or ())]
    return [entry.event for entry in entries]


def _states(event: Event, text: str) -> bool:
    return statement_of(text) in map(statement_of, statements_of(event))
