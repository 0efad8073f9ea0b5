"""Erase what should never have been written: find what is meant and where it stands, then erase it everywhere."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from eventlog.app.ask.query import texts_in
from eventlog.app.ask.why import names_line
from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.codex_export import copies_of
from eventlog.app.build.rebuild import record_changes, replay_store
from eventlog.app.build.replay import replay
from eventlog.app.build.storage import LocalFile, base_targets
from eventlog.app.naming.names import SEARCH
from eventlog.app.naming.references import event_named
from eventlog.app.open_store import OpenStore
from eventlog.app.write.erasing.erase_everywhere import (
    IN_FILES,
    Erasing,
    Receipt,
    begin,
    complete,
    day_files,
    erase_arrived,
    files_below,
)
from eventlog.app.write.erasing.erased_text import SHORTEST, Needles, bytes_of, folded, text_of
from eventlog.app.write.forget import forgettable
from eventlog.app.write.rejections import worded
from eventlog.fast import fastjson, os
from eventlog.format.codec import json_of
from eventlog.format.errors import BadRequest, Busy, NotStored
from eventlog.format.events import (
    HUMAN,
    ConversationText,
    EntryResolved,
    Event,
    Fact,
    KnowledgeEdited,
    PlanEntry,
    Rejected,
    StageSummary,
)
from eventlog.format.marks import digest_of
from eventlog.format.retractions import Retractions, statements_of
from eventlog.log.event_log import EventLog
from eventlog.projections.bases import sections
from eventlog.projections.bases.sections import Page
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.views.markdown import is_untouched
from eventlog.secrets.redacted import Redactions, is_only_markers
from eventlog.store import Store
from eventlog.store.files import read, replace_file
from eventlog.store.locks import locked

_LONG = 12  # characters of an event's text from which on it is looked for in other places, too
_MAX = 1_000  # different texts that one pattern may match
_ESCAPED = (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&"), ('\\"', '"'), ("\\\\", "\\"))  # in a page's JSON


class Redactable(NamedTuple):
    """The plan of a redaction: the events, the other files, and what stays because it is out of reach."""

    erasing: Erasing
    events: list[str]
    files: list[str]  # below the store by their names there, else by their paths


def redactable(
    opened: OpenStore,
    reference: str | None = None,
    *,
    session: str | None = None,
    pattern: str | None = None,
    texts: Sequence[str] = (),
) -> Redactable:
    """Find what is meant by an id, a line (`FILE:LINE`), a text, a session's id, a pattern or exact texts, and where.

    Raises BadRequest where nothing is found, and for a text that is too short.
    """
    complete(opened.store)  # one that was killed, and could not be finished so far
    if os.path.exists(opened.store.redactions):
        with suppress(Busy), locked(opened.store, opened.store.lock("replay"), patience=0):
            erase_arrived(opened.store)  # or the replay before the redaction leaves nothing of it
    erasing = Erasing(number=_next_number(opened.store), ts=opened.machine.now(), what="", key=os.urandom(32).hex())
    if texts:
        erasing.what, erasing.texts = "secrets", list(texts)
    elif pattern is not None:
        erasing.what, erasing.texts = "pattern", _matching(opened, pattern)
    elif session is not None:
        events = [entry.event for entry in opened.log.session_entries(session)]
        erasing.what, erasing.events, erasing.texts = "session", [event.id for event in events], long_texts(events)
    else:
        erasing.what, erasing.events, erasing.texts = _meant(opened, reference or "")
    return _located(opened, erasing)


def _next_number(store: Store) -> int:
    found = Redactions.of(store)
    return found.last + 1 if found else 1


def redact(opened: OpenStore, chosen: Redactable) -> Receipt:
    """Erase, and rebuild what is made from the log; raises NotStored, also where not everything could be erased."""
    record_changes(opened)  # that is erased, too

    def prepare() -> Erasing:  # others may have been carried out since: the number is the next, and markers have it
        erasing = _located(opened, replace(chosen.erasing, number=_next_number(opened.store))).erasing
        opened.log.put([*_rejected_as_erased(opened.log, Needles(erasing.texts, erasing.number))])
        return erasing

    receipt = begin(opened.store, prepare)
    replay_store(opened, anew=True, indexes=False)
    return receipt


def _rejected_as_erased(log: EventLog, needles: Needles) -> Iterator[Rejected]:
    """Reject forgotten statements as they are once words of them are erased: a digest is of all the words."""
    rejections = Retractions(withdrawals_until(log, open_for_reading(log.store))).decisions
    for rejection, forgotten in zip(rejections, worded(log, rejections), strict=True):
        text = needles.without(forgotten.statement or "")
        if text != (forgotten.statement or "") and not is_only_markers(text):  # of the others no text stays
            batch, salt = rejection.batch or rejection.id, rejection.salt or ""  # one `undo` takes back both
            new = Rejected(conversation_id=HUMAN, agent=HUMAN, salt=salt, digest=digest_of(text, salt), batch=batch)
            yield replace(new, source=rejection.source)


def _meant(opened: OpenStore, reference: str) -> tuple[str, list[str], list[str]]:
    """Read as an id, then as `FILE:LINE`, else as a text: the kind, the events to empty, the texts to erase."""
    if event := event_named(opened.log, reference, opened.machine.project):
        return "event", [event], long_texts([entry.event for entry in opened.log.find([event]).values()])
    if names_line(opened, reference):
        found = forgettable(opened, reference)
        exact = [text for line in found for entry in line.behind for text in statements_of(entry.event)]
        shown = {folded(line.text) for line in found}
        return "line", [], sorted({line.text for line in found} | {text for text in exact if folded(text) in shown})
    if len(folded(reference)) < SHORTEST:
        hint = f"give {SHORTEST} characters or more"
        raise BadRequest(f"{reference!r} is too short: it stands in too much", hint=hint)
    return "text", [], [reference]


def long_texts(events: Iterable[Event]) -> list[str]:
    """List the texts of events that are long enough to be meant wherever they stand."""
    return sorted({text for event in events for text in _texts_of(event) if len(text) >= _LONG})


def _texts_of(event: Event) -> Iterator[str]:
    match event:
        case Fact() | StageSummary() | PlanEntry():
            yield from statements_of(event)
        case KnowledgeEdited() | EntryResolved():
            yield from filter(None, [event.content])
        case ConversationText():
            yield from (event.title, event.closing, *event.prompts)


def _matching(opened: OpenStore, pattern: str) -> list[str]:
    """Find the texts that a pattern matches, in the log and in the other files of the store; raises BadRequest."""
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise BadRequest(f"not a regular expression: {error}", where="--pattern") from error
    found: set[str] = set()
    for path in files_below(opened.store.root):
        for line in (read(path) or b"").split(b"\n"):
            fields = fastjson.object_in(line)
            texts = texts_in(fields, with_names=True) if fields else [line.decode("utf-8", "replace")]
            found.update(match[0] for text in texts for match in wanted.finditer(text))
        if len(found) > _MAX:
            raise BadRequest(f"matches more than {_MAX:,} texts", where="--pattern", hint="make it narrower")
    short = next((text for text in sorted(found) if len(folded(text)) < SHORTEST), None)
    if short is not None:
        raise BadRequest(f"matches {short!r}, which is too short: it stands in too much", where="--pattern")
    return sorted(found)


def _located(opened: OpenStore, erasing: Erasing) -> Redactable:
    """Find every place; raises BadRequest where nothing is found."""
    needles, store = Needles(erasing.texts, erasing.number), opened.store
    own = {store.redaction_keys, store.redactions, store.seals, store.rewritten}
    own.update(files_below(store.cache))  # of which all is made anew
    holding = [path for path in files_below(store.root) if path not in own and needles.are_in(_content(path))]
    log = day_files(store)
    entries = [fields for path in log for fields in _lines_of(path, needles, erasing.events, path in holding)]
    config = f"{store.root}/config.yaml"
    remaining = [path for path in holding if path == config]
    bases = _bases(opened, needles, erasing, entries)
    copies = [str(path) for path in copies_of(store) if needles.are_in(_content(str(path)))]
    remaining += [path for path in copies if not is_untouched(read(path) or b"")]  # somebody else has changed them
    for path in bases:  # the lines that a person wrote, and the log does not know
        text = needles.without_in_lines(_content(path), set(erasing.lines))
        remaining += [f"{path}:{text.count(chr(10), 0, start) + 1}" for start, _ in needles.places(text)]
    remaining += _transcripts(log, needles, entries)
    remaining += [path for path in _written_reports(store) if needles.are_in(_report_text(path))]
    located = replace(erasing, bases=bases, copies=copies, left=sorted(set(remaining)))
    events = list(dict.fromkeys(str(fields.get("id")) for fields in entries))
    files = [path.removeprefix(f"{store.root}/") for path in holding if path != config]
    if not events and not files and not bases and not copies:
        raise BadRequest("nothing of it is in the log or in any file of the store", hint=SEARCH)
    return Redactable(located, events, [*files, *bases, *copies])


def _lines_of(path: str, needles: Needles, ids: list[str], is_holding: bool) -> Iterator[dict[str, object]]:
    """Yield the events of a day file, `is_holding` any of the texts or not, that hold any of them, or are to go."""
    wanted, named = set(ids), [event_id.encode() for event_id in ids]
    data = (read(path) or b"") if is_holding or ids else b""
    if not is_holding and not any(event_id in data for event_id in named):
        return
    for line in data.split(b"\n"):
        if needles.are_in(text_of(line)) or any(event_id in line for event_id in named):
            fields = fastjson.object_in(line)
            if fields.get("id") in wanted or any(map(needles.are_in, texts_in(fields, with_names=True))):
                yield fields


def _bases(opened: OpenStore, needles: Needles, erasing: Erasing, entries: list[dict[str, object]]) -> list[str]:
    """Find the files of knowledge bases in which the log wrote any of the texts; notes what it knows of them."""
    texts = [text for fields in entries if fields.get("type") in IN_FILES for text in texts_in(fields, with_names=True)]
    erasing.lines = sorted({folded(line) for text in texts for line in text.split("\n") if line.strip()})
    found: list[str] = []
    if not texts:
        return found
    knowledge = replay(opened.log, opened.settings).knowledge
    for _, _, target in base_targets(opened, knowledge):
        if isinstance(target, LocalFile) and (data := target.read()) and needles.are_in(text_of(data)):
            found.append(target.identity)
            new = bytes_of(needles.without_in_lines(text_of(data), set(erasing.lines)))
            erasing.digests |= _digests(data, new)
    return found


def _digests(before: bytes, after: bytes) -> dict[str, str]:
    """Map the digests of the sections of a page to those they will have."""
    old, new = Page(before), Page(after)
    pairs = zip(old.sections, new.sections, strict=False)
    digests = ((sections.digest(old.text(section)), sections.digest(new.text(other))) for section, other in pairs)
    return {section: other for section, other in digests if section != other}


def _transcripts(log: list[str], needles: Needles, entries: list[dict[str, object]]) -> list[str]:
    """Find the transcripts of the same conversations that hold any of the texts: only their hosts write them."""
    conversations = {fields.get("conversation_id") for fields in entries}
    named = (line for path in log for line in (read(path) or b"").split(b"\n") if b'"transcript_path"' in line)
    starts = (fields for line in named if (fields := fastjson.object_in(line)))
    paths = {str(fields.get("transcript_path")) for fields in starts if fields.get("conversation_id") in conversations}
    return sorted(path for path in paths if Path(path).is_file() and needles.are_in(_content(path)))


def _content(path: str) -> str:
    return text_of(read(path) or b"")


# --------------------------------------------------------------------- pages in files that people asked for


def write_report(store: Store, path: str, page: str) -> str:
    """Write a page where a person wants it, for them alone; return its full path. Raises BadRequest or NotStored."""
    place = str(Path(path).absolute())
    if Path(place).exists() and not Path(place).is_file():  # a device or a pipe would be replaced by the page
        raise BadRequest("is not a regular file", where=place, hint="name a file, or - for stdout")
    replace_file(place, page.encode())
    with suppress(NotStored):  # the page is what was asked for
        replace_file(store.cached("reports.json"), msgspec.json.encode([*_written_reports(store, place), place]))
    return place


def _written_reports(store: Store, but: str = "") -> list[str]:
    """List the reports that were written and are still there."""
    paths = json_of(read(store.cached("reports.json")), list[str]) or ()
    return [path for path in paths if path != but and Path(path).is_file()]


def _report_text(path: str) -> str:
    """Read the text of a report, as events have it."""
    text = _content(path)
    for escaped, meant in _ESCAPED:
        text = text.replace(escaped, meant)
    return text
