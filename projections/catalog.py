"""Every projection there is, in the order they are listed."""

from eventlog.projections.base import Projection
from eventlog.projections.views.daily_notes import DAILY_NOTES
from eventlog.projections.views.keyword_index import KEYWORD_INDEX
from eventlog.projections.views.knowledge import KNOWLEDGE
from eventlog.projections.views.memory import MEMORY
from eventlog.projections.views.sessions import SESSIONS
from eventlog.projections.views.summaries import SUMMARIES

ALL: tuple[Projection, ...] = (SESSIONS, SUMMARIES, MEMORY, DAILY_NOTES, KEYWORD_INDEX, KNOWLEDGE)
