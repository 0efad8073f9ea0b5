"""Projects by a name or a unique part of a path, among those the log knows, else by an existing directory.

Nobody is ever answered for another project, and nothing is filed under one: a name that is none is an error.
"""

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.names import did_you_mean
from eventlog.fast import os
from eventlog.format.errors import BadRequest
from eventlog.format.text import one_line, project_name
from eventlog.log.event_log import EventLog
from eventlog.projections.views.project_list import ListedProject
from eventlog.projects.root import in_full, project_root
from eventlog.store import Store, project_slug

_SHOWN = 8
_SHORTEST_PART = 2  # characters of a path
_PLACE = re.compile(r"[/~\\]|\.{1,2}(?:$|[/\\])|[A-Za-z]:[/\\]")  # how a path begins that is no name


def project_meant(log: EventLog, name: str, *, cwd: str, home: str, or_new: bool = False) -> str:
    """Find the path of the project that is meant; raises BadRequest for several, and for none.

    With `or_new`, what names none is returned as it is.
    """
    place = os.path.normpath(Path(cwd, home if name == "~" else in_full(name, home)))
    if _PLACE.match(name) and os.path.isdir(place):
        return project_root(place) or place
    for found in _readings(log, name, place, cwd):
        candidates = _as_one(log.store, found)
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            several = "\n".join(map(one_line, sorted(candidates)[:_SHOWN]))
            raise BadRequest(f"{name!r} may be {len(candidates)} projects: say more of the path", hint=several)
    if or_new:
        return name
    known = [word for words in _names_here(log, cwd).values() for word in words]
    wanted = project_name(name.rstrip("/")) if _PLACE.match(name) else name
    raise BadRequest(f"no project {name!r}", hint=did_you_mean(wanted, known))


def is_named(path: str, name: str) -> bool:
    """Return whether a project has that name, or its path that end."""
    is_end = path.replace("\\", "/").endswith("/" + name.rstrip("/"))
    return is_end or name in (project_name(path), project_slug(path))


def _as_one(store: Store, paths: Collection[str]) -> list[str]:
    """Leave of several paths of a project the first that is a directory here, else the first."""
    by_project: dict[str, list[str]] = {}
    known = KnownProjects(store)
    for path in paths:
        by_project.setdefault(known.meant(path), []).append(path)
    return [min(alike, key=lambda path: not os.path.isdir(path)) for alike in by_project.values()]


def all_projects(log: EventLog) -> list[ListedProject]:
    """List the projects of all events, by name: as the last replay knew them, and each other path by itself."""
    found = KnownProjects(log.store).listed()
    listed = {path for project in found for _, path in project.places}
    others = [path for path in log.index.projects() if path not in listed]
    found += [ListedProject(path, project_name(path), project_slug(path), (path,), ((None, path),)) for path in others]
    return sorted(found, key=lambda project: (project.name, project.project))


def _names_here(log: EventLog, cwd: str) -> dict[str, list[str]]:
    """List the projects of all events, and that of the current directory: the names that screens and files show."""
    projects, known = log.index.projects(), KnownProjects(log.store)
    paths = projects + [here for here in [project_root(cwd)] if here and here not in projects]
    return {path: [project_name(known.meant(path)), project_name(path)] for path in paths}


def _readings(log: EventLog, name: str, place: str, cwd: str) -> Iterator[list[str]]:
    """Yield the projects that it may name, from the strictest reading to the loosest; the first decode no event."""
    listed = KnownProjects(log.store).listed()
    yield [path for project in listed if name in (project.project, project.slug) for _, path in project.places]
    if name == place and KnownProjects(log.store).scope(name):
        yield [name]
    projects = _names_here(log, cwd)
    yield [path for path in projects if path in (place, name)]
    if _PLACE.match(name):
        return
    yield [path for path, names in projects.items() if name in names or is_named(path, name)]
    yield [project_root(place) or place] if os.path.isdir(place) else []
    folded = name.strip("/").casefold()
    tests: list[Callable[[str], bool]] = [
        lambda path: any(word.casefold() == folded for word in projects[path]),
        lambda path: any(folded in word.casefold() for word in projects[path]),
        lambda path: folded in path.casefold(),
    ]
    yield from ([path for path in projects if len(folded) >= _SHORTEST_PART and test(path)] for test in tests)
