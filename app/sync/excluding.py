"""The projects that stay at home: `sync.exclude` of `config.yaml`, read and written."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from eventlog.app.naming.known_projects import known_projects, project_finder
from eventlog.app.open_store import OpenStore
from eventlog.format.text import project_name
from eventlog.projects.root import in_full
from eventlog.settings.load import parse
from eventlog.store import project_slug
from eventlog.store.files import read_regular, replace_file

if TYPE_CHECKING:
    import yaml

    from eventlog.projections.views.project_list import ListedProject

_FIRST = "# settings of eventlog: `eventlog config` lists them all\n"


class ExcludedProjects:
    """The projects that `sync.exclude` names by path, name or address, each in all its places."""

    def __init__(self, opened: OpenStore) -> None:
        self._store, self._here = opened.store, opened.replica or None
        self._names = frozenset(opened.settings.sync.exclude)
        self._paths = {in_full(name, opened.machine.home).rstrip("/") or "/" for name in self._names}
        listed = self._listed if self._names else []
        self._find = project_finder(opened.store, listed)
        paths = {path for project in listed for _, path in project.places}
        inside = {found.project for path in paths if self._is_inside(path) and (found := self._find(path))}
        self._chosen = {project.project for project in listed if self._is_named(project)} | inside
        self._paths |= {path for path in paths if (found := self._find(path)) and found.project in self._chosen}

    @cached_property
    def _listed(self) -> "list[ListedProject]":
        return known_projects(self._store)

    def has_place(self, path: str, replica: str | None = None) -> bool:
        """Return whether a path of a machine (None: this machine) is that of such a project, or lies inside."""
        if found := self._find(path, replica):
            return found.project in self._chosen
        return self._is_inside(path) or project_name(path) in self._names

    def has_name(self, name: str) -> bool:
        """Return whether such a project is called so: by its address, `replica:path`, or a path."""
        replica, colon, path = name.partition(":")
        if not name.startswith("/") and colon:
            return self.has_place(path, replica)
        named = {project.project for project in self._listed if name in project.parts}
        return not named.isdisjoint(self._chosen) or self.has_place(name)

    def places_of(self, directory: str, paths: Iterable[str]) -> set[tuple[str, str | None]]:
        """Find the places of the project with a directory: those here, if there are any, else all.

        Where that project is not listed, its place is one of `paths`.
        """
        listed = [place for project in self._listed if directory in project.directories for place in project.places]
        here = {(path, replica) for replica, path in listed if replica == self._here}
        unlisted: set[tuple[str, str | None]] = {
            (path, None) for path in (*paths, *self._paths) if project_slug(path) == directory
        }
        return here or {(path, replica) for replica, path in listed} or unlisted

    def _is_inside(self, path: str) -> bool:
        return any(path == place or path.startswith(f"{place}/") for place in self._paths)

    def _is_named(self, project: "ListedProject") -> bool:
        return not self._names.isdisjoint((project.project, project.name, *project.parts))


def exclude_projects(opened: OpenStore, paths: list[str]) -> list[str]:
    """Add projects to `sync.exclude`, and return all that it names; the rest of the file stays as it is.

    Raises BadSettings or NotStored.
    """
    store, chosen = opened.store, opened.settings.sync
    excluded = list(dict.fromkeys([*chosen.exclude, *paths]))
    if excluded != chosen.exclude:
        try:
            text = read_regular(store.config).decode("utf-8-sig")
        except FileNotFoundError:
            text = _FIRST
        values = {"auto": chosen.auto, "exclude": excluded, "texts": chosen.texts}
        new = _with_sync(text, {name: value for name, value in values.items() if value})
        parse(new.encode(), store.config)
        replace_file(store.config, new.encode())
    return excluded


def _with_sync(text: str, values: dict[str, object]) -> str:
    """Write the values of `sync` into the text of a `config.yaml`, in the place of those it has."""
    import yaml  # every exchange asks what is excluded, few write it

    written = yaml.safe_dump(values, default_flow_style=True, allow_unicode=True, width=10_000).strip()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    for key, value in pairs:
        if key.value == "sync":
            before = text[: value.start_mark.index]
            return f"{before}{' ' if before.endswith(':') else ''}{written}{text[_end_of(value) :]}"
    if isinstance(root, yaml.MappingNode) and root.flow_style:
        start = root.start_mark.index + 1
        return f"{text[:start]}sync: {written}{', ' if pairs else ''}{text[start:]}"
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}sync: {written}\n"


def _end_of(node: "yaml.Node") -> int:
    """Find where the text of a node ends: that of a block ends with its last value, before any comment."""
    import yaml

    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
