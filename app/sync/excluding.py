"""The projects that stay at home: `sync.exclude` of `config.yaml`, read and written."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eventlog.app.naming.known_projects import known_projects
from eventlog.app.open_store import OpenStore
from eventlog.projects.root import in_full
from eventlog.settings.load import parse
from eventlog.store.files import read_regular, replace_file

if TYPE_CHECKING:
    import yaml

_FIRST = "# settings of eventlog: `eventlog config` lists them all\n"


def excluded_places(opened: OpenStore) -> Iterator[str]:
    """Yield the paths that `sync.exclude` names: by path, by name or by address, each project with all its places."""
    listed = known_projects(opened.store) if opened.settings.sync.exclude else []
    for named in opened.settings.sync.exclude:
        path = in_full(named, opened.machine.home).rstrip("/") or "/"
        yield path
        for project in listed:
            places = {place for _, place in project.places}
            if named in (project.project, project.name, *project.parts) or path in places:
                yield from (project.project, *places)


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
