"""Day files of other machines: what they held when last seen, whether they lost lines or have our name."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from eventlog.fast.sha import sha256
from eventlog.format.codec import json_of
from eventlog.format.errors import NotStored
from eventlog.log import days
from eventlog.store import Store, day_of, is_own
from eventlog.store.files import read, replace_file
from eventlog.store.index_lookup import lines_with
from eventlog.store.replica import replica_of


class _SeenFile(msgspec.Struct, frozen=True):
    """A day file of another machine as it was seen: its size, its lines, a digest of them, and when it was saved."""

    size: int
    lines: int
    digest: str
    saved_ns: int


class _LostLines(msgspec.Struct, frozen=True):
    """A file that lacks what it was seen to hold: `seen` lines; it has `there` now, None where it is gone."""

    path: str
    seen: int
    there: int | None


def remember(store: Store) -> None:
    """Record what the day files of other machines hold; where a file lost lines, its former content stays recorded.

    Only files that were saved since are read.
    """
    before = _remembered(store)
    now = {name: _look(path, before.get(name)) for name, path in _of_others(store)}
    _record(store, before, {name: found for name, found in now.items() if found})


def accept(store: Store, path: str) -> None:
    """Record a day file of another machine as it is, after this program has rewritten lines of it on purpose."""
    before = _remembered(store)
    name = path.rpartition("/")[2]
    if name in before and (found := _look(path, None)):
        _record(store, before, {name: found})


def lost_lines(store: Store) -> Iterator[_LostLines]:
    """Find the files of other machines that lack what they were seen to hold."""
    others = dict(_of_others(store))
    for name, seen in sorted(_remembered(store).items()):
        data = read(others[name]) if name in others else None
        if name not in others:
            yield _LostLines(f"{store.log}/{name}", seen.lines, None)
        elif data is not None and not _begins_with(data, seen):
            yield _LostLines(f"{store.log}/{name}", seen.lines, data.count(b"\n"))


def written_elsewhere(store: Store) -> str:
    """Find a file of another machine with events of our name that our own log lacks; "" for none."""
    name = replica_of(store)
    for day in days.list_days(store.log) if name else ():
        own = [file for file in day.files if is_own(file)]
        for file in day.files:
            named = set() if file in own else _lines_naming(name, file)
            if named and named - {line for path in own for line in (read(path) or b"").split(b"\n")}:
                return file
    return ""


def _lines_naming(name: str, file: str) -> set[bytes]:
    data = read(file) or b""
    found = lines_with(data, [f'"replica":"{name}"'.encode()])
    return {data[start:end] for start, end in found if end < len(data)}  # an unfinished line is nobody's


def _remembered(store: Store) -> dict[str, _SeenFile]:
    return json_of(read(store.cached("replicas.json")), dict[str, _SeenFile]) or {}


def _record(store: Store, before: dict[str, _SeenFile], now: dict[str, _SeenFile]) -> None:
    seen = before | now
    with suppress(NotStored):  # a loss is reported later, or not at all
        if seen != before:
            replace_file(store.cached("replicas.json"), msgspec.json.encode(seen), durable=False)


def _of_others(store: Store) -> Iterator[tuple[str, str]]:
    are_any = False
    with suppress(OSError):  # by the names only: most logs are of one machine, and every replay asks
        are_any = any(day_of(name) and not is_own(name) for name in os.listdir(store.log))  # noqa: PTH208
    for day in days.list_days(store.log) if are_any else ():
        yield from ((file.rpartition("/")[2], file) for file in day.files if not is_own(file))


def _look(path: str, before: _SeenFile | None) -> _SeenFile | None:
    """Return what a file holds; what it held before, where some of that is gone."""
    try:
        stat = Path(path).stat()
    except OSError:
        return before
    if before and (before.size, before.saved_ns) == (stat.st_size, stat.st_mtime_ns):
        return before
    data = read(path)
    if data is None or (before and not _begins_with(data, before)):
        return before
    whole = data[: data.rfind(b"\n") + 1]
    digest = sha256(whole)
    return _SeenFile(len(whole), whole.count(b"\n"), digest, stat.st_mtime_ns)


def _begins_with(data: bytes, seen: _SeenFile) -> bool:
    return sha256(data[: seen.size]) == seen.digest
