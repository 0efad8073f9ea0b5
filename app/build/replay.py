"""A replay of a store's log, with the cache of that store."""

import os
import zlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import lru_cache, partial
from pathlib import Path

from eventlog.app.build import cache
from eventlog.app.build.workers import Workers
from eventlog.app.build.zone_offsets import note_offsets
from eventlog.app.progress import READING, report
from eventlog.app.search import database
from eventlog.app.search.open_index import invalidate
from eventlog.format.errors import NotStored
from eventlog.log.days import unreadable
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Projection
from eventlog.projections.catalog import ALL
from eventlog.projections.engine.day_states import EVERYTHING, Concerns, Keep
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.engine.replay import replay as fold_and_render
from eventlog.projections.engine.row_store import MemoryRows, RowsDamaged
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.locks import locked

_MAX_SHARE = 3 / 4  # of the days: to take away their rows takes as long as to make those of the others


def replay(
    log: EventLog,
    settings: Settings,
    *,
    projections: Sequence[Projection] = ALL,
    until: str = EVERYTHING,
    keep: Keep | None = None,
    concerns: Concerns = bool,
    anew: bool = False,
    writes: bool = False,
    workers: Workers | None = None,
) -> ReplayResult:
    """Render the events with `ts <= until` that `keep` accepts.

    Without `workers`, this starts its own and ends them. With `anew` nothing in the cache is used, nor with `keep` its
    days that it `concerns`: all, unless that is known.
    With `writes`, the result's `save` writes the cache; without, it stays as it is, and is made anew where it is of
    another program: else every question reads the whole log until the next replay. A cache that is damaged is made
    anew; where it cannot be made, the log is read.
    """
    writes = writes and until == EVERYTHING and keep is None and Path(log.store.log).is_dir()
    zone = settings.timezone
    rules = _time_zone_rules(zone) if zone != "UTC" else None
    if rules and writes:
        with suppress(NotStored):  # a session's start loads them
            note_offsets(log.store, zone, rules)
    with report(READING) as progress, nullcontext(workers) if workers else Workers() as helping:
        run = partial(
            fold_and_render,
            log,
            settings,
            projections=projections,
            until=until,
            keep=keep,
            concerns=concerns,
            surroundings=f"{zlib.crc32(rules.read_bytes())}" if rules else "",
            progress=progress,
            executor=helping.executor,
        )
        if writes or not anew:
            if anew:
                _empty_cache(log.store)
            found = cache.open_cache(log.store, writes=writes)
            if not (found or writes):
                found = _made_cache(partial(run, until=EVERYTHING, keep=None), log)
            if found:
                differs = None if writes else lambda day: day > until or bool(keep and concerns(day))
                return _with(run, log, found, differs)
        return run()


def _with(
    run: Callable[..., ReplayResult], log: EventLog, found: cache.StoreCache, differs: Concerns | None
) -> ReplayResult:
    """Replay with a cache, into it unless days may differ, and once more without what is damaged in it."""

    def again(error: RowsDamaged) -> ReplayResult:
        found.close()
        if error.for_good and not differs:
            database.delete(log.store.cached("knowledge.db"))
        return run()

    try:
        done = run(cache=_overlay(found, differs) if differs else found)
    except RowsDamaged as error:
        return again(error)
    done.again = again
    if not differs:
        done.save = found.save
    return done


def _empty_cache(store: Store) -> None:
    """Delete what is made of the whole log, unless a day cannot be read now: what it withdraws would come back."""
    if not unreadable(store.log):
        for name in ("knowledge.db", "dialogues.sqlite"):
            database.delete(store.cached(name))
        invalidate(store)


def _made_cache(run: Callable[..., ReplayResult], log: EventLog) -> cache.StoreCache | None:
    """Replace another program's cache, unless a replay is at it, and open it for reading.

    None where it cannot be replaced, and where there is none: a question creates nothing.
    """
    store = log.store
    if not os.path.isfile(store.cached("knowledge.db")):  # noqa: PTH113 - Path.is_file raises in a closed directory
        return None
    with suppress(NotStored), locked(store, store.lock("replay"), patience=0):
        made = cache.open_cache(store, writes=True)
        if made:
            _with(run, log, made, None).save()
            made.close()
    return cache.open_cache(store, writes=False)


def _overlay(found: cache.StoreCache, differs: Concerns) -> MemoryRows:
    """Open an overlay of the cache; where most days differ, it has only those before the first. Raises RowsDamaged."""
    days = found.blocks("day", "")
    differing = [*filter(differs, days)]
    return MemoryRows((), found, differing[0] if len(differing) > _MAX_SHARE * len(days) else "")


@lru_cache
def _time_zone_rules(name: str) -> Path:
    """Find the file with the rules of a time zone; it changes with the system's."""
    from importlib.resources import files
    from zoneinfo import TZPATH

    places = (Path(folder, name) for folder in TZPATH)
    found = next((place for place in places if place.is_file()), None)
    return found or Path(str(files("tzdata").joinpath("zoneinfo", *name.split("/"))))
