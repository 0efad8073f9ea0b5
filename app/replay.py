"""A replay of a store's log, with the checkpoints of that store."""

from collections.abc import Sequence

from eventlog.app.checkpoints import Checkpoints
from eventlog.log import EventLog
from eventlog.projections import ALL
from eventlog.projections.base import Projection
from eventlog.projections.engine.replay import EVERYTHING, Keep, Progress, ReplayResult
from eventlog.projections.engine.replay import replay as fold_and_render
from eventlog.settings.schema import Settings


def replay(
    log: EventLog,
    settings: Settings,
    *,
    projections: Sequence[Projection] = ALL,
    until: str = EVERYTHING,
    keep: Keep | None = None,
    checkpoints: bool = True,
    save: bool = True,
    progress: Progress = lambda _done, _all: None,
) -> ReplayResult:
    """Render the events with `ts <= until` that `keep` accepts.

    Without `checkpoints` none are read, without `save` nothing at all is written.
    """
    cache = Checkpoints(log.store.cached("checkpoints"), reads=checkpoints, writes=save)
    return fold_and_render(
        log, settings, projections=projections, until=until, keep=keep, cache=cache, progress=progress
    )
