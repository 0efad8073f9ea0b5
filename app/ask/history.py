"""Show documents as of a time or without some events, how they changed, and which event turned a line.

Every question about another time asks here: each step is a replay of the log cut there. Pure over the log: reads no
file of people's, and writes only what the cache keeps.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, takewhile
from operator import itemgetter
from pathlib import Path, PurePath
from typing import NamedTuple

from eventlog.app.build.replay import replay
from eventlog.app.build.storage import base_targets
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.names import did_you_mean, with_project_named
from eventlog.app.open_store import OpenStore
from eventlog.fast.fastjson import text as spelled
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event, Fact, Rejected, Withdrawal
from eventlog.format.retractions import decided_by, goals_of
from eventlog.format.text import same_text
from eventlog.format.timestamps import order
from eventlog.log.event_log import EventLog
from eventlog.log.lines import LogLine
from eventlog.projections.base import Document, Line, Projection
from eventlog.projections.catalog import installed
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.markdown import DATED, unescaped, unstamped
from eventlog.projects.root import in_full
from eventlog.store import index_lookup


class Omission(NamedTuple):
    """Events to leave out: of whole conversations, single events, and of some agents; by full ids and names."""

    sessions: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()

    def keeps(self, event: Event) -> bool:
        """Return whether an event stays in."""
        is_named = event.id in self.events or event.conversation_id in self.sessions
        return not (is_named or event.agent in self.agents)

    def dates(self, log: EventLog) -> set[str]:
        """Find the days whose bytes name any of it; all events of the others stay in."""
        marks = [mark for name in chain(*self) for mark in index_lookup.marks(name)]
        held = ((day.date, data or b"") for day in log.days() for data in (day.contents() if marks else ()))
        return {date for date, data in held if any(mark in data for mark in marks)}


NOTHING = Omission()


class TextChange(NamedTuple):
    """A document that differs, or None. Lines are without the stamp."""

    path: str
    before: list[str] | None
    after: list[str] | None


def replay_at(
    opened: OpenStore,
    until: str = EVERYTHING,
    without: Omission = NOTHING,
    projections: Sequence[Projection] | None = None,
) -> ReplayResult:
    """Replay the events up to a time without some of them; all projections there are, unless some are named."""
    return replay(
        opened.log,
        opened.settings,
        projections=installed().projections if projections is None else projections,
        until=until,
        keep=None if without == NOTHING else without.keeps,
        concerns=without.dates(opened.log).__contains__,
    )


def changes(before: ReplayResult, after: ReplayResult) -> list[TextChange]:
    """List the documents whose lines differ, apart from their stamps; files that are current in both are not read."""
    texts: tuple[dict[str, list[str]], ...] = ({}, {})
    both = [(replayed, set(replayed.units()), found) for replayed, found in zip((before, after), texts, strict=True)]
    # an index of everything comes last: it is outdated where one that it is made of turns out to be
    for unit in sorted(both[0][1] | both[1][1], key=lambda unit: (not unit[1], unit)):
        was, now = (replayed.index.current_files.get(unit) for replayed, _, _ in both)
        if was is None or was != now:
            for replayed, units, found in both:
                rendered = replayed.rendered(unit) if unit in units else ()
                found |= {document.path: unstamped(document) for document in rendered}
    return _changes(*texts)


def _changes(was: Mapping[str, list[str]], now: Mapping[str, list[str]]) -> list[TextChange]:
    found = (TextChange(path, was.get(path), now.get(path)) for path in sorted({*was, *now}))
    return [change for change in found if change.before != change.after]


def document_meant(opened: OpenStore, name: str, *replays: ReplayResult) -> str:
    """Find the document of these replays by a path, the end of a path, a knowledge base or its file.

    Raises BadRequest.
    """
    file = Path(in_full(name, opened.machine.home)).resolve()
    here = Path(opened.store.knowledge).resolve()
    # what is not rendered for this question need not be: to list all paths takes as long as a replay
    for path in (*KnownProjects(opened.store).paths_at(opened.machine.cwd, name), os.path.relpath(file, here)):
        if any(replayed.document(path) for replayed in replays):
            return path
    for place, _, target in (base for replayed in replays for base in base_targets(opened, replayed.knowledge)):
        if target.identity == str(file) or name in (place.base, target.shown, PurePath(target.shown).name):
            return place.document
    paths = sorted({path for replayed in replays for path in replayed.paths})
    if len(named := with_project_named(name, paths)) == 1:
        return named[0]
    fitting = [path for path in paths if file == here / path or ("/" in path and str(file).endswith(f"/{path}"))]
    if not fitting:
        raise BadRequest(f"the log renders no file {name!r}", hint=did_you_mean(name, paths))
    return max(fitting, key=len)


def diff(opened: OpenStore, since: str, until: str = EVERYTHING, file: str | None = None) -> list[TextChange]:
    """Compare every document, or the named file, as of two times; raises BadRequest for an unknown file."""
    before, after = replay_at(opened, since), replay_at(opened, until)
    if file is None:
        return changes(before, after)
    path = document_meant(opened, file, after, before)
    found = (replayed.document(path) for replayed in (before, after))
    return _changes(*({one.path: unstamped(one)} if one else {} for one in found))


_BULLET = re.compile(rf"^(- )?{DATED}")  # what a file puts before a text
_DECIDING = (b'"rejected"', b'"retraction"', b'"restored"', b'"entry_resolved"')
_SPELLED_OTHERWISE = range(0x80, 0xFB07)  # characters: in lower case some are ASCII, or several


class TurningPoint(NamedTuple):
    """The event after which the text was there (`came`), or was no more; and how many replays that took."""

    path: str
    entry: LogLine
    came: bool
    replays: int


class _Moment(NamedTuple):
    ts: str
    id: str


class _History:
    """The events in order, and the positions of those that hold the text, or decide about such an event."""

    def __init__(self, log: EventLog, text: str) -> None:
        self._log = log
        self._needle = spelled(_BULLET.sub("", text)).decode()[1:-1].casefold()

    @cached_property
    def moments(self) -> list[_Moment]:
        """List all events: to read them takes most of the time, and a text that is in no event needs none of them."""
        found = ((event.ts[:10], *order(event), event.ts) for event in self._log.mentioning([b"{"]))
        return [_Moment(ts, event_id) for _, _, event_id, ts in sorted(found)]

    @cached_property
    def mentions(self) -> list[int]:
        """List the positions of the events that hold the text."""
        return [self._places[event.id] for event in self._holders]

    @cached_property
    def deciding(self) -> list[int]:
        """List the positions of events that decide about one before them that holds the text, or have its key."""
        keys = {spelled(event.key) for event in self._holders if isinstance(event, Fact) and event.key}
        named = ((self._places[event.id], event) for event in self._log.mentioning([*_DECIDING, *keys]))
        return [at for at, event in sorted(named, key=itemgetter(0)) if self._is_decided(at, event)]

    def _is_decided(self, at: int, event: Event) -> bool:
        holders = self._holders[: bisect_left(self.mentions, at)]
        names = {name for holder in holders for name in (holder.id, holder.conversation_id, *_key(holder))}
        stated = goals_of(holders, [event]) if isinstance(event, Rejected) else set()
        return not {*decided_by(event), *_key(event)}.isdisjoint(names | stated)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {moment.id: at for at, moment in enumerate(self.moments)}

    @cached_property
    def _holders(self) -> list[Event]:
        """List the events that hold the text, in order; what withdraws some does not hold it."""
        found = self._log.entries(mentioning=_marks(self._needle))
        return [entry.event for entry in found if not isinstance(entry.event, Withdrawal) and self._is_in(entry.line)]

    def _is_in(self, line: bytes) -> bool:
        return self._needle in line.decode(errors="replace").casefold()


def bisect(opened: OpenStore, file: str, text: str) -> TurningPoint:
    """Find where a text entered a file, or left it; raises BadRequest.

    After a look at how it is now, that takes at most log2 n replays of the log cut somewhere, n being its events; where
    the text has left the file, one more.
    """
    now = replay_at(opened)
    path = document_meant(opened, file, now)
    history = _History(opened.log, text)
    cuts = _Cuts(opened, path, text, history)
    # sources are read when they are asked for, and a replay may write beside
    behind = now.unless_damaged(lambda: [line.sources for line in _holding(now.document(path), text)])
    position = _came(cuts, history, behind) if behind else _left(cuts, history)
    moment = history.moments[position]
    return TurningPoint(path, opened.log.find([moment.id])[moment.id], bool(behind), 1 + len(cuts.known))


class _Cuts:
    """The file as the log had it after so many events."""

    def __init__(self, opened: OpenStore, path: str, text: str, history: _History) -> None:
        self._opened, self.path, self._text, self._history = opened, path, text, history
        self._views = [view for view in installed().projections if view.owns_path(path)]
        self.known: dict[int, bool] = {}  # by the number of events: one replay each

    def has(self, count: int) -> bool:
        """Return whether the text is there after the first `count` events."""
        if count not in self.known:
            self.known[count] = self._look(count)
        return self.known[count]

    def _look(self, count: int) -> bool:
        moments = self._history.moments
        ts = moments[count - 1].ts
        alike = takewhile(lambda later: later.ts == ts, islice(moments, count, None))
        without = Omission(events=frozenset(moment.id for moment in alike))
        then = replay_at(self._opened, ts, without, self._views).document(self.path)
        return bool(_holding(then, self._text))


def _came(cuts: _Cuts, history: _History, behind: list[tuple[str, ...]]) -> int:
    """Find the event that brought the text in, likely one behind its lines; before the first event it is nowhere."""
    sources = set(chain.from_iterable(behind))
    positions = [at for at, moment in enumerate(history.moments) if moment.id in sources] or history.mentions
    return _turn(0, len(history.moments), [*positions[:1], *positions[-1:]], cuts.has)


def _left(cuts: _Cuts, history: _History) -> int:
    """Find the event that took the text out, after the last or the first event that holds it; raises BadRequest."""
    ends = [*history.mentions[-1:], *history.mentions[:1]]
    end = len(history.moments) if ends else 0
    for start in (position + 1 for position in dict.fromkeys(ends)):
        if start != end and (len(set(ends)) == 1 or cuts.has(start)):
            decided = [at for at in history.deciding if at >= start]
            likely = [*decided[-1:], *decided[:1]]  # what took it out last: it may have come back between
            position = _turn(start, end, likely, lambda count: not cuts.has(count))
            if position != start or cuts.has(start):
                return position
        end = start
    raise BadRequest("no event put this text there", where=cuts.path, hint="try fewer words, as the file spells them")


def _turn(start: int, end: int, likely: Collection[int], has_turned: Callable[[int], bool]) -> int:
    """Find the position of the event that turned it: not yet so after `start` events, and so after `end`.

    At most log2 (end - start) looks; those at a likely event are looks before and after it.
    """
    looks = (end - start - 1).bit_length()
    while end - start > 1:
        middle = next(_affordable(start, end, looks, likely), (start + end) // 2)
        start, end = (start, middle) if has_turned(middle) else (middle, end)
        looks -= 1
    return start


def _affordable(start: int, end: int, looks: int, likely: Iterable[int]) -> Iterator[int]:
    """Yield how many events to look after, to see a likely one turn it: halves must still do if it did not.

    Of the looks before and after it that comes first which leaves, if it is as expected, enough of them for the other.
    """
    for position in likely:
        for count, rest in ((position, end - position - 1), (position + 1, position - start)):
            halves_do = max(count - start, end - count) <= 2 ** (looks - 1)
            if start < count < end and halves_do and rest <= 2 ** (looks - 2):
                yield count


def _marks(needle: str) -> list[bytes]:
    """Return bytes, in lower case, of which a line has some if it holds this in any case; none if any line may."""
    certain = "".join(char if char.isascii() or char.upper() == char else "\n" for char in needle)
    longest = max(certain.split("\n"), key=len)
    disguises = (
        char
        for char in map(chr, _SPELLED_OTHERWISE)
        if char != char.casefold() and not set(longest).isdisjoint(char.casefold())
    )
    return [char.encode() for char in (longest, *disguises)] if longest else []


def _key(event: Event) -> list[str]:
    return [f"key {event.key}"] if isinstance(event, Fact) and event.key else []


def _holding(document: Document | None, text: str) -> list[Line]:
    """List the lines that hold the text."""
    wanted = same_text(text)
    lines = document.lines[: len(unstamped(document))] if document else ()
    return [line for line in lines if text in line.text or wanted in same_text(unescaped(line.text))]
