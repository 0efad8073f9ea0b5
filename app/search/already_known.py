"""The knowledge of a conversation: its own statements and those it was given, in any event's words.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format.marks import has_line_mark, line_marks_in
from eventlog.format.text import statement_of
from eventlog.hooks.conversation import all_events
from eventlog.projections.search.findable import text_in, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.app.search.search_index import Hit
    from eventlog.store import Store
    from eventlog.store.index_lookup import FileStamp


class AlreadyKnown:
    """The events a conversation was given, the marks of those lines, its own statements, and who listens."""

    def __init__(self, store: "Store", conversation: str, log_files: "list[FileStamp]", *, shared: bool) -> None:
        """Read what the log has of a conversation; raises TooMuch or OSError."""
        self._conversation = conversation
        self._shared = shared
        self._events: set[str] = set()
        self._lines: set[str] = set()
        self._stated: set[str] = set()
        for event in all_events(store, conversation, log_files):
            self._shared = self._shared or event.get("session_type") == "shared"
            if event.get("subagent"):  # what a helper was told or stated, the conversation does not know
                continue
            if event.get("type") == "context_injected":
                self._events.update(texts_in(event, "sources"))
                self._lines |= line_marks_in(text_in(event, "lines"))
            elif event.get("type") == "fact":
                self._stated.add(statement_of(text_in(event, "content")))

    def lacks(self, hit: "Hit") -> bool:
        """Return whether the conversation may read this, and knows neither it nor what is newer and opposes it."""
        from eventlog.app.naming.known_projects import NOWHERE

        if self._shared and hit.subject in ("", NOWHERE):
            return False
        found = hit.found
        is_known = found.id in self._events or found.conversation == self._conversation
        is_known = is_known or has_line_mark(found.shown, self._lines) or not all(map(self.lacks, hit.newer))
        return not is_known and found.leave_out(self._stated)
