"""The projects of the log as the last replay listed them: where each lies, and which one a path means here.

A session that starts asks, and so does a query; where each project is just its path, they pay for one look.

Imported while a session waits to begin: standard library only.
"""

from eventlog.fast import fastjson, os
from eventlog.format.text import project_name
from eventlog.store import project_slug
from eventlog.store.files import read_regular
from eventlog.store.index_lookup import PROJECT, look_up, name_in, stamps_of
from eventlog.store.replica import replica_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    from eventlog.projections.context.request import ProjectHome
    from eventlog.projections.views.project_list import ListedProject
    from eventlog.store import Store

    class _ProjectFinder(Protocol):
        def __call__(self, path: str, replica: str | None = None) -> ListedProject | None: ...


class KnownProjects:
    """The projects of the log of a store; each question reads the list."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def listed(self) -> "list[ListedProject]":
        """Read the list; pass over damaged lines."""
        data = _bytes_of(f"{self._store.knowledge}/projects.jsonl")
        if not data:
            return []
        from eventlog.projections.views.project_list import ListedProject

        return ListedProject.all_in(data)

    def home(self, path: str) -> "ProjectHome | None":
        """Find the project of a path of this machine; None where it is known by its path."""
        listed = self._lines() if path else []
        if not listed:
            return None
        from eventlog.projections.context.request import ProjectHome

        here = replica_of(self._store) or None
        machines = {place[0] for project in listed for place in project["places"] if place[1] == path}
        spoke = None if machines == {None} else here  # what no machine is known to have said is of all
        same = [project for project in listed if [spoke, path] in project["places"]]
        if not same:
            from eventlog.projects.repository import remote_of

            remote = remote_of(path)
            same = [project for project in listed if remote and remote in project["parts"]]
        if same:
            return ProjectHome(str(same[0]["slug"]), str(same[0]["name"]), str(same[0]["project"]))
        if machines:
            return ProjectHome(project_slug(f"{here}:{path}"), project_name(path), f"{here}:{path}")
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
        if not project or os.path.exists(f"{self._store.knowledge}/projects/{project_slug(project)}"):
            return project or None
        if any(path == project for found in self._lines() for _, path in found["places"]):
            return project
        return project if self._is_logged(project) else None

    def about(self, path: str) -> "Callable[[str | None, str | None], bool]":
        """Build the test whether a path of a machine (None: unknown) is of the same project as this path here."""
        project = self.finder()(path)
        if project is None:
            return lambda other, _: other == path
        places = frozenset(project.places)
        paths = {place for _, place in places}
        return lambda other, replica: (replica, other) in places if replica else other in paths

    def name_of(self, path: str) -> str:
        """Name the project of a path here as events name it: by a machine seen there, else by the path alone."""
        project, here = self.finder()(path), replica_of(self._store)
        machines = {replica for replica, place in project.places if place == path} if project else {here}
        named = sorted(filter(None, machines), key=lambda replica: (replica != here, replica))
        return f"{named[0]}:{path}" if named else path

    def finder(self, listed: "Iterable[ListedProject] | None" = None) -> "_ProjectFinder":
        """Make the search for the project of a path on a machine (None: this machine), else on any seen there."""
        by_place = {
            place: project for project in (self.listed() if listed is None else listed) for place in project.places
        }
        here = replica_of(self._store) or None

        def find(path: str, replica: str | None = None) -> "ListedProject | None":
            return by_place.get((replica or here, path)) or by_place.get((None, path))

        return find

    def _lines(self) -> "list[dict[str, Any]]":
        """Read the list without any library; pass over damaged lines."""
        lines = _bytes_of(f"{self._store.knowledge}/projects.jsonl").splitlines()
        found: list[dict[str, Any]] = list(map(fastjson.object_in, lines))
        return [project for project in found if {"project", "name", "slug", "parts", "places"} <= project.keys()]

    def _is_logged(self, project: str) -> bool:
        """Return whether an event is of this project, by the index; search the bytes of changed files."""
        indexed, offsets = look_up(self._store.cached("conversations.index"), project, PROJECT)
        files = stamps_of(self._store.log, indexed)
        if any(stamp in indexed and name_in(stamp) in offsets for stamp in files):
            return True
        changed = [name_in(stamp) for stamp in files if stamp not in indexed]
        word = b'"project":' + fastjson.text(project)
        return any(word in _bytes_of(f"{self._store.log}/{name}") for name in reversed(changed))


def _bytes_of(file: str) -> bytes:
    """Read a file; nothing where it cannot be read."""
    try:
        return read_regular(file)
    except OSError:
        return b""
