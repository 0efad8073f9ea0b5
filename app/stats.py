"""How well memory is kept, week by week."""

from eventlog.app.open_store import OpenStore
from eventlog.app.phases import Progress
from eventlog.app.replay import replay
from eventlog.hooks import avoided_log
from eventlog.projections.views.stats import COUNTS, Week, weeks


def stats(opened: OpenStore, since: str = "", until: str = "~", progress: Progress = lambda _d, _a: None) -> list[Week]:
    """Count the sessions each net saved, by week between two timestamps; the last row is of all weeks."""
    sessions = replay(opened.log, opened.settings, save=False, progress=progress).rows(COUNTS)
    return weeks(sessions, avoided_log.avoided_by_day(opened.store), since=since, until=until)
