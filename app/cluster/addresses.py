"""Find stores in directories, or at any address that fsspec opens (`s3://bucket/ada`, `sftp://host/home/ada/.eventlog`).

Nothing is written there, and what waits in a store's spool is not in its log yet.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.cluster.connect import library
from eventlog.format.errors import BadRequest, system_reason
from eventlog.log import days
from eventlog.log.days import Day
from eventlog.log.lines import Damage
from eventlog.projections.fold import DayBytes
from eventlog.settings import load
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.files import read_regular

_SCHEME = "://"


class StorePlace(NamedTuple):
    """The address of a store, and its name among the replayed stores."""

    name: str
    address: str

    @property
    def log(self) -> str:
        """Return the address of its log."""
        return f"{self.address}/log"


class StoreListing(NamedTuple):
    """The settings of a store and the files of its days, unread."""

    settings: Settings
    days: list[Day]


def places(addresses: Iterable[str]) -> list[StorePlace]:
    """Name stores by as many last parts of their addresses as make the names unique.

    A `*` in an address of fsspec stands for all that is there; in paths, the shell has seen to it. Raises BadRequest
    where one store is named twice.
    """
    found = list(dict.fromkeys(one for said in addresses for one in _expanded(said)))
    parts = [one.rpartition(_SCHEME)[2].strip("/").split("/") for one in found]
    single = ([part[-level] for part in parts] for level in range(1, min(map(len, parts), default=0) + 1))
    joined = (["-".join(part[-count:]) for part in parts] for count in range(2, max(map(len, parts), default=0) + 1))
    for names in chain(single, joined):
        if len({name.casefold() for name in names}) == len(names) and all(name.strip(".") for name in names):
            return [StorePlace(name, one) for name, one in zip(names, found, strict=True)]
    raise BadRequest("the addresses do not tell all stores apart", hint="name each store once")


def listing(place: StorePlace) -> StoreListing:
    """List what a store holds; raises BadRequest, BadSettings, and any error of its file system."""
    if not _is_there(place.log):
        raise BadRequest("there is no log", where=place.log, hint="name the directory of a store")
    if _SCHEME not in place.address:
        return StoreListing(load.load(Store(place.address)).settings, days.list_days(place.log))
    system, path = _opened(place.log)
    names = (one["name"].rpartition("/")[2] for one in system.ls(path, detail=True) if one["type"] == "file")
    return StoreListing(_settings(f"{place.address}/config.yaml"), days.by_date(f"{place.log}/{one}" for one in names))


def read_day(place: StorePlace, day: Day) -> DayBytes:
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


def _settings(file: str) -> Settings:
    try:
        return load.parse(_read(file), file).settings
    except FileNotFoundError:
        return Settings()


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


def _expanded(said: str) -> Sequence[str]:
    if _SCHEME not in said:
        return [Store(said).root]
    if "*" not in said:
        return [said.rstrip("/")]
    system, pattern = _opened(said.rstrip("/"))
    return [system.unstrip_protocol(path) for path in sorted(system.glob(pattern))]


def _opened(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it; raises BadRequest."""
    try:
        system, path = library("fsspec.core").url_to_fs(address)
    except (ImportError, ValueError) as error:  # a protocol of which the library is missing, or no protocol
        raise BadRequest(str(error), where=address) from error
    return system, path
