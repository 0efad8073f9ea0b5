"""The names of projects: by the list of the last replay, else by their paths.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import fastjson
from eventlog.format.ids import digest
from eventlog.store.files import read_regular
from eventlog.store.replica import replica_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from eventlog.store import Store

NOWHERE = "-"  # what a conversation outside of any project is about


class ProjectNames:
    """The names of projects, `known` by machine and path; `digest` changes with any of them."""

    def __init__(self, store: "Store") -> None:
        try:
            data = read_regular(f"{store.knowledge}/projects.jsonl")
        except OSError:
            data = b""
        self.digest = digest(data.decode("utf-8", "replace"), 8).hex() if data else ""
        self._here = replica_of(store) if data else ""
        self.known: dict[tuple[str, str], str] = {}
        for listed in map(fastjson.object_in, data.splitlines()):
            places = listed.get("places")
            for replica, path in places if isinstance(places, list) else ():
                self.known[replica or "", path] = str(listed.get("project", ""))

    def of(self, path: str, replica: str) -> str:
        """Name the project of a path, on the machine that spoke; "" for none."""
        return _named(self.known, path, replica)

    def changes(self, before: "Mapping[tuple[str, str], str]") -> set[tuple[str, str]]:
        """List the pairs of former and present names of places, where they differ."""
        places = before.keys() | self.known.keys()
        names = {(_named(before, path, replica), self.of(path, replica)) for replica, path in places}
        return {(then, now) for then, now in names if then != now}

    def here(self, path: str) -> str:
        """Name the project of a path of this machine."""
        return self.of(path, self._here)

    def subjects_at(self, path: str) -> tuple[str, str]:
        """Name the subjects a project of this machine may read: the user, and the project, or what has no project."""
        return "", self.here(path) or NOWHERE


def _named(known: "Mapping[tuple[str, str], str]", path: str, replica: str) -> str:
    return known.get((replica, path)) or known.get(("", path), path)
