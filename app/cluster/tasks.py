"""The work of a cluster's workers: days of a store become parts, and all parts of a store its documents."""

from collections.abc import Collection, Sequence
from itertools import chain

from msgspec import Struct

from eventlog.app.cluster.addresses import StoreListing, StorePlace, read_day
from eventlog.log.days import Day
from eventlog.log.lines import Damage
from eventlog.projections import fold
from eventlog.projections.catalog import chosen
from eventlog.projections.fold import Part


class StoreFiles(Struct):
    """The documents of a store, as path and bytes, and the report of their replay."""

    files: dict[str, bytes]
    events: int
    days: int
    damage: list[Damage]
    broken: dict[str, str]  # projection of another package -> why it says nothing


def fold_days(place: StorePlace, days: Sequence[Day], names: Sequence[str]) -> list[Part]:
    """Fold some days of a store, each by itself."""
    projections = chosen(names)
    return [fold.fold_day(read_day(place, day), projections=projections) for day in days]


def render_store(
    place: StorePlace, listed: StoreListing, folded: Sequence[Sequence[Part]], names: Sequence[str], asked: Part
) -> StoreFiles:
    """Render a store of its parts, and of those days anew that hold copies of another day's events.

    `asked` is a part of no day, of whoever asks: no worker renders with other versions than theirs.
    """
    projections, by_date = chosen(names), {day.date: day for day in listed.days}
    parts = [asked, *chain.from_iterable(folded)]

    def has(date: str, ids: Collection[str]) -> frozenset[str]:
        return fold.holding(read_day(place, by_date[date]), ids) if date in by_date else frozenset()

    left_out = fold.copies(parts, has)
    anew = [fold.fold_day(read_day(place, by_date[date]), ids, projections) for date, ids in left_out.items()]
    rest = [part for part in parts if not part.days.keys() & left_out.keys()]
    done = fold.replayed(fold.merge([*rest, *anew]), listed.settings, projections)
    files = {document.path: document.data for document in done.documents}
    return StoreFiles(files, done.events, done.days, done.damage, done.broken)
