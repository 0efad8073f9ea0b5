"""Every projection there is, in the order they are listed."""

from eventlog.projections.base import Projection
from eventlog.projections.daily_notes import DAILY_NOTES
from eventlog.projections.keywords import KEYWORDS
from eventlog.projections.knowledge import KNOWLEDGE
from eventlog.projections.memory import MEMORY
from eventlog.projections.sessions import SESSIONS
from eventlog.projections.summaries import SUMMARIES

ALL: tuple[Projection, ...] = (SESSIONS, SUMMARIES, MEMORY, DAILY_NOTES, KEYWORDS, KNOWLEDGE)
