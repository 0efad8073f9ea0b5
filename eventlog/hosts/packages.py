"""Rooms of hosts in other packages: modules that the entry points `eventlog.hosts` name; and entry points of any group.

Hooks run without site packages and may not wait for `importlib.metadata`: tables of entry points are read as text,
where this package lies, where this Python's packages lie, and on the path. A room is another package's code: where that
fails, its host has no room.

Imported inside agents' hooks, where an agent is none of our own hosts: standard library only.
"""

import sys

from eventlog.fast import os
from eventlog.store.files import names_in, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Rooms = dict[str, tuple[str, str]]

GROUP = "eventlog.hosts"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_ABOUT = (".dist-info", ".egg-info")
_LARGEST = 1 << 20  # bytes of a table
_rooms: "list[Rooms]" = []  # once they were looked for

broken: dict[str, str] = {}  # agent -> why a module of its room cannot be loaded


def other_rooms() -> "Rooms":
    """Find the rooms that other packages bring: by agent, the module and the directory that it lies in."""
    if not _rooms:
        found: Rooms = {}
        for agent, module, place in named(GROUP):
            if _SAFE.issuperset(agent) and agent[0] not in "-_.":
                found.setdefault(agent, (module, place))
        _rooms.append(found)
    return _rooms[0]


def load(agent: str, name: str) -> "Any":
    """Load a module of the room that another package brings; None where there is none, or it is `broken`."""
    module, place = other_rooms().get(agent, ("", ""))
    if not module:
        return None
    if place not in sys.path:
        sys.path.append(place)
    try:
        return __import__(f"{module}.{name}", fromlist=[name])
    except Exception as error:  # noqa: BLE001 - another package's code
        if not (isinstance(error, ModuleNotFoundError) and error.name == f"{module}.{name}"):
            broken[agent] = f"{type(error).__name__}: {error}"
        return None


def _places() -> "Iterator[str]":
    own = __file__[: -len("/eventlog/hosts/packages.py")]
    of_python = os.path.dirname(os.path.dirname(sys.executable or ""))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    near = own, f"{of_python}/lib/{version}/site-packages", f"{of_python}/Lib/site-packages"
    return iter(dict.fromkeys((*near, *(os.path.abspath(place) for place in sys.path if place))))


def named(group: str) -> "Iterator[tuple[str, str, str]]":
    """Yield name, module and directory of what packages bring for a group, as their tables of entry points name it."""
    for place in _places():
        for folder in sorted(name for name in names_in(place) if name.endswith(_ABOUT)):
            for line in _section(f"{place}/{folder}/entry_points.txt", group):
                name, equals, module = (part.strip() for part in line.partition("="))
                if equals and name and module:
                    yield name, module, place


def _section(file: str, group: str) -> list[str]:
    """Read the lines of a group in a table of entry points; none where it cannot be read, or names none."""
    text = (read(file, _LARGEST) or b"").decode("utf-8", "replace")
    _, head, after = f"\n{text}".partition(f"\n[{group}]")
    return after.split("\n[")[0].splitlines()[1:] if head else []
