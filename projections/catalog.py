"""The projections of this package, then those of other packages, by entry point `eventlog.projections`.

An entry point names a `Projection` with a name and files of its own. A projection that cannot be loaded, or would write
the files of another, is reported and left out; it never stops a replay.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from eventlog.format.errors import BadRequest
from eventlog.hosts import packages
from eventlog.projections.base import Projection
from eventlog.projections.views.daily_notes import DAILY_NOTES
from eventlog.projections.views.keyword_index import KEYWORD_INDEX
from eventlog.projections.views.knowledge import KNOWLEDGE
from eventlog.projections.views.memory import MEMORY
from eventlog.projections.views.project_list import PROJECTS
from eventlog.projections.views.sessions import SESSIONS
from eventlog.projections.views.stats import STATS
from eventlog.projections.views.summaries import SUMMARIES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "eventlog.projections"
ALL: tuple[Projection, ...] = (SESSIONS, SUMMARIES, MEMORY, DAILY_NOTES, KEYWORD_INDEX, PROJECTS, KNOWLEDGE)
VIEWS = {projection.name: projection.view for projection in (*ALL, STATS) if projection.view}
KINDS = {kind.name: kind for view in VIEWS.values() for kind in view.reads}


class _Catalog(NamedTuple):
    """The projections in the order of lists; `broken`: entry point -> why it is left out."""

    projections: tuple[Projection, ...]
    broken: Mapping[str, str]


@cache
def installed() -> _Catalog:
    """Load the projections of other packages, once; a broken projection does not make this fail."""
    found, broken = list(ALL), {}
    points: list[EntryPoint] = []
    if any(packages.named(GROUP)):  # to list entry points takes longer than a replay
        from importlib.metadata import entry_points

        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    for point in points:
        try:
            projection = _loaded(point)
            _check(projection, found)
        except Exception as error:  # noqa: BLE001 - another package's code
            broken[point.name] = f"{type(error).__name__}: {error}" if not isinstance(error, BadRequest) else error.what
        else:
            found.append(projection)
    return _Catalog(tuple(found), broken)


def chosen(names: Iterable[str]) -> tuple[Projection, ...]:
    """Return the projections with these names, all for no names; raises BadRequest."""
    catalog = installed()
    by_name = {projection.name: projection for projection in catalog.projections}
    wanted = list(names) or list(by_name)
    for name in wanted:
        if name in catalog.broken:
            raise BadRequest(f"the projection {name!r} cannot be used: {catalog.broken[name]}")
        if name not in by_name:
            raise BadRequest(f"no projection {name!r}", hint=f"known: {', '.join(by_name)}")
    return tuple(by_name[name] for name in wanted)


def _loaded(point: "EntryPoint") -> Projection:
    """Load a projection; raises BadRequest, or any error of its module."""
    projection = point.load()
    if not isinstance(projection, Projection):
        raise BadRequest(f"{point.value} is no Projection")
    if projection.name != point.name:
        raise BadRequest(f"{point.value} calls itself {projection.name!r}")
    return replace(projection, package=point.dist.name if point.dist else point.value)


def _check(projection: Projection, others: Iterable[Projection]) -> None:
    """Check that a projection is complete and its files are its own; raises BadRequest."""
    version, methods = getattr(projection.state, "version", None), ("fold", "merge")
    if not isinstance(version, int) or not all(callable(getattr(projection.state, name, None)) for name in methods):
        raise BadRequest("its state lacks version, fold or merge")
    if projection.render is None:
        raise BadRequest("it has no `render`")
    for pattern in projection.owns:
        parts = PurePosixPath(pattern).parts
        if not parts or pattern.startswith("/") or {"..", "**"} & set(parts):
            raise BadRequest(f"it owns {pattern!r}, which is no pattern of files of the knowledge directory")
    for other in others:
        if other.name == projection.name:
            raise BadRequest(f"there is a projection {other.name!r} already")
        for pattern, theirs in product(projection.owns, other.owns):
            if Projection.matches(pattern, theirs) or Projection.matches(theirs, pattern):
                raise BadRequest(f"it owns {pattern!r}, and {other.name} owns {theirs!r}")
