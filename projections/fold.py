"""Fold without a store: bytes of days become parts, parts merge, and the whole is rendered.

    parts = [fold_day(day) for day in days]                    # anywhere, in any order
    left_out = copies(parts, has)                              # events that two days have
    parts = [fold_day(day, left_out.get(day.date)) for …]      # those few days once more
    documents = render(merge(parts), settings)                 # the bytes of `eventlog replay --out`

A part is data: it can be pickled, sent, kept and merged in any grouping, and names all versions it depends on. Its unit
is a day of one log, all files of it together: counting the same day twice is refused, and so is mixing versions.
"""

import unicodedata
import zlib
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eventlog.format.errors import BadRequest
from eventlog.format.events import VERSIONS
from eventlog.log.days import Day, DuplicateFilter, Holds, ListedDays
from eventlog.log.lines import Damage
from eventlog.projections.base import Document, Projection
from eventlog.projections.catalog import ALL
from eventlog.projections.current.conversations import Conversations, Knowledge
from eventlog.projections.engine.day_fold import DayRow
from eventlog.projections.engine.day_states import DayStates
from eventlog.projections.engine.replay import ReplayResult, replay
from eventlog.projections.engine.row_store import MemoryRows, StoredRow
from eventlog.projections.engine.whole_states import WholeStateProjections
from eventlog.settings.schema import Settings
from eventlog.store import is_own


class DayBytes(NamedTuple):
    """The files of a UTC day of a log, all of them; `damage` lists files that could not be read."""

    log: str
    date: str
    files: tuple[tuple[str, bytes], ...]  # name and contents, in any order
    damage: tuple[Damage, ...] = ()


class _PartDay(msgspec.Struct, frozen=True):
    """The rows of a day; `misdated` are ids that name another day, `left_out` those that do not count here."""

    rows: list[StoredRow]
    events: int
    misdated: list[str] = []
    left_out: list[str] = []
    is_settled: bool = True  # nobody has to ask any more which of them count
    broken: dict[str, str] = {}  # projection of another package -> why it says nothing


class Part(msgspec.Struct, frozen=True):
    """Folded days of a log."""

    log: str
    versions: dict[str, str]
    days: dict[str, _PartDay]  # by date, oldest first

    @property
    def events(self) -> int:
        """Count the events, each once."""
        return sum(day.events for day in self.days.values())


def fold_day(day: DayBytes, left_out: Collection[str] | None = None, projections: Sequence[Projection] = ALL) -> Part:
    """Fold all files of a day without the events `left_out`, a result of `copies`; None: not known yet."""
    rows = MemoryRows()
    states = DayStates(ListedDays([_day_of(day)], left_out or ()), rows)
    states.catch_up(lambda _done, _all: None)
    whole = WholeStateProjections(rows, states, Settings())
    whole.fold(_whole(projections))
    row = states.rows[day.date]
    row.damage = [*day.damage, *row.damage]
    rows.write("day", "", day.date, msgspec.msgpack.encode(row))
    settled = left_out is not None or not row.misdated
    of_day = [stored for stored in rows.all() if stored[2] == day.date]
    found = _PartDay(of_day, row.events, row.misdated, row.left_out, is_settled=settled, broken=whole.broken)
    return Part(day.log, _versions_of(projections), {day.date: found})


def holding(day: DayBytes, ids: Collection[str]) -> frozenset[str]:
    """Find which of the ids a day has, for `copies`."""
    return frozenset(event.id for event in _day_of(day).load()[0]) & frozenset(ids)


def copies(parts: Iterable[Part], has: Holds) -> dict[str, frozenset[str]]:
    """Find the misdated ids of each day that count on another day: fold the day again without them."""
    elsewhere, found = DuplicateFilter(has), merge(parts).days
    return {date: elsewhere.of(day.misdated) for date, day in found.items() if day.misdated}


def empty(log: str, projections: Sequence[Projection] = ALL) -> Part:
    """Create the part of no day: merging it changes nothing."""
    return Part(log, _versions_of(projections), {})


def merge(parts: Iterable[Part]) -> Part:
    """Unite parts of one log; raises BadRequest where a day is in two of them, or versions differ."""
    whole: Part | None = None
    found: dict[str, _PartDay] = {}
    for part in parts:
        whole = whole or part
        if part.log != whole.log:
            raise BadRequest(f"parts of {whole.log!r} and of {part.log!r} do not merge", hint="a part is of one log")
        _refuse_others(part.versions, whole.versions, "one part", "another")
        if twice := min(part.days.keys() & found.keys(), default=None):
            raise BadRequest(f"{twice} is in two parts", hint="fold all files of a day together, and merge it once")
        found |= part.days
    if whole is None:
        raise BadRequest("there is no part to merge", hint="`empty` makes that of no day")
    return Part(whole.log, whole.versions, dict(sorted(found.items())))


def render(part: Part, settings: Settings, projections: Sequence[Projection] = ALL) -> list[Document]:
    """Render all documents of a log, ordered by path; raises BadRequest for a part of another version."""
    return replayed(part, settings, projections).documents


def replayed(part: Part, settings: Settings, projections: Sequence[Projection] = ALL) -> ReplayResult:
    """Replay a part of a log; raises BadRequest for a part of another version."""
    own = _versions_of(projections)
    others = {name: version for name, version in part.versions.items() if name in own}
    _refuse_others(others, own, "a part", "this program")
    unsettled = next((date for date, day in part.days.items() if not day.is_settled), None)
    if unsettled:
        hint = "ask `copies` of all parts, and fold that day without what it names"
        raise BadRequest(f"{unsettled} has events that another day may have too", hint=hint)
    rows = MemoryRows(row for day in part.days.values() for row in day.rows)
    broken = {name: why for day in part.days.values() for name, why in day.broken.items()}
    intact = [projection for projection in projections if projection.name not in broken]
    done = replay(_listed_days(part), settings, projections=intact, cache=rows)
    done.broken.update(broken)
    return done


def _listed_days(part: Part) -> ListedDays:
    """List the days of a part, without files: nothing is left to read, and all copies are decided."""
    is_copy: dict[str, bool] = {}  # misdated id -> whether the first day that has it leaves it out
    for day in part.days.values():
        for event_id in day.misdated:
            is_copy.setdefault(event_id, event_id in day.left_out)
    return ListedDays(
        [Day(date, (), ()) for date in part.days], [event_id for event_id, left_out in is_copy.items() if left_out]
    )


def _day_of(day: DayBytes) -> Day:
    """Sort the files of a day; raises BadRequest where two have the same name."""
    files = sorted(day.files, key=lambda file: (not is_own(file[0]), file[0]))
    if len({name for name, _ in files}) < len(files):
        raise BadRequest(f"two files of {day.date} have one name", hint="name each after the machine it came from")
    return Day(day.date, tuple(name for name, _ in files), tuple(data for _, data in files))


def _refuse_others(left: dict[str, str], right: dict[str, str], of_left: str, of_right: str) -> None:
    """Refuse versions that differ; raises BadRequest."""
    for name in sorted(left.keys() | right.keys()):
        if left.get(name) != right.get(name):
            first, second = left.get(name, "none"), right.get(name, "none")
            what = f"{of_left} was made with {name} {first}, {of_right} with {second}"
            raise BadRequest(what, hint="fold with one version")


def _whole(projections: Iterable[Projection]) -> list[Projection]:
    """List the projections that the cache stores as a whole state."""
    return [projection for projection in projections if not projection.view]


_BUILT_IN: tuple[type[Any], ...] = (Conversations, Knowledge)


def _versions_of(projections: Iterable[Projection]) -> dict[str, str]:
    """List the versions of the program, of its data, and of the state of each of these projections."""
    states = (*_BUILT_IN, *(projection.state for projection in _whole(projections)))
    found = {f"{state.__module__}.{state.__qualname__}": f"{state.version}" for state in states}
    return dict(sorted({**found, **_of_program()}.items()))


@cache
def _of_program() -> dict[str, str]:
    return {
        "eventlog": version("agent-eventlog"),
        "events": _checksum(sorted(VERSIONS.items())),
        "schema": _checksum(msgspec.json.schema_components([DayRow, *_BUILT_IN])[1]),
        "Unicode": unicodedata.unidata_version,
        "time zones": _time_zones(),
    }


def _time_zones() -> str:
    """Return the edition of the time-zone data in use: the system's, else that of the package `tzdata`."""
    from zoneinfo import TZPATH

    for folder in TZPATH:
        rules = Path(folder, "tzdata.zi")
        if rules.is_file():  # begins with "# version 2025b"
            return rules.read_text(encoding="utf-8").split("\n", 1)[0].rpartition(" ")[2]
        if Path(folder, "Europe").is_dir():
            return _all_zones()
    return str(import_module("tzdata").IANA_VERSION)


def _all_zones() -> str:
    """Digest the rules of a system that does not name their edition."""
    from zoneinfo import TZPATH, available_timezones

    places = (Path(folder, name) for name in sorted(available_timezones()) for folder in TZPATH)
    return _checksum([zlib.crc32(place.read_bytes()) for place in places if place.is_file()])


def _checksum(data: Any) -> str:
    return f"{zlib.crc32(msgspec.json.encode(data, order='sorted')):08x}"
