"""The rows of a conversation: of every kind that the views of the catalog read."""

from collections.abc import Callable

from eventlog.projections import ALL
from eventlog.projections.current.conversations import Conversation
from eventlog.projections.current.told import Told
from eventlog.projections.engine.row_book import Book, Rows
from eventlog.projections.views.daily_notes import local_time
from eventlog.projections.views.stats import STATS
from eventlog.settings.schema import Settings

VIEWS = tuple(view for view in (*ALL, STATS) if view.view)
KINDS = tuple({kind.name: kind for projection in VIEWS if projection.view for kind in projection.view.reads}.values())


def rows_by(book: Book, settings: Settings) -> Callable[[Conversation], Rows]:
    """Return what makes the rows of a conversation, as the withdrawals and projects of a book have it."""
    local = local_time(settings.timezone)

    def rows_of(raw: Conversation) -> Rows:
        told = Told(book.identities.conversation(raw), book.withdrawn, local)
        return {(kind.name, name): row for kind in KINDS for name, row in kind.of(told).items()}

    return rows_of
