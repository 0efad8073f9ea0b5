"""The projects of the log as the last replay listed them: where each lies, and which one a path means here.

A session that starts asks, and so does a query; where each project is just its path, they pay for one look.

Imported while a session waits to begin: standard library only.
"""

from eventlog.fast import fastjson, os
from eventlog.format.ids import digest
from eventlog.format.text import encodable, project_name
from eventlog.store import project_slug
from eventlog.store.files import read
from eventlog.store.index_lookup import PROJECT, look_up, name_in, stamps_of
from eventlog.store.replica import replica_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from eventlog.projections.context.request import ProjectHome
    from eventlog.projections.current.identity import Identities, KnownProject
    from eventlog.projections.views.project_list import ListedProject
    from eventlog.store import Store

    Place = tuple[str, str, str]  # machine, path, project
    Places = dict[str, dict[str, str]]  # path -> machine -> project

NOWHERE = "-"  # what a conversation outside of any project is about


class KnownProjects:
    """The projects of the log of a store, as they are listed at this moment, or as a replay has found them.

    `digest` changes with any of them as they are listed.
    """

    def __init__(self, store: "Store", identities: "Identities | None" = None) -> None:
        self._store = store
        self._data = read(f"{store.knowledge}/projects.jsonl") or b"" if identities is None else b""
        self.digest = digest(self._data.decode("utf-8", "replace"), 8).hex() if self._data else ""
        lines: list[dict[str, Any]] = list(map(fastjson.object_in, self._data.splitlines()))
        self._lines = [listed for listed in lines if {"project", "name", "slug", "parts", "places"} <= listed.keys()]
        if identities is not None:
            self._lines = [_line_of(project) for project in identities.listed()]
        self._here = replica_of(store) if self._lines else ""
        self._places = _by_path(self.places())
        self._addresses: dict[str, str] = {}  # by path, the projects there
        self._by_part = {part: listed for listed in self._lines for part in listed["parts"]}

    def places(self) -> "Iterator[Place]":
        """Yield the places: machine ("" where it is unknown), path and project."""
        for listed in self._lines:
            for replica, path in listed["places"]:
                yield replica or "", path, str(listed["project"])

    def of(self, path: str | None, replica: str | None) -> str:
        """Name the project of a path on the machine that spoke ("", None: unknown); "" for no path.

        One of this machine that is not listed yet is that with the address of the repository there.
        """
        logged = encodable(path or "")
        part = _part(self._places, logged, replica or "")
        if part in self._by_part:
            return str(self._by_part[part]["project"])
        return (self._at_address(logged) if logged and (replica or self._here) == self._here else "") or part

    def changes(self, before: "Iterable[Place]") -> set[tuple[str, str]]:
        """List the pairs of former and present names of places, where they differ."""
        then = _by_path(before)
        replicas = {replica for places in (then, self._places) for at in places.values() for replica in at}
        both = ((path, replica) for path in then.keys() | self._places.keys() for replica in replicas)
        names = {(_part(then, path, replica), self.of(path, replica)) for path, replica in both}
        return {(then, now) for then, now in names if then != now}

    def meant(self, path: str) -> str:
        """Name the project that the next event at a path of this machine will belong to.

        That is the one of this machine, else that with the address of the repository. Where only other machines were,
        a directory of this one is a project of its own; what is none here is theirs. `machine:path` is that machine's.
        """
        logged = encodable(path)
        if there := self._of_other(logged):
            return there
        if not self._lines or self._here in self._places.get(logged, ()):
            return self.of(logged, self._here)
        return self._at_address(path) or self.of(logged, self._here if os.path.isdir(path) else "")

    def subjects_at(self, path: str) -> tuple[str, ...]:
        """Name the subjects a project of this machine may read: the user, and the project, or what has no project."""
        return "", *(self._names_at(path) or [NOWHERE])

    def listed(self) -> "list[ListedProject]":
        """List them as they were rendered, but for damaged lines."""
        if not self._data:
            return []
        from eventlog.format.codec import json_of
        from eventlog.projections.views.project_list import ListedProject

        return [found for line in self._data.splitlines() if (found := json_of(line, ListedProject))]

    def home(self, path: str) -> "ProjectHome | None":
        """Find the project of a path of this machine; None where it is known by its path."""
        name = self.meant(path)
        listed = next((listed for listed in self._lines if listed["project"] == name), None)
        if not listed and name == encodable(path):
            return None  # as most are
        from eventlog.projections.context.request import ProjectHome

        found = listed or {"slug": project_slug(name), "name": project_name(encodable(path))}
        return ProjectHome(str(found["slug"]), str(found["name"]), name)

    def paths_at(self, cwd: str, name: str) -> tuple[str, ...]:
        """List what a name may be in the knowledge directory: a file of the working directory's project, then any."""
        from eventlog.projects.root import project_root  # a start knows its project

        path, name = project_root(cwd) if cwd else "", os.path.normpath(name)
        home = self.home(path)
        return (f"projects/{home.slug if home else project_slug(path)}/{name}", name) if path else (name,)

    def scope(self, project: str) -> str | None:
        """Take the project of a directory, if the log knows it; None, which stands for all, if it does not.

        A replay leaves files of what it knows, under the path or in a list; else the index of the log is asked.
        """
        logged = encodable(project)
        if not logged or os.path.exists(f"{self._store.knowledge}/projects/{project_slug(logged)}"):
            return logged or None
        if logged in self._places or self._at_address(project):
            return logged
        return logged if self._is_logged(logged) else None

    def about(self, path: str | None) -> "Callable[[str | None, str | None], bool]":
        """Build the test whether a path of a machine (None: unknown) is of the project this path means, or of any."""
        names = self._names_at(path) if path else ()
        return lambda other, replica: not path or (bool(other) and self.of(other, replica) in names)

    def name_of(self, path: str) -> str:
        """Name the project of a path here as events name it: by a machine seen there, else by the path alone."""
        if self._of_other(path):
            return path
        at, project, here = self._places.get(path, {}), self.meant(path), replica_of(self._store)
        seen = sorted((replica for replica in at if at[replica] == project), key=lambda it: (it != here, it))
        replica = next(filter(None, seen), "" if seen else here)
        return f"{replica}:{path}" if replica else path

    def _of_other(self, path: str) -> str:
        """Name the project of `machine:path`, as it is listed; "" for every other path."""
        replica, _, there = path.partition(":")
        return self.of(there, replica) if replica and replica in self._places.get(there, ()) else ""

    def _names_at(self, path: str) -> "dict[str, None]":
        """Name the project that a path means, and what it is called until a replay has seen its address."""
        return dict.fromkeys(filter(None, (self.meant(path), self.of(path, self._here))))

    def _at_address(self, path: str) -> str:
        """Name the project with the address of the repository at a path; "" for none."""
        if not (path and self._lines):
            return ""
        from eventlog.projects.repository import remote_of

        if path not in self._addresses:
            self._addresses[path] = str(self._by_part.get(remote_of(path), {}).get("project", ""))
        return self._addresses[path]

    def _is_logged(self, project: str) -> bool:
        """Return whether an event is of this project, by the index; search the bytes of changed files."""
        indexed, offsets = look_up(self._store.cached("conversations.index"), project, PROJECT)
        files = stamps_of(self._store.log, indexed)
        if any(stamp in indexed and name_in(stamp) in offsets for stamp in files):
            return True
        changed = [name_in(stamp) for stamp in files if stamp not in indexed]
        word = b'"project":' + fastjson.text(project)
        return any(word in (read(f"{self._store.log}/{name}") or b"") for name in reversed(changed))


def _line_of(project: "KnownProject") -> "dict[str, Any]":
    return {
        "project": project.name,
        "name": project_name(project.name),
        "slug": project.slug,
        "parts": project.parts,
        "places": project.places,
    }


def _by_path(places: "Iterable[Place]") -> "Places":
    found: Places = {}
    for replica, path, name in places:
        found.setdefault(path, {})[replica] = name
    return found


def _part(places: "Places", path: str, replica: str) -> str:
    """Name a project by path and machine, as the log does for a machine that others were at a path before."""
    at = places.get(path, {})
    if replica in at or not at.keys() - {""}:
        return at.get(replica) or at.get("", path)
    return f"{replica}:{path}" if replica else at.get("", path)
