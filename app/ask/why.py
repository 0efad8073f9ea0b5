"""The events behind a line of a knowledge file, and behind what a session was given."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache, partial
from itertools import chain
from pathlib import Path, PurePath
from typing import NamedTuple

from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.replay import replay
from eventlog.app.build.storage import base_files, base_targets
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.names import SEARCH, did_you_mean, file_line, with_project_named
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest, system_reason
from eventlog.format.events import (
    ContextInjected,
    Event,
    Fact,
    KnowledgeEdited,
    KnownFile,
    PlanEntry,
    StageSummary,
)
from eventlog.format.marks import has_line_mark, line_marks_in, says_something
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import statement_of
from eventlog.format.timestamps import order
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.projections.base import Document, Line, Projection, Sources
from eventlog.projections.bases.drift import locate
from eventlog.projections.bases.ledger import Ledger
from eventlog.projections.bases.sections import Page
from eventlog.projections.catalog import installed
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.replay import Replays
from eventlog.projections.engine.row_store import RowsDamaged
from eventlog.projections.views.markdown import DATED, stamped_at, unescaped
from eventlog.projects.root import in_full
from eventlog.settings.schema import Settings
from eventlog.store.files import read_regular

FILES = (".md", ".jsonl")
_SHORTEST = 8  # characters of a line that is a part of a statement
_BULLET = re.compile(rf"^- ({DATED})?")


class LineReason(NamedTuple):
    """A line of a file, and the events it comes from, oldest first; None where the log does not have it.

    `rejected` are the decisions of people, in force now, against what it says: the file is older, or a person's.
    `replaced` are the events whose statements it took the place of, oldest first.
    """

    number: int
    text: str
    entries: list[LogLine] | None
    rejected: tuple[LogLine, ...] = ()
    replaced: tuple[LogLine, ...] = ()

    @property
    def events(self) -> list[Event]:
        """The events behind the line."""
        return [entry.event for entry in self.entries or ()]

    @property
    def is_of_section(self) -> bool:
        """Return whether entries or a person wrote it into a section; a line about a session that planned is none."""
        kinds = {type(event) for event in self.events}
        return not kinds.isdisjoint((PlanEntry, KnowledgeEdited)) and kinds.isdisjoint((Fact, StageSummary))

    def shown_statements(self) -> list[str]:
        """List the statements of the events that the line shows, whole or the beginning there was room for."""
        shown = statement_of(unescaped(self.text.strip().removeprefix("- ")))
        begun = shown.rpartition("…")[0] if "…" in shown else shown
        stated = dict.fromkeys(statement_of(text) for event in self.events for text in statements_of(event))
        return [text for text in stated if text in shown or (len(begun) >= _SHORTEST and begun in text)]


def explain(
    opened: OpenStore, file: Path, number: int | None = None, own: Sequence[Projection] = ()
) -> list[LineReason]:
    """Explain every line of a rendered file or of a knowledge base, or the one asked for; raises BadRequest.

    A rendered file tells of when it is; it is explained by the log as of then, wherever it lies. A knowledge base is
    explained section by section; what is there twice or says something else than the log is a person's. `own` are
    projections besides those installed.
    """
    try:
        return _explain(opened, file, number, own)
    except RowsDamaged:  # what is behind a line is read when somebody asks for it
        return _explain(opened, file, number, own, anew=True)


def _explain(
    opened: OpenStore, file: Path, number: int | None, own: Sequence[Projection], *, anew: bool = False
) -> list[LineReason]:
    data = _read(file, opened)
    views = [*installed().projections, *own]
    rendered = partial(replay, opened.log, opened.settings, projections=views, anew=anew)
    past = cache(lambda until: rendered(until=until))
    sources = past(EVERYTHING).line_sources(file.resolve(), data)
    rendered_at = None if sources else _rendered_at(data, file, past)
    if rendered_at:
        sources = past(rendered_at).line_sources(file.resolve(), data)
    path, targets = str(file.resolve()), base_targets(opened, past(rendered_at or EVERYTHING).knowledge)
    base = next((base for base in targets if base.target.identity == path), None)
    lines = data.decode(errors="replace").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if number is not None and not 1 <= number <= len(lines):
        raise BadRequest(f"there is no line {number}", where=str(file), hint=f"it has {len(lines)} lines")
    if base:
        behind = _by_section(data, base.ledger, base.target.shown)
    else:
        behind = sources if number in sources else _align(lines, _document_of(file, past, rendered_at))
    wanted = range(1, len(lines) + 1) if number is None else [number]
    found = {row: behind[row].behind() for row in wanted if row in behind}
    entries = _log_lines(opened.log, set(found.values()))
    reasons = [LineReason(row, lines[row - 1], entries[found[row]] if row in found else None) for row in wanted]
    reasons = [reason._replace(replaced=replaced_by(opened.log, reason.events)) for reason in reasons]
    return _with_rejections(opened.log, reasons, past(EVERYTHING).index.withdrawn)


def reasons_behind(opened: OpenStore, place: str) -> list[LineReason]:
    """Explain `FILE`, or one line of it as `FILE:LINE`; raises BadRequest."""
    file, number = file_line(place)
    return explain(opened, known_file(opened, file), number)


def names_line(opened: OpenStore, text: str) -> bool:
    """Return whether a text is `FILE:LINE`, and no other text with a number behind a colon: `localhost:8080`."""
    file, number = file_line(text)
    return number is not None and (file.endswith(FILES) or os.path.isfile(known_file(opened, file)))  # noqa: PTH113


def replaced_by(log: EventLog, events: Iterable[Event]) -> tuple[LogLine, ...]:
    """Find what facts took the place of, and what that had replaced before, oldest first."""
    found: dict[str, LogLine] = {}
    while wanted := {before for fact in events if isinstance(fact, Fact) for before in fact.replaces} - found.keys():
        new = log.find(wanted)
        found |= new
        events = [entry.event for entry in new.values()]
    return tuple(sorted(found.values(), key=lambda entry: order(entry.event)))


def _with_rejections(log: EventLog, reasons: list[LineReason], withdrawn: Retractions) -> list[LineReason]:
    if not (withdrawn.statements or withdrawn.rejected_events):
        return reasons
    against = [_rejections(reason, withdrawn) for reason in reasons]
    found = log.find({event_id for ids in against for event_id in ids})
    return [
        reason._replace(rejected=tuple(found[event_id] for event_id in ids if event_id in found))
        for reason, ids in zip(reasons, against, strict=True)
    ]


def _rejections(reason: LineReason, withdrawn: Retractions) -> list[str]:
    texts = [_BULLET.sub("", unescaped(reason.text.strip())), *reason.shown_statements()]
    by_id = [rejection for event in reason.events for rejection in withdrawn.rejections_of(event)]
    return list(dict.fromkeys([*by_id, *(rejection for text in texts for rejection in withdrawn.rejections(text))]))


def known_file(opened: OpenStore, name: str) -> Path:
    """Find the file of a name: an existing path, a file of the project or of the knowledge directory, or a base.

    Without a working directory, a path begins in the knowledge directory.
    """
    knowledge = Path(opened.store.knowledge)
    typed = Path("" if opened.machine.cwd else knowledge, in_full(name, str(opened.machine.home)))
    paths = KnownProjects(opened.store).paths_at(opened.machine.cwd, name)
    for file in (typed, *(knowledge / path for path in paths)):
        if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises for a name that is too long
            return file
    found = [knowledge / path for path in with_project_named(name, _rendered(opened))]
    found = found or base_files(opened, name)
    return found[0] if len(found) == 1 else typed


def _rendered(opened: OpenStore) -> list[str]:
    """List the memories there are, and what else lies beside them."""
    root = Path(opened.store.knowledge)
    return sorted(path.relative_to(root).as_posix() for path in (*root.glob("*.*"), *root.glob("projects/*/*.md")))


def _read(file: Path, opened: OpenStore) -> bytes:
    try:
        return read_regular(str(file))
    except (OSError, ValueError) as error:  # the latter: no path has a NUL
        otherwise = f"name a file that `eventlog replay` has written; {SEARCH}"
        hint = did_you_mean(str(file), _rendered(opened), otherwise)
        what = "no such file"
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            what = f"cannot be read: {system_reason(error)[0]}"
        raise BadRequest(what, where=str(file), hint=hint) from error


def _by_section(data: bytes, ledger: Ledger, shown: str) -> dict[int, Line]:
    """Map each line number to the entry or text that its section is of, and what a person decided about it."""
    page = Page(data)
    behind: dict[int, Line] = {}
    for key, section in locate(page, ledger.expected_digests(shown), ledger.headings).items():
        history = ledger.histories.get(key)
        if history and history.now and page.text(section) == history.now.body:
            events = tuple(source.event for source in history.sources)
            decided = (ledger.decisions[event].id for event in events if event in ledger.decisions)
            sources, persons = (*events, *decided), history.persons
            for number in range(section.start, section.end):
                text = page.lines[number].decode(errors="replace")
                by_person = persons.get(text.rstrip("\r\n"))
                behind[number + 1] = Line(text, (by_person,) if by_person else sources)
    return behind


def _rendered_at(data: bytes, file: Path, past: Replays) -> str | None:
    """Read the time a rendered file is of; None where it carries none, or what it was then is what it is now."""
    rendered_at = stamped_at(data)
    now = past(EVERYTHING).document_of(file.resolve()) if rendered_at else None
    return None if now and now.data == data else rendered_at


def _document_of(file: Path, past: Replays, rendered_at: str | None) -> Document:
    document = past(rendered_at or EVERYTHING).document_of(file.resolve())
    if document is None:
        raise BadRequest(
            "is not a file that replay renders", where=str(file), hint="see the knowledge directory of the store"
        )
    return document


def _align(lines: list[str], document: Document) -> dict[int, Line]:
    """Map each line number to the line of the document; lines a person wrote have none."""
    texts = [line.text for line in document.lines]
    if texts == lines:
        return dict(enumerate(document.lines, 1))
    texts, lines = ([_BULLET.sub("- ", text) for text in some] for some in (texts, lines))  # who said it again later
    blocks = SequenceMatcher(a=lines, b=texts, autojunk=False).get_matching_blocks()
    return {block.a + step + 1: document.lines[block.b + step] for block in blocks for step in range(block.size)}


def _log_lines(log: EventLog, behind: Collection[Sources]) -> dict[Sources, list[LogLine]]:
    """Read the log's lines for what lines refer to, each once: the title of an index stands for all there is."""
    named = log.find({event for events, _ in behind for event in events})
    spoken = log.index.entries_of({conversation for _, conversations in behind for conversation in conversations})

    def of(events: Sequence[str], conversations: Sequence[str]) -> list[LogLine]:
        main = (entry for one in conversations for entry in spoken[one] if not entry.event.subagent)
        found = {entry.event.id: entry for entry in chain((named[event] for event in events if event in named), main)}
        return sorted(found.values(), key=lambda entry: order(entry.event))

    return {sources: of(*sources) for sources in behind}


class ReceiptSources(NamedTuple):
    """The sources of a receipt: events shown by themselves, and per file those behind its lines.

    None for a file that was not rendered from the log.
    """

    receipt: ContextInjected
    entries: list[LogLine]
    files: dict[str, list[LogLine] | None]


def receipts_of(log: EventLog, settings: Settings, conversation_id: str) -> list[ReceiptSources]:
    """Find everything the session was ever given, oldest first."""
    receipts = [event for event in log.session(conversation_id) if isinstance(event, ContextInjected)]
    past = cache(lambda as_of: replay(log, settings, until=as_of))
    return [_explain_receipt(log, receipt, past) for receipt in receipts]


def _explain_receipt(log: EventLog, receipt: ContextInjected, past: Replays) -> ReceiptSources:
    behind = {file.path: _sources_of(log, file, past, line_marks_in(receipt.lines)) for file in receipt.files}
    found = log.find({*receipt.sources, *(event for events in behind.values() for event in events or ())})
    # whatever the files still said
    withdrawn_by_then = Retractions(withdrawals_until(log, open_for_reading(log.store), receipt.ts))

    def loaded(events: list[str]) -> list[LogLine]:
        entries = (
            found[event] for event in events if event in found and not withdrawn_by_then.hides(found[event].event)
        )
        return sorted(entries, key=lambda entry: order(entry.event))

    files = {path: None if events is None else loaded(events) for path, events in behind.items()}
    return ReceiptSources(receipt, loaded(receipt.sources), files)


def _sources_of(log: EventLog, file: KnownFile, past: Replays, marks: set[str]) -> list[str] | None:
    """Return the sources of the shown lines of a rendered file, as it was then; None of any other file.

    The beginning of a file may have been all there was room for; receipts of old do not mark lines.
    """
    knowledge = PurePath(log.store.knowledge)
    if file.as_of is None or not PurePath(file.path).is_relative_to(knowledge):
        return None
    name = PurePath(file.path).relative_to(knowledge).as_posix()
    document = past(file.as_of).document(name)
    lines = document.lines if document else ()
    shown = (line for line in lines if not marks or (says_something(line.text) and has_line_mark(line.text, marks)))
    return list(dict.fromkeys(event for line in shown for event in line.sources))
