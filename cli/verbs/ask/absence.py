"""Explain why a text is in no memory, or why a session did not receive it."""

from collections.abc import Iterator

from eventlog.app.ask.why_not import Absence
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import kind_shown, moment_of, who
from eventlog.cli.terminal import clean, emit, hang, print_line, say, styled
from eventlog.format.codec import to_fields
from eventlog.format.events import ContextInjected
from eventlog.format.text import cut

_CHARS = 100
_SENTENCES = {
    "there": "it is in {place}, rank {rank} of {ranked}",
    "repetition": "{place} has it, with the words and date of its first event: {by}",
    "no room": "{place} has no room for it: rank {rank} of {ranked} (memory.max_lines, memory.max_bytes)",
    "replaced": "a newer fact with the same key replaced it: {by}",
    "withdrawn": "it was retracted: {by}",
    "rejected": "a person asked to forget it: {by}",
    "helper": "a helper recorded it: such events are for audits and reach no file",
    "summary": "it comes from a summary: see sessions.jsonl, sessions/ and the daily notes",
    "planned": "it is planned for a knowledge base: see eventlog status",
    "unknown": "no view shows it",
    "told": "the session received it: {by}, {moment}",
    "no start": "the session received nothing: no hook answered its start",
    "shared": "the session is shared: it receives no memory file and nothing about you",
    "later": "it was recorded after the session last received anything",
    "elsewhere": "it is about another project than the session's",
    "cut": "the budget of the session's start had no room for it: eventlog why --session",
    "unasked": "{start}, and no prompt of the session matched it",
    "below": "{start}, and no prompt matched it enough: the nearest has weight {score:.1f} of {need:.1f}",
    "left out": "its start left it out: recent facts go first, and memory files date from the last replay",
}


def _sentence(found: Absence, decided: str) -> str:
    receipt = found.by if isinstance(found.by, ContextInjected) else None
    return _SENTENCES[found.cause].format(
        place=found.place,
        rank=found.rank,
        ranked=found.ranked,
        by=decided,
        moment=moment_of(receipt) if receipt else "",
        start="it was recorded after the start" if found.had_start else "the session received no start",
        score=found.score,
        need=found.need,
    )


def show_absence(found: Absence, display: Display, *, as_json: bool) -> None:
    """Print the text, its event, and why no memory has it."""
    event, by = found.event, found.by
    if as_json:
        events = {"by": to_fields(by) if by else None, "event": to_fields(event)}
        emit(
            {"text": found.text, "cause": found.cause, "file": found.place, "rank": found.rank, "of": found.ranked}
            | ({"score": found.score, "need": found.need} if found.cause in ("unasked", "below") else {})
            | events
        )
        return
    if display.is_for_people:
        for line in _lines(found, display):
            print_line(line)
        return
    say(cut(found.text, _CHARS))
    say(f"  said {display.when(event.ts)} by {event.agent or 'unknown'}  [{display.short(event.id)}]")
    decided = f"{by.agent or by.conversation_id}, {display.when(by.ts)} [{display.short(by.id)}]" if by else "unknown"
    say(f"  {_sentence(found, decided)}")
    if by and found.cause in ("withdrawn", "rejected"):
        say(f"  to allow it again: eventlog undo {display.short(by.id)}")


def _lines(found: Absence, display: Display) -> Iterator[str]:
    """Yield the text, its event, the reason, and the remedy."""
    event, by = found.event, found.by
    yield from hang("", styled(clean(found.text), bold=True))
    head = f"  {styled(display.id(event.id), fg='cyan')}  {display.moment(event.ts)}  "
    yield f"{head}{who(event) or 'unknown'}  {kind_shown(event, 0)}"
    yield ""
    decided = f"{who(by) or 'a person'}, {display.moment(by.ts)}, {display.id(by.id)}" if by else "unknown"
    yield from hang("", clean(_sentence(found, decided)))
    if by and found.cause in ("withdrawn", "rejected"):
        yield from hang("to allow it again  ", f"eventlog undo {display.id(by.id)}")
