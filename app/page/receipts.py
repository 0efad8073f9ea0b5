"""Receipts: what each session was given at its start and with its prompts, and what of that it used later.

A prompt that got nothing has the reason, by what is known now: the thing nearest to it, and the weight it lacked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from eventlog.app.ask.sessions import SessionRow
from eventlog.app.open_store import OpenStore
from eventlog.app.page.timeline import FileTimeline
from eventlog.app.search import recall
from eventlog.app.search.open_index import read_index
from eventlog.app.search.search_index import SearchIndex
from eventlog.format.events import ContextInjected, Event, Fact, HostEvent, StageSummary
from eventlog.format.local_time import local_time
from eventlog.format.marks import line_marks, line_marks_in, says_something
from eventlog.format.text import cut, harmless, one_line
from eventlog.hosts import protocol
from eventlog.hosts.call import typed
from eventlog.projections.search.words import tokens
from eventlog.projections.views.stats import things_saved

_PROMPT, _NEAR = 300, 120  # characters
_MAX_EXPLAINED = 60  # prompts that got nothing, the newest
_NOT_EXPLAINED = f"the reason is worked out for the newest {_MAX_EXPLAINED} of such prompts: eventlog why --session ID"


class PageReceipt(Struct, omit_defaults=True):
    """A context that a session was given, or a prompt with which it was given nothing.

    `lines` names lines by file and line, `events` what else was shown, `used` which of those the session used later.
    `best` of the `need` is what the `nearest` thing shares with a prompt that got nothing.
    """

    session: int
    at: str
    trigger: str
    chars: int = 0
    id: str = ""
    prompt: str = ""
    file: str = ""
    files: list[str] = []
    lines: list[tuple[int, int]] = []
    events: list[int] = []
    used: list[int] = []
    cut: list[str] = []
    reason: str = ""
    best: float = 0.0
    need: float = 0.0
    nearest: str = ""


def page_receipts(
    opened: OpenStore,
    read: Iterable[Event],
    rows: Sequence[SessionRow],
    numbers: dict[str, int],
    files: Sequence[FileTimeline],
) -> list[PageReceipt]:
    """List the receipts of the sessions, and their prompts that got nothing, in order."""
    places = {row.session_id: number for number, row in enumerate(rows)}
    by_session: defaultdict[int, list[Event]] = defaultdict(list)
    for event in read:
        if event.conversation_id in places:
            by_session[places[event.conversation_id]].append(event)
    finder = _ReceiptFinder(opened, numbers, files)
    found = [receipt for place, events in sorted(by_session.items()) for receipt in finder.receipts(place, events)]
    silent = [(receipt, rows[receipt.session].project or "") for receipt in found if not receipt.id]
    newest_first = sorted(silent, key=lambda receipt: receipt[0].at, reverse=True)
    if explained := newest_first[:_MAX_EXPLAINED]:
        read_index(opened.store, partial(_explain, explained))
    return found


class _ReceiptFinder:
    """The numbers of events, and the lines of files by their marks."""

    def __init__(self, opened: OpenStore, numbers: dict[str, int], files: Sequence[FileTimeline]) -> None:
        self._numbers = numbers
        self._local = local_time(opened.settings.timezone)
        self._files = {file.path: (number, file) for number, file in enumerate(files)}
        self._marked: dict[str, defaultdict[str, list[int]]] = {}

    def receipts(self, place: int, events: Sequence[Event]) -> Iterator[PageReceipt]:
        """Yield the receipts of a session, and its prompts that got nothing."""
        local = self._local
        prompt: HostEvent | None = None
        for event in events:
            match event:
                case HostEvent() if event.name == protocol(event.agent).prompt and event.payload.get("prompt"):
                    if prompt:
                        yield _silent(place, prompt, local(prompt.ts))
                    prompt = event
                case ContextInjected():
                    receipt = self._receipt(place, event, events, local(event.ts))
                    if event.trigger == "prompt" and prompt:
                        receipt.prompt, prompt = _asked(prompt), None
                    yield receipt
        if prompt:
            yield _silent(place, prompt, local(prompt.ts))

    def _receipt(self, place: int, receipt: ContextInjected, events: Sequence[Event], at: str) -> PageReceipt:
        return PageReceipt(
            place,
            at,
            receipt.trigger,
            receipt.chars,
            id=receipt.id,
            file=harmless(receipt.file),
            files=[harmless(file.path) for file in receipt.files],
            lines=self._lines(receipt),
            events=[self._numbers[source] for source in receipt.sources if source in self._numbers],
            used=[self._numbers[source] for source in _used(receipt, events) if source in self._numbers],
            cut=[*map(harmless, receipt.cut)],
        )

    def _lines(self, receipt: ContextInjected) -> list[tuple[int, int]]:
        """Find the lines of rendered files that the receipt has marks of, wherever the store lay then."""
        paths = dict.fromkeys(file.path.rpartition("/knowledge/")[2] for file in receipt.files)
        marks = sorted(line_marks_in(receipt.lines))
        return [
            (self._files[path][0], position)
            for path in paths
            if path in self._files
            for position in sorted(at for mark in marks for at in self._marks_of(path).get(mark, ()))
        ]

    def _marks_of(self, path: str) -> Mapping[str, list[int]]:
        """Map the marks of a file's lines to their positions."""
        if path not in self._marked:
            found = self._marked[path] = defaultdict[str, list[int]](list)
            for position, line in enumerate(self._files[path][1].lines):
                text = line.texts[0][1]
                if says_something(text):
                    found[line_marks([text])].append(position)
        return self._marked[path]


def _used(receipt: ContextInjected, events: Sequence[Event]) -> list[str]:
    """List the sources that name a thing which the session saved later; receipts of old do not name things."""
    if not receipt.about:
        return []
    saved = (event for event in events if isinstance(event, Fact | StageSummary) and event.ts > receipt.ts)
    later = {thing for event in saved for thing in things_saved(event)}
    named = zip(receipt.sources, receipt.about, strict=False)
    return [source for source, marks in named if not later.isdisjoint(line_marks_in(marks))]


def _silent(place: int, prompt: HostEvent, at: str) -> PageReceipt:
    return PageReceipt(place, at, "prompt", prompt=_asked(prompt), reason=_NOT_EXPLAINED)


def _asked(event: HostEvent) -> str:
    return cut(one_line(typed(str(event.payload["prompt"]))), _PROMPT)


def _explain(silent: Sequence[tuple[PageReceipt, str]], index: SearchIndex) -> None:
    """Add to prompts, each with its project, what came nearest to being shown with them."""
    for receipt, project in silent:
        if not recall.subject_of(receipt.prompt):
            receipt.reason = "the prompt is about nothing in particular"
            continue
        gate, hits = recall.candidates(index, receipt.prompt, index.names.subjects_at(project))
        weighed = [(round(gate.weight(tokens(hit.found.words)), 2), hit.found.shown) for hit in hits]
        receipt.best, nearest = max(weighed, key=lambda candidate: candidate[0], default=(0.0, ""))
        receipt.need, receipt.nearest = round(gate.needed, 2), cut(one_line(nearest), _NEAR)
        receipt.reason = "nothing is known that bears on it"
        if receipt.best >= receipt.need > 0:
            receipt.reason = "known to the session, or recorded later"
