"""How well memory is kept, week by week."""

from itertools import chain

from eventlog.app.build.replay import replay
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress
from eventlog.hooks import avoided_log
from eventlog.projections.views.stats import COUNTS, Week, summed, weeks


def stats(opened: OpenStore, since: str = "", until: str = "~", progress: Progress = lambda _d, _a: None) -> list[Week]:
    """Count the sessions each net saved, by week between two timestamps; the last row is of all weeks."""
    replayed = replay(opened.log, opened.settings, save=False, progress=progress)
    avoided = avoided_log.avoided_by_day(opened.store)
    if (since, until) == ("", "~"):
        return summed(chain.from_iterable(replayed.totals(COUNTS)), avoided)
    return weeks(replayed.rows(COUNTS), avoided, since=since, until=until)
