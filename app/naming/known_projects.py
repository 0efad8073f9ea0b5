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
    from collections.abc import Callable, Mapping
    from typing import Any

    from eventlog.projections.context.request import ProjectHome
    from eventlog.projections.views.project_list import ListedProject
    from eventlog.store import Store

NOWHERE = "-"  # what a conversation outside of any project is about


class KnownProjects:
    """The projects of the log of a store, as they are listed at this moment: the names `known` by machine and path.

    `digest` changes with any of them.
    """

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._data = read(f"{store.knowledge}/projects.jsonl") or b""
        self.digest = digest(self._data.decode("utf-8", "replace"), 8).hex() if self._data else ""
        self._here = replica_of(store) if self._data else ""
        lines: list[dict[str, Any]] = list(map(fastjson.object_in, self._data.splitlines()))
        self._lines = [listed for listed in lines if {"project", "name", "slug", "parts", "places"} <= listed.keys()]
        self.known: dict[tuple[str, str], str] = {  # "" for an unknown machine
            (replica or "", path): str(listed["project"])
            for listed in self._lines
            for replica, path in listed["places"]
        }

    def of(self, path: str, replica: str) -> str:
        """Name the project of a path, on the machine that spoke; "" for none."""
        return self.listed_at(path, replica) or encodable(path)

    def changes(self, before: "Mapping[tuple[str, str], str]") -> set[tuple[str, str]]:
        """List the pairs of former and present names of places, where they differ."""
        places = before.keys() | self.known.keys()
        names = {(_listed(before, path, replica) or path, self.of(path, replica)) for replica, path in places}
        return {(then, now) for then, now in names if then != now}

    def here(self, path: str) -> str:
        """Name the project of a path of this machine."""
        return self.of(path, self._here)

    def listed_at(self, path: str, replica: str | None = None) -> str:
        """Name the listed project of a path on a machine (None: this machine), else on any seen there; "" for none."""
        at = self._here if replica is None else replica
        return _listed(self.known, encodable(path), at)

    def subjects_at(self, path: str) -> tuple[str, ...]:
        """Name the subjects a project of this machine may read: the user, and the project, or what has no project.

        Another machine may have told of the repository before this one did.
        """
        names = dict.fromkeys(filter(None, (self.here(path), self._named_at(path))))
        return "", *(names or [NOWHERE])

    def listed(self) -> "list[ListedProject]":
        """List them as they were rendered, but for damaged lines."""
        if not self._data:
            return []
        from eventlog.projections.views.project_list import ListedProject

        return ListedProject.all_in(self._data)

    def home(self, path: str) -> "ProjectHome | None":
        """Find the project of a path of this machine; None where it is known by its path."""
        logged, listed = encodable(path), self._lines if path else []
        if not listed:
            return None
        from eventlog.projections.context.request import ProjectHome

        here = self._here or None
        machines = {place[0] for project in listed for place in project["places"] if place[1] == logged}
        spoke = None if machines == {None} else here  # what no machine is known to have said is of all
        same = [project for project in listed if [spoke, logged] in project["places"]]
        same = same or self._at_address(path)
        if same:
            return ProjectHome(str(same[0]["slug"]), str(same[0]["name"]), str(same[0]["project"]))
        if machines:
            return ProjectHome(project_slug(f"{here}:{logged}"), project_name(logged), f"{here}:{logged}")
        return None

    def path_at(self, cwd: str, name: str) -> str:
        """Return the path in the knowledge directory that a file of the project of a working directory has."""
        from eventlog.projects.root import project_root  # a start knows its project

        path = project_root(cwd) if cwd else ""
        home = self.home(path)
        return f"projects/{home.slug if home else project_slug(path)}/{name}" if path else name

    def scope(self, project: str) -> str | None:
        """Take the project of a directory, if the log knows it; None, which stands for all, if it does not.

        A replay leaves files of what it knows, under the path or in a list; else the index of the log is asked.
        """
        logged = encodable(project)
        if not logged or os.path.exists(f"{self._store.knowledge}/projects/{project_slug(logged)}"):
            return logged or None
        if any(path == logged for _, path in self.known) or self._at_address(project):
            return logged
        return logged if self._is_logged(logged) else None

    def about(self, path: str) -> "Callable[[str | None, str | None], bool]":
        """Build the test whether a path of a machine (None: unknown) is of the same project as this path here."""
        project, path = self._named_at(path), encodable(path)
        if not project:
            return lambda other, _: other == path
        places = {(self._here, path)} | {place for place, name in self.known.items() if name == project}
        paths = {place for _, place in places}
        return lambda other, replica: (replica, other) in places if replica else other in paths

    def name_of(self, path: str) -> str:
        """Name the project of a path here as events name it: by a machine seen there, else by the path alone."""
        project, here = self.listed_at(path), replica_of(self._store)
        seen = {at for (at, place), name in self.known.items() if place == path and name == project}
        named = sorted(filter(None, seen if project else {here}), key=lambda replica: (replica != here, replica))
        return f"{named[0]}:{path}" if named else path

    def _named_at(self, path: str) -> str:
        """Name the listed project of a path here, else that with the address of the repository; "" for none."""
        return self.listed_at(path) or next((str(same["project"]) for same in self._at_address(path)), "")

    def _at_address(self, path: str) -> "list[dict[str, Any]]":
        """List the projects with the address of the repository at a path."""
        if not (path and self._lines):
            return []
        from eventlog.projects.repository import remote_of

        remote = remote_of(path)
        return [project for project in self._lines if remote and remote in project["parts"]]

    def _is_logged(self, project: str) -> bool:
        """Return whether an event is of this project, by the index; search the bytes of changed files."""
        indexed, offsets = look_up(self._store.cached("conversations.index"), project, PROJECT)
        files = stamps_of(self._store.log, indexed)
        if any(stamp in indexed and name_in(stamp) in offsets for stamp in files):
            return True
        changed = [name_in(stamp) for stamp in files if stamp not in indexed]
        word = b'"project":' + fastjson.text(project)
        return any(word in (read(f"{self._store.log}/{name}") or b"") for name in reversed(changed))


def _listed(known: "Mapping[tuple[str, str], str]", path: str, replica: str) -> str:
    return known.get((replica, path)) or known.get(("", path), "")
