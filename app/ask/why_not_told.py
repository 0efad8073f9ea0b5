"""Why a session was not told something: others listened, it was said later, elsewhere, cut, or not asked for."""

from collections.abc import Sequence

from eventlog.app.ask.receipt import ReceiptSources, receipts_of
from eventlog.app.ask.why_not import Absence, Cause, why_not
from eventlog.app.naming.known_projects import about
from eventlog.app.open_store import OpenStore
from eventlog.app.search.explain import nearness
from eventlog.format.events import Event, Fact, HostEvent, SessionStart
from eventlog.format.marks import has_line_mark, line_marks_in
from eventlog.format.retractions import statements_of
from eventlog.format.text import statement_of
from eventlog.hosts import prompt_of

_IN_A_MEMORY = ("there", "repetition", "no room")


def why_not_told(opened: OpenStore, said: str, conversation_id: str) -> list[Absence]:
    """Tell of every statement that has the text in it why this session was not told it; raises BadRequest.

    What is in no memory is in none for the reason `why_not` finds.
    """
    session = _Session(opened, conversation_id)
    return [session.judged(one) for one in why_not(opened, said)]


class _Session:
    """One session: where it worked, who listened, what it was given, and what was asked in it."""

    def __init__(self, opened: OpenStore, conversation_id: str) -> None:
        self._opened = opened
        events = opened.log.session(conversation_id)
        self._given = receipts_of(opened.log, opened.settings, conversation_id)
        self._starts = [given.receipt for given in self._given if given.receipt.trigger == "start"]
        self._prompts = [event for event in events if isinstance(event, HostEvent) and _asks(event)]
        self._last = max((*(given.receipt.ts for given in self._given), *(one.ts for one in self._prompts)), default="")
        self._project = next((event.project for event in events if event.project), None)
        self._is_shared = _is_shared(events, self._given)

    def judged(self, one: Absence) -> Absence:
        """Find why the session was not told; "told" where it was."""
        for given in self._given:
            if _was_told(given, one.text):
                return one._replace(cause="told", by=given.receipt)
        if one.cause not in _IN_A_MEMORY:
            return one
        cause = self._cause(one)
        if cause in ("unasked", "below"):
            return self._unasked(one)
        return one._replace(cause=cause)

    def _cause(self, one: Absence) -> Cause:
        first = one.by or one.event
        if not (self._given or self._prompts):
            return "no start"
        if self._is_shared:
            return "shared"
        return "later" if first.ts > self._last else self._cause_in_time(one, first)

    def _cause_in_time(self, one: Absence, first: Event) -> Cause:
        """Find why it was not told though it was said before the session was last told anything, or asked."""
        is_users = isinstance(first, Fact) and first.effective_scope == "user"
        is_here = self._project is not None and about(self._opened.store, self._project)(first.project, first.replica)
        if not (is_users or is_here):
            return "elsewhere"
        after_it = [receipt for receipt in self._starts if receipt.ts >= first.ts]
        if any(receipt.cut for receipt in after_it):
            return "cut"
        if after_it:
            return "no room" if one.cause == "no room" else "left out"
        return "unasked"

    def _unasked(self, one: Absence) -> Absence:
        """Tell how near the prompts after it came to asking for it, by what is known now."""
        first = one.by or one.event
        texts = [str(prompt.payload.get("prompt", "")) for prompt in self._prompts if prompt.ts >= first.ts]
        score, need = max(
            (nearness(self._opened, text, one.event) for text in texts), key=lambda near: near[0], default=(0.0, 0.0)
        )
        cause: Cause = "below" if 0 < score < need else "unasked"
        return one._replace(cause=cause, score=score, need=need, had_start=bool(self._starts))


def _asks(event: HostEvent) -> bool:
    return event.name == prompt_of(event.agent) and isinstance(event.payload.get("prompt"), str)


def _was_told(given: ReceiptSources, text: str) -> bool:
    """Tell whether the words were in the answer: receipts mark its lines, those of old name only the events."""
    marks = line_marks_in(given.receipt.lines)
    if marks and has_line_mark(text, marks):
        return True
    is_start = given.receipt.trigger == "start"
    for event in _told(given):
        if _states(event, text) and (
            not marks or not is_start or any(has_line_mark(said, marks) for said in statements_of(event))
        ):
            return True
    return False


def _is_shared(events: Sequence[Event], given: Sequence[ReceiptSources]) -> bool:
    starts = (event.session_type for event in events if isinstance(event, SessionStart))
    return "shared" in {*starts, *(one.receipt.session_type for one in given)}


def _told(given: ReceiptSources) -> list[Event]:
    entries = [*given.entries, *(entry for file in given.files.values() for entry in file or ())]
    return [entry.event for entry in entries]


def _states(event: Event, text: str) -> bool:
    return statement_of(text) in map(statement_of, statements_of(event))
