"""How well memory is kept, week by week."""

from eventlog.app.phases import Progress
from eventlog.app.replay import replay
from eventlog.hooks import avoided_log
from eventlog.log import EventLog
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.views.stats import STATS, Week, weeks
from eventlog.settings.schema import Settings


def stats(log: EventLog, since: str = "", until: str = "~", progress: Progress = lambda _d, _a: None) -> list[Week]:
    """Count the sessions each net saved, by week between two timestamps; the last row is of all weeks."""
    state = replay(log, Settings(), projections=[STATS], progress=progress).states[Conversations]
    return weeks(state, avoided_log.avoided_by_day(log.store), since=since, until=until)
