"""Explain the lines of a knowledge file, why a text is missing, and what a session received: `eventlog why`."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

import click
from msgspec.structs import asdict

from eventlog.app.ask.why import FILES, LineReason, ReceiptSources, explain, known_file, names_line, replaced_by
from eventlog.app.ask.why_not import Absence
from eventlog.app.naming.names import file_line
from eventlog.app.open_store import OpenStore
from eventlog.cli import options
from eventlog.cli.progress import phase
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import count, emit, hang, marked, print_error, print_lines, say, show_lines, styled
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import ContextInjected, Event, Fact
from eventlog.format.text import cut, one_line, project_name
from eventlog.format.timestamps import order
from eventlog.log.lines import LogLine
from eventlog.projections.views.markdown import DATED, is_stamp
from eventlog.store import Store

_SHOWN = 5  # events per line of a whole file
_STATEMENTS, _TEXT = 8, 300  # shown of those that match words, and characters of each in a pipe


@options.verb(
    "eventlog why MEMORY.md",
    "eventlog why ~/.eventlog/knowledge/projects/toolkit-843ba2/MEMORY.md:7",
    "eventlog why sessions.jsonl:1 --json",
    "eventlog why --session last",
    'eventlog why --not "port 8443"',
    'eventlog why --not "port 8443" --session last',
    "eventlog why postgres 16",
    "eventlog why 8d21c0",
)
@click.argument("place", metavar="[FILE[:LINE]|ID|WORDS]", nargs=-1)
@options.current_project
@options.session_to("Instead of a file: what this session received, and when; with --not, why it did not receive TEXT.")
@click.option("--not", "text", metavar="TEXT", help="Instead of a file: why TEXT is not in a memory.")
def _why_command(
    place: tuple[str, ...], project: str | None, session: str | None, text: str | None, as_json: bool, store: Store
) -> None:
    """Show the events behind each line of a knowledge file, behind one line, or behind what a session received.

    WORDS show who said what holds here with these words in it, the id of an event who said the same.

    With --not, explains why a text is in no memory: retracted or forgotten, by whom; replaced; a repetition; no room;
    or recorded by a helper. With --not and --session, explains why that session did not receive it: said later, about
    another project, or visible only to another audience.

    FILE is any file that replay has written, or a knowledge base. MEMORY.md is that of the project, if it has one;
    user/MEMORY.md is yours.
    """
    if bool(place) == (session is not None or text is not None):
        raise click.UsageError("give a file, an id, words, --session or --not")
    opened = options.open_store(store)
    if text is not None:
        _of_absence(text, session, opened, as_json=as_json)
    elif session is not None:
        _of_session(session, opened, as_json=as_json)
    elif len(place) > 1 or not _is_of_file(here := options.open_store(store, project), place[0]):
        _of_words(" ".join(place), project, opened, as_json=as_json)
    else:
        _of_file(place[0], here, as_json=as_json)


def _is_of_file(opened: OpenStore, place: str) -> bool:
    return place.endswith(FILES) or names_line(opened, place) or os.path.isfile(known_file(opened, place))  # noqa: PTH113


def _of_words(words: str, project: str | None, opened: OpenStore, *, as_json: bool) -> None:
    from eventlog.app.naming.references import events_named
    from eventlog.app.write.current_statements import current_statements, matching

    display = Display(opened.store)
    with phase():
        found = matching(current_statements(opened.log, opened.settings, project), words)
        named = [] if found else events_named(opened.log, words, project)
        if len(named) == 1:  # an id means the same event wherever one is
            there = opened.log.find(named)[named[0]].event.project
            found = matching(current_statements(opened.log, opened.settings, there), named[0])
    if not found:
        where = f"in {project_name(project)} or about you" if project else "about you"
        hint = f"eventlog search {words} looks for each word"
        if named:
            hint = f"eventlog show {words} shows the event: it says nothing, or was withdrawn or replaced"
        raise BadRequest(f"no fact or summary {where} matches {words!r}", hint=hint)
    for statement in found[-_STATEMENTS:]:
        corrected = [entry.event for entry in replaced_by(opened.log, statement.events)]
        replaced = sorted((*statement.replaced, *corrected), key=order)
        if as_json:
            more = {"replaced": list(map(to_fields, replaced))} if replaced else {}
            emit({"text": statement.text, "events": list(map(to_fields, statement.events)), **more})
        else:
            _print_statement(statement.text, statement.events, replaced, display)
    if len(found) > _STATEMENTS and not as_json:
        say(f"and {len(found) - _STATEMENTS} older ones: say more words")


def _print_statement(text: str, events: Sequence[Event], replaced: Sequence[Event], display: Display) -> None:
    if not display.is_for_people:
        say(cut(text, _TEXT))
        _show_piped(events, replaced, display)
        return
    show_lines(_statement_lines(text, events, replaced, display))


def _statement_lines(text: str, events: Sequence[Event], replaced: Sequence[Event], display: Display) -> Iterator[str]:
    yield from hang("", styled(one_line(text), bold=True))
    yield from _sayings(text, events, replaced, display)
    yield from hang("wrong?  ", f"eventlog forget {display.id(events[-1].id)}")
    yield ""


def _of_absence(text: str, session: str | None, opened: OpenStore, *, as_json: bool) -> None:
    from eventlog.app.ask.why_not import why_not  # explaining a line needs it not

    with phase():
        absences = why_not(opened, text, session)
    for found in absences:
        _show_absence(found, Display(opened.store), as_json=as_json)


def _of_session(session: str, opened: OpenStore, *, as_json: bool) -> None:
    from eventlog.app.ask.why import receipts_of

    with phase():
        receipts = receipts_of(opened.log, opened.settings, session)
    if not receipts:
        raise BadRequest(
            f"session {session!r} received nothing",
            hint="the log has receipts only of starts that a hook or `eventlog context --session` answered",
        )
    display = Display(opened.store)
    for sources in receipts:
        if as_json:
            files = [
                {**asdict(file), "events": _fields(sources.files[file.path] or [])} for file in sources.receipt.files
            ]
            emit({"receipt": to_fields(sources.receipt), "events": _fields(sources.entries), "files": files})
        else:
            _print_receipt(sources, display)


def _print_receipt(sources: ReceiptSources, display: Display) -> None:
    if display.is_for_people:
        show_lines(_start_lines(sources, display))
        return
    receipt = sources.receipt
    cut = "".join(f", cut: {name}" for name in receipt.cut)
    say(f"{receipt.ts}: given {_moment_of(receipt)}, {count(receipt.chars, 'character')}{cut}")
    display.show_events(_events(sources.entries))
    for file in receipt.files:
        say(f"{file.path}: {f'as of {file.as_of}' if file.as_of else f'sha256 {file.digest[:12]}, not from the log'}")
        entries = sources.files[file.path] or []
        display.show_events(_events(entries[:_SHOWN]))
        if len(entries) > _SHOWN:
            say(f"    and {len(entries) - _SHOWN} more: --json shows all")


def _of_file(place: str, opened: OpenStore, *, as_json: bool) -> None:
    (name, number), display = file_line(place), Display(opened.store)
    file = known_file(opened, name)
    explained = explain(opened, file, number)
    if not explained:
        print_error(f"{place} is empty: no event is behind it", "eventlog diff shows what it said before")
    elif as_json:
        for line in explained:
            also = {"rejected": line.rejected, "replaced": line.replaced}
            more = {name: _fields(entries) for name, entries in also.items() if entries}
            emit({"line": line.number, "text": line.text, "events": _fields(line.entries or []), **more})
    elif not display.is_for_people:
        for line in explained:
            if number is not None or line.text.strip():
                _print(line, _SHOWN if number is None else None, display)
    elif number is None:
        show_lines(_whole_file(place, explained, display))
    else:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        above = [] if lines[number - 1].startswith("#") else reversed(lines[: number - 1])
        heading = _words(next((line for line in above if line.startswith("#")), ""))
        show_lines(_reason_lines(place, explained[0], heading, display))


def _fields(entries: Sequence[LogLine]) -> list[dict[str, object]]:
    return list(map(to_fields, _events(entries)))


def _events(entries: Iterable[LogLine]) -> list[Event]:
    return [entry.event for entry in entries]


def _print(line: LineReason, limit: int | None, display: Display) -> None:
    """Print a line and at most `limit` of its events in a pipe."""
    say(f"{line.number}: {cut(line.text, 100)}")
    for decision in line.rejected:
        say(f"    you asked to forget this; to allow it again: eventlog undo {display.short(decision.event.id)}")
    if line.entries is None:
        say(f"    {UNKNOWN}")
        return
    more = len(line.entries) - limit if limit else 0
    further = f"    and {more} more: eventlog why …:{line.number}" if more > 0 else ""
    _show_piped(_events(line.entries[:limit]), _events(line.replaced[:limit]), display, further)


def _show_piped(events: Sequence[Event], replaced: Sequence[Event], display: Display, further: str = "") -> None:
    display.show_events(events)
    if further:
        say(further)
    if replaced:
        say("    replaced:")
        display.show_events(replaced)


_BULLET = re.compile(rf"^{DATED}")
UNKNOWN = "not from the log: written by hand, or by another version"


def _reason_lines(place: str, reason: LineReason, heading: str, display: Display) -> Iterator[str]:
    """Yield one line, its events with their words, and the command to forget it."""
    yield styled(one_line(place), bold=True) + (f"   {one_line(heading)}" if heading else "")
    yield from hang("  ", one_line(_words(reason.text)))
    yield ""
    if reason.entries is None:
        yield UNKNOWN
    else:
        behind, replaced = map(_events, (reason.entries, reason.replaced))
        yield from _sayings(_words(reason.text), behind, replaced, display)
    for decision in reason.rejected:
        yield f"{marked('✗')} you asked to forget it, {display.moment(decision.event.ts)}"
        yield from hang("to allow it again  ", f"eventlog undo {display.id(decision.event.id)}")
    if reason.entries and not reason.rejected:
        yield ""
        yield from hang("wrong?  ", f"eventlog forget {one_line(place)}")


def _sayings(text: str, events: Sequence[Event], replaced: Sequence[Event], display: Display) -> Iterator[str]:
    yield _count_line(events)
    yield from display.sayings(events, text)
    if replaced:
        yield ""
        yield styled("replaced", bold=True)
        yield from display.sayings(replaced, text)


def _whole_file(place: str, reasons: Sequence[LineReason], display: Display) -> Iterator[str]:
    """Yield every line with its first and last event."""
    number_room = len(str(len(reasons)))
    for reason in reasons:
        if not reason.text.strip() or is_stamp(reason.text):
            continue
        if reason.text.startswith("#"):
            yield styled(one_line(_words(reason.text)), bold=True)
            continue
        yield from hang(styled(f"{reason.number:>{number_room}}  ", fg="cyan"), one_line(_words(reason.text)))
        indent = " " * (number_room + 2)
        yield from hang(indent, styled(_in_short(reason.entries, display), dim=True))
    yield styled(f"every event of a line: eventlog why {one_line(place)}:LINE", dim=True)


def _words(line: str) -> str:
    """Strip Markdown marks and the date from a line."""
    return _BULLET.sub("", line.lstrip("#").strip().removeprefix("- "))


def _in_short(entries: Sequence[LogLine] | None, display: Display) -> str:
    if not entries:
        return UNKNOWN if entries is None else "no event"
    ends = [entries[0].event, entries[-1].event] if len(entries) > 1 else [entries[0].event]
    text = ", ".join(f"{display.who(event) or 'unknown'} {display.moment(event.ts)}" for event in ends)
    return f"{text} · {count(len(entries), 'event')}" if len(entries) > 1 else text


def _count_line(events: Sequence[Event]) -> str:
    sessions = {event.conversation_id for event in events}
    agents = {event.agent for event in events if event.agent}
    times = "said once" if len(events) == 1 else f"said {len(events):,} times"
    if not all(isinstance(event, Fact) for event in events):
        times = count(len(events), "event")
    of_agents = [count(len(agents), "agent")] if agents else []  # an import may know of none
    return " · ".join([times, count(len(sessions), "session"), *of_agents])


def _start_lines(sources: ReceiptSources, display: Display) -> Iterator[str]:
    """Yield size and time of a receipt, then its events, then its files."""
    receipt = sources.receipt
    behind = [sources.entries, *(found or [] for found in sources.files.values())]
    each = {entry.event.id: entry for found in behind for entry in found}
    entries = sorted(each.values(), key=lambda entry: order(entry.event))
    much = [count(receipt.chars, "character"), f"from {count(len(entries), 'event')}"]
    remaining = [f"no room for {', '.join(map(one_line, receipt.cut))}"] if receipt.cut else []
    head = f"{styled(f'given {_moment_of(receipt)}, {display.moment(receipt.ts)}', bold=True)} · "
    yield from hang(head, " · ".join([" ".join(much), *remaining]))
    yield from display.event_lines(_events(entries))
    if receipt.files:
        yield styled("files it received", bold=True)
    for file in receipt.files:
        number = count(len(sources.files[file.path] or ()), "event")
        as_of = f"as of {display.moment(file.as_of)}, {number}" if file.as_of else "not from the log"
        yield from hang("  ", one_line(f"{file.path} · {as_of}"))


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
        moment=_moment_of(receipt) if receipt else "",
        start="it was recorded after the start" if found.had_start else "the session received no start",
        score=found.score,
        need=found.need,
    )


def _show_absence(found: Absence, display: Display, *, as_json: bool) -> None:
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
        print_lines(_lines(found, display))
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
    yield from hang("", styled(one_line(found.text), bold=True))
    head = f"  {styled(display.id(event.id), fg='cyan')}  {display.moment(event.ts)}  "
    yield f"{head}{display.who(event) or 'unknown'}  {display.kind(event)}"
    yield ""
    decided = f"{display.who(by) or 'a person'}, {display.moment(by.ts)}, {display.id(by.id)}" if by else "unknown"
    yield from hang("", one_line(_sentence(found, decided)))
    if by and found.cause in ("withdrawn", "rejected"):
        yield from hang("to allow it again  ", f"eventlog undo {display.id(by.id)}")


def _moment_of(receipt: ContextInjected) -> str:
    """Describe the moment of a receipt in its session."""
    match receipt.trigger:
        case "start":
            return "at its start"
        case "prompt" if receipt.failure:
            return "when a command failed"
        case "prompt":
            return "at a prompt"
        case "file":
            return f"when it opened {one_line(receipt.file) or 'a file'}"
