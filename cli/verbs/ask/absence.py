"""Reports of why something is not in a memory, for people and for programs."""

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
    "repetition": "it is in {place}, in the words and of the day it was first said: {by}",
    "no room": "there is no room for it in {place}: rank {rank} of {ranked} (memory.max_lines, memory.max_bytes)",
    "replaced": "another fact of the same key stands in its place: {by}",
    "withdrawn": "it is withdrawn: {by}",
    "rejected": "a person does not want it said: {by}",
    "helper": "a helper said it: those are kept for audits and are in no file",
    "summary": "it is of a summary: those are in sessions.jsonl, sessions/ and the notes of the day, not in a memory",
    "planned": "it is planned for a knowledge base: eventlog status tells whether it waits",
    "unknown": "no view tells of it",
    "told": "the session was told: {by}, {moment}",
    "no start": "the session was given nothing: no hook has answered its start",
    "shared": "others listen to that session: it is told no memory file, and nothing about you",
    "later": "it was said after the session was last told anything",
    "elsewhere": "it is about another project than the session worked in",
    "cut": "there was no room for it in what the session was given: eventlog why --session",
    "unasked": "{start}, and no prompt of the session asked for it",
    "below": "{start}, and no prompt asked enough for it: the nearest shares {score:.1f} of the {need:.1f} it needs",
    "left out": "its start did not tell of it: what is recent goes first, and memory files are as of the last replay",
}


def _sentence(found: Absence, decided: str) -> str:
    given = found.by if isinstance(found.by, ContextInjected) else None
    return _SENTENCES[found.cause].format(
        place=found.place,
        rank=found.rank,
        ranked=found.ranked,
        by=decided,
        moment=moment_of(given) if given else "",
        start="it was said after its start" if found.had_start else "no start was given",
        score=found.score,
        need=found.need,
    )


def show_absence(found: Absence, shown: Display, *, as_json: bool) -> None:
    """Print what was said, when and by whom, and why it is not in a memory."""
    event, by = found.event, found.by
    if as_json:
        told = {"by": to_fields(by) if by else None, "event": to_fields(event)}
        emit(
            {"text": found.text, "cause": found.cause, "file": found.place, "rank": found.rank, "of": found.ranked}
            | ({"score": found.score, "need": found.need} if found.cause in ("unasked", "below") else {})
            | told
        )
        return
    if shown.is_for_people:
        for line in _lines(found, shown):
            print_line(line)
        return
    say(cut(found.text, _CHARS))
    say(f"  said {shown.when(event.ts)} by {event.agent or 'nobody known'}  [{shown.short(event.id)}]")
    decided = f"{by.agent or by.conversation_id}, {shown.when(by.ts)} [{shown.short(by.id)}]" if by else "nobody known"
    say(f"  {_sentence(found, decided)}")
    if by and found.cause in ("withdrawn", "rejected"):
        say(f"  wanted after all?  eventlog undo {shown.short(by.id)}")


def _lines(found: Absence, shown: Display) -> Iterator[str]:
    """Tell the statement once, then who said it when, then why it is not there, then what to do about that."""
    event, by = found.event, found.by
    yield from hang("", styled(clean(found.text), bold=True))
    said = f"  {styled(shown.id(event.id), fg='cyan')}  {shown.moment(event.ts)}  "
    yield f"{said}{who(event) or 'somebody'}  {kind_shown(event, 0)}"
    yield ""
    decided = f"{who(by) or 'a person'}, {shown.moment(by.ts)}, {shown.id(by.id)}" if by else "nobody known"
    yield from hang("", clean(_sentence(found, decided)))
    if by and found.cause in ("withdrawn", "rejected"):
        yield from hang("wanted after all?  ", f"eventlog undo {shown.id(by.id)}")
