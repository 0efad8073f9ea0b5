"""The versions a fold depends on beside the events: data made by one is not mixed with that of another."""

import unicodedata
import zlib
from collections.abc import Collection
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from eventlog.format.events import VERSIONS
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.knowledge_events import Knowledge
from eventlog.projections.engine.day_fold import DayRow

_OURS: tuple[type[Any], ...] = (Conversations, Knowledge)


def versions_of(states: Collection[type[Any]]) -> dict[str, str]:
    """Name the versions of the program, of its data, and of each of these states."""
    found = {f"{state.__module__}.{state.__qualname__}": f"{state.version}" for state in (*_OURS, *states)}
    return dict(sorted({**found, **_of_program()}.items()))


@cache
def _of_program() -> dict[str, str]:
    return {
        "eventlog": version("agent-eventlog"),
        "events": _checksum(sorted(VERSIONS.items())),
        "schema": _checksum(msgspec.json.schema_components([DayRow, *_OURS])[1]),
        "Unicode": unicodedata.unidata_version,
        "time zones": _time_zones(),
    }


def _time_zones() -> str:
    """Name the edition of the time-zone data in use: the system's, else that of the package `tzdata`."""
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
