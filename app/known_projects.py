"""The projects of the log as the last replay listed them: where each lies, and which one a path means here.

A session that starts asks; where each project is just its path, it pays for one look.
"""

from typing import TYPE_CHECKING

from eventlog.files import read_regular
from eventlog.projections.context.request import ProjectHome
from eventlog.replica import replica_of
from eventlog.store import Store, project_slug
from eventlog.text import project_name

if TYPE_CHECKING:
    from eventlog.projections.views.project_list import ListedProject


def known_projects(store: Store) -> "list[ListedProject]":
    """Read the list; empty where each project is just its path, or nothing was replayed yet."""
    try:
        data = read_regular(f"{store.knowledge}/projects.jsonl")
    except OSError:
        return []
    from eventlog.projections.views.project_list import read_list

    return read_list(data)


def home_of(store: Store, path: str) -> ProjectHome | None:
    """Find the project of a path of this machine; None where it is known by its path."""
    listed = known_projects(store) if path else []
    if not listed:
        return None
    here = replica_of(store) or None
    at_path = [project for project in listed for place in project.places if place == (here, path)]
    remote = "" if at_path else _remote(path)
    same = at_path or [project for project in listed if remote and remote in project.parts]
    others = any(place[1] == path for project in listed for place in project.places)
    places = {(here, path), *(place for project in same[:1] for place in project.places)}
    if same:
        return ProjectHome(same[0].slug, same[0].name, frozenset(places))
    if others:
        return ProjectHome(project_slug(f"{here}:{path}"), project_name(path), frozenset(places))
    return None


def _remote(path: str) -> str:
    from eventlog.remote import remote_of

    return remote_of(path)


def paths_of(store: Store, project: str) -> set[str]:
    """List the paths of the project that is meant by a path of this machine, or by its name in the list."""
    here = replica_of(store) or None
    for known in known_projects(store):
        places = set(known.places)
        if project == known.project or (here, project) in places or (None, project) in places:
            return {path for _, path in places} | {project}
    return {project}
