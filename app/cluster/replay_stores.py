"""Many stores, replayed on a Dask cluster: workers fold days into parts, and parts into the documents of a store.

Dask decides what runs where and when, and runs again what was lost with a worker. Its libraries are those of the extra
`cluster`.
"""

import logging
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from eventlog.app.build.publish import PublishResult, publish
from eventlog.app.progress import Progress, no_progress
from eventlog.format.errors import BadRequest, EventLogError, NotStored, library, system_reason
from eventlog.log import days
from eventlog.log.days import Day
from eventlog.log.lines import Damage
from eventlog.projections import fold
from eventlog.projections.base import Document, Projection
from eventlog.projections.catalog import chosen
from eventlog.projections.fold import DayBytes, Part
from eventlog.settings import load
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.files import file_stamp, read_regular

_SCHEME = "://"
_LOCAL = re.compile(r"local(?::([1-9]\d*))?", re.ASCII)
_PATIENCE = "10s"


class StorePlace(NamedTuple):
    """The address of a store, and its name among the replayed stores."""

    name: str
    address: str

    @property
    def log(self) -> str:
        """Return the address of its log."""
        return f"{self.address}/log"


class _StoreListing(NamedTuple):
    """The settings of a store and the files of its days, unread; `size` is what these have in all, in bytes."""

    settings: Settings
    days: list[Day]
    size: int


def places(addresses: Iterable[str]) -> list[StorePlace]:
    """Name stores by as many last parts of their addresses as make the names unique.

    A `*` in an address of fsspec stands for all that is there; in paths, the shell has seen to it. Raises BadRequest
    where one store is named twice.
    """
    found = list(dict.fromkeys(place for address in addresses for place in _expanded(address)))
    parts = [address.rpartition(_SCHEME)[2].strip("/").split("/") for address in found]
    single = ([part[-level] for part in parts] for level in range(1, min(map(len, parts), default=0) + 1))
    joined = (["-".join(part[-count:]) for part in parts] for count in range(2, max(map(len, parts), default=0) + 1))
    for names in chain(single, joined):
        if len({name.casefold() for name in names}) == len(names) and all(name.strip(".") for name in names):
            return [StorePlace(name, address) for name, address in zip(names, found, strict=True)]
    raise BadRequest("the addresses do not tell all stores apart", hint="name each store once")


def listing(place: StorePlace) -> _StoreListing:
    """List what a store holds; raises BadRequest, BadSettings, and any error of its file system."""
    if not _is_there(place.log):
        raise BadRequest("there is no log", where=place.log, hint="name the directory of a store")
    if _SCHEME not in place.address:
        found = days.list_days(place.log)
        size = sum(file_stamp(file)[0] for day in found for file in day.files)
        return _StoreListing(load.load(Store(place.address)).settings, found, size)
    system, path = _opened(place.log)
    sizes = {item["name"]: item["size"] or 0 for item in system.ls(path, detail=True) if item["type"] == "file"}
    found = days.by_date(f"{place.log}/{name.rpartition('/')[2]}" for name in sizes)
    settings, file = Settings(), f"{place.address}/config.yaml"
    with suppress(FileNotFoundError):
        settings = load.parse(_read(file), file).settings
    return _StoreListing(settings, found, sum(sizes.values()))


def _read_day(place: StorePlace, day: Day) -> DayBytes:
    """Read the files of a day; raises BadRequest where this machine does not see the store."""
    found, damage = [], []
    for file in day.files:
        try:
            found.append((file, _read(file)))
        except OSError as error:
            if not _is_there(place.log):
                raise BadRequest("is not there for a worker", where=place.log, hint="mount it, or copy it") from error
            damage.append(Damage.of_file(file, system_reason(error)[0]))
    return DayBytes(place.name, day.date, tuple(found), tuple(damage))


def _read(file: str) -> bytes:
    if _SCHEME not in file:
        return read_regular(file)
    system, path = _opened(file)
    data: bytes = system.cat_file(path)
    return data


def _is_there(directory: str) -> bool:
    if _SCHEME not in directory:
        return Path(directory).is_dir()
    system, path = _opened(directory)
    system.invalidate_cache()
    return bool(system.isdir(path))


def _expanded(address: str) -> Sequence[str]:
    if _SCHEME not in address:
        return [Store(address).root]
    if "*" not in address:
        return [address.rstrip("/")]
    system, pattern = _opened(address.rstrip("/"))
    return [system.unstrip_protocol(path) for path in sorted(system.glob(pattern))]


def _opened(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it; raises BadRequest."""
    try:
        system, path = library("fsspec.core", "cluster").url_to_fs(address)
    except (ImportError, ValueError) as error:  # a protocol of which the library is missing, or no protocol
        raise BadRequest(str(error), where=address) from error
    return system, path


DAYS_AT_ONCE = 30  # in a task: one costs the scheduler about as much as a day costs a worker
_SMALL = 4 << 20  # bytes of a log: to share the work on it costs more than it saves
_STORES = 4  # at work at the same time, per thread: what is rendered waits in memory until it is fetched


class StoreFiles(Struct):
    """The documents of a store, as path and bytes, and the report of their replay."""

    files: dict[str, bytes]
    events: int
    days: int
    damage: list[Damage]
    broken: dict[str, str]  # projection of another package -> why it says nothing


def fold_days(days: Iterable[DayBytes], names: Sequence[str]) -> list[Part]:
    """Fold some days, each by itself."""
    projections = chosen(names)
    return [fold.fold_day(day, projections=projections) for day in days]


def _fold_files(place: StorePlace, days: Sequence[Day], names: Sequence[str]) -> list[Part]:
    return fold_days((_read_day(place, day) for day in days), names)


def render_store(
    place: StorePlace, listed: _StoreListing, folded: Sequence[Sequence[Part]], names: Sequence[str], empty: Part
) -> StoreFiles:
    """Render a store from its parts; refold days with copies of another day's events.

    `empty` is a part of no day, of whoever asks: no worker renders with other versions than theirs.
    """
    by_date = {day.date: day for day in listed.days}
    parts = [empty, *chain.from_iterable(folded)]
    return rendered_of(parts, lambda date: _read_day(place, by_date[date]), listed.settings, names)


def rendered_of(
    parts: Sequence[Part], read: Callable[[str], DayBytes], settings: Settings, names: Sequence[str]
) -> StoreFiles:
    """Render a log from its parts; read, and fold once more, the days with copies of another day's events."""
    projections, dates = chosen(names), {date for part in parts for date in part.days}

    def has(date: str, ids: Collection[str]) -> frozenset[str]:
        return fold.holding(read(date), ids) if date in dates else frozenset()

    left_out = fold.copies(parts, has)
    anew = [fold.fold_day(read(date), ids, projections) for date, ids in left_out.items()]
    rest = [part for part in parts if not part.days.keys() & left_out.keys()]
    done = fold.replayed(fold.merge([*rest, *anew]), settings, projections)
    files = {document.path: document.data for document in done.documents}
    return StoreFiles(files, done.events, done.days, done.damage, done.broken)


def _replay_whole(place: StorePlace, listed: _StoreListing, names: Sequence[str], empty: Part) -> StoreFiles:
    """Fold and render a store in a single task: its parts stay with the worker."""
    return render_store(place, listed, [_fold_files(place, listed.days, names)], names, empty)


class StoreReplay(NamedTuple):
    """The outcome of a store: what was rendered, or why nothing was; and what was written of it."""

    place: StorePlace
    rendered: StoreFiles | None = None
    error: EventLogError | None = None
    published: PublishResult | None = None


def replay_stores(
    addresses: Iterable[str], client: Any, projections: Sequence[str] = (), progress: Progress = no_progress
) -> Iterator[StoreReplay]:
    """Replay the logs at these addresses with a `distributed.Client`; each comes as it is done, with its documents.

    A store that cannot be read comes with an error, and the others go on. Raises BadRequest where stores cannot be told
    apart, or there is no such projection. `progress` counts tasks.
    """
    return _Run(client, projections, progress).of(places(addresses))


def replay_stores_to(
    directory: str,
    addresses: Iterable[str],
    client: Any,
    projections: Sequence[str] = (),
    *,
    check: bool = False,
    progress: Progress = no_progress,
) -> Iterator[StoreReplay]:
    """Replay stores and write each below the directory, under its name, as `eventlog replay --out` does."""
    views = chosen(projections)
    for done in replay_stores(addresses, client, projections, progress=progress):
        yield written(done, str(Path(directory, done.place.name)), views, check=check)


class _Run:
    """Stores at work on a cluster."""

    def __init__(self, client: Any, projections: Sequence[str], progress: Progress) -> None:
        self._client = client
        self._views = chosen(projections)
        self._names = [view.name for view in self._views]
        self._progress = progress
        self._tasks = library("distributed", "cluster").as_completed(loop=client.loop)
        self._rendering: dict[Any, StorePlace] = {}
        self._all = 0

    def of(self, stores: Iterable[StorePlace]) -> Iterator[StoreReplay]:
        """Yield the outcome of each, some of them at work at a time."""
        waiting = iter(stores)
        room = _STORES * max(1, sum(self._client.nthreads().values()))
        yield from self._begin(waiting, room)
        for done, future in enumerate(self._tasks, 1):
            self._progress(done, self._all)
            if place := self._rendering.pop(future, None):
                error = future.exception()
                rendered = None if error else future.result()
                yield StoreReplay(place, rendered, _with_place(error, place) if error else None)
                yield from self._begin(waiting, 1)

    def _begin(self, waiting: Iterator[StorePlace], count: int) -> Iterator[StoreReplay]:
        """Begin with so many stores; yield those that cannot be read."""
        while count and (place := next(waiting, None)):
            try:
                self._submit(place)
                count -= 1
            except Exception as error:  # noqa: BLE001 - whatever the library of a file system raises
                yield StoreReplay(place, error=_with_place(error, place))

    def _submit(self, place: StorePlace) -> None:
        listed, empty = listing(place), fold.empty(place.name, self._views)
        submit = partial(self._client.submit, pure=False)
        folded = []
        if listed.size <= _SMALL:
            whole = submit(_replay_whole, place, listed, self._names, empty)
        else:
            pieces = [listed.days[start : start + DAYS_AT_ONCE] for start in range(0, len(listed.days), DAYS_AT_ONCE)]
            folded = [submit(_fold_files, place, piece, self._names) for piece in pieces]
            whole = submit(render_store, place, listed, folded, self._names, empty)
        self._rendering[whole] = place
        self._all += len(folded) + 1
        self._tasks.update([*folded, whole])


def _with_place(error: BaseException, place: StorePlace) -> EventLogError:
    """Convert any error to an EventLogError."""
    if isinstance(error, EventLogError):
        return error
    if isinstance(error, OSError) and error.errno:
        what, remedy = system_reason(error)
        return BadRequest(what, where=place.address, hint=remedy)
    return BadRequest(f"{type(error).__name__}: {error}", where=place.address)


def written(done: StoreReplay, directory: str, views: Sequence[Projection], *, check: bool) -> StoreReplay:
    """Write the rendered documents below a directory; with `check` only report what would change."""
    if done.rendered is None:
        return done
    documents = [Document(path, (), data) for path, data in done.rendered.files.items()]
    speaking = [view for view in views if view.name not in done.rendered.broken]  # files of one that failed stay
    try:
        found = publish(documents, directory, speaking, dry_run=check)
    except NotStored as error:
        return done._replace(error=error)
    return done._replace(published=found)


# ------------------------------------------------------------------------------------------------ the cluster


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to `tcp://host:8786`, or start `local` or `local:4` processes; raises BadRequest without an answer.

    A local worker has one thread, and no limit of memory: nothing of a log is spilled to the disk. Processes started
    here know each other by keys of their own: nobody else on the machine gives them work.
    """
    distributed = library("distributed", "cluster")
    if local := _LOCAL.fullmatch(address):
        library("cryptography", "cluster")  # makes the keys
        with (
            tempfile.TemporaryDirectory(prefix="eventlog-") as scratch,
            library("dask.config", "cluster").set({"temporary-directory": scratch}),
            distributed.LocalCluster(
                n_workers=int(local[1]) if local[1] else None,
                threads_per_worker=1,
                memory_limit=None,
                dashboard_address="127.0.0.1:0",
                security=distributed.Security.temporary(),
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        hint = "give the address `dask scheduler` prints, or local[:N]"
        raise BadRequest("no Dask scheduler answers", where=address, hint=hint) from error
    with client:
        yield client
