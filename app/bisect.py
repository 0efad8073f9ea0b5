"""Find the event that brought a line into a file, or took it out: each step is a replay of the log cut there."""

import re
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import NamedTuple

from eventlog.app.open_store import OpenStore
from eventlog.app.what_if import Omission, document_meant, replay_at, text_of
from eventlog.errors import BadRequest
from eventlog.events import Event, Fact, Retraction
from eventlog.fastjson import text as spelled
from eventlog.log_line import LogLine
from eventlog.projections.base import Document
from eventlog.projections.catalog import installed
from eventlog.projections.raw_html import as_said
from eventlog.text import same_text

_TRIES = 2  # places a text is likely to turn at, looked at before halves are
_BULLET = re.compile(r"^(- )?\[\d{4}-\d\d-\d\d\] ")  # what a file puts before a text


class TurningPoint(NamedTuple):
    """The event after which the text was there (`came`), or was no more; and how many replays that took."""

    path: str
    entry: LogLine
    came: bool
    replays: int


class _Moment(NamedTuple):
    ts: str
    id: str


class _History(NamedTuple):
    """The events in order, and the positions of those that hold the text, or decide about one that does."""

    moments: list[_Moment]
    mentions: list[int]
    deciding: list[int]


def bisect(opened: OpenStore, file: str, text: str) -> TurningPoint:
    """Find where a text came into a file that has it, or left one that has not; raises BadRequest.

    Likely places come first, then halves: with n events that is at most log2 n replays and a few.
    """
    now = replay_at(opened)
    path = document_meant(opened, file, now)
    history = _read(opened, text)
    cuts, end, came = (
        _Cuts(opened, path, text, history.moments),
        len(history.moments),
        _has(now.document(path), text),
    )
    start = 0 if came else _last_seen(cuts, history)
    likely = history.mentions if came else [at for at in history.deciding if at >= start]
    position = _turn(start, end, likely[:_TRIES], lambda count: cuts.has(count) == came)
    moment = history.moments[position]
    return TurningPoint(path, opened.log.find([moment.id])[moment.id], came, cuts.replays)


class _Cuts:
    """The file as the log had it after so many events."""

    def __init__(self, opened: OpenStore, path: str, text: str, moments: list[_Moment]) -> None:
        self._opened, self._path, self._text, self._moments = opened, path, text, moments
        self._views = [view for view in installed().projections if view.owns_path(path)]
        self.replays = 1  # that of now

    def has(self, count: int) -> bool:
        """Tell whether the text is there after the first `count` events."""
        self.replays += 1
        ts = self._moments[count - 1].ts
        alike = takewhile(lambda later: later.ts == ts, self._moments[count:])
        without = Omission(events=frozenset(moment.id for moment in alike))
        return _has(replay_at(self._opened, ts, without, self._views).document(self._path), self._text)


def _turn(start: int, end: int, likely: Iterable[int], has_turned: Callable[[int], bool]) -> int:
    """Find the position of the event that turned it: not yet so after `start` events, and so after `end`."""
    first = [count for position in likely for count in (position + 1, position)]
    while end - start > 1:
        middle = next((count for count in first if start < count < end), (start + end) // 2)
        start, end = (start, middle) if has_turned(middle) else (middle, end)
    return start


def _last_seen(cuts: _Cuts, history: _History) -> int:
    """Find a number of events after which the text was there; raises BadRequest."""
    for position in dict.fromkeys([*history.mentions[-1:], *history.mentions[:1]]):
        if cuts.has(position + 1):
            return position + 1
    raise BadRequest(
        "the text is not in the file, and no event says when it was", hint="try fewer words, as the file spells them"
    )


def _read(opened: OpenStore, text: str) -> _History:
    moments: list[_Moment] = []
    mentions: list[int] = []
    deciding: list[int] = []
    said: set[str] = set()  # ids, conversations and keys of events that hold the text
    needle = spelled(_BULLET.sub("", text)).decode()[1:-1].casefold()
    for entry in opened.log.entries():
        if not _names(entry.event).isdisjoint(said):
            deciding.append(len(moments))
        if needle in entry.line.decode(errors="replace").casefold():
            mentions.append(len(moments))
            said |= {entry.event.id, entry.event.conversation_id, *_key(entry.event)}
        moments.append(_Moment(entry.event.ts, entry.event.id))
    return _History(moments, mentions, deciding)


def _names(event: Event) -> set[str]:
    """Collect what an event may put an end to."""
    if isinstance(event, Retraction):
        return {str(event.target or event.conversation)}
    return set(_key(event))


def _key(event: Event) -> list[str]:
    return [f"key {event.key}"] if isinstance(event, Fact) and event.key else []


def _has(document: Document | None, text: str) -> bool:
    wanted = same_text(text)
    return any(text in line or wanted in same_text(as_said(line)) for line in text_of(document) or ())
