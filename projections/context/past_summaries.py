"""Summaries of sessions: the own one of a session that came back, or the newest of the project for a new one.

What was said lately is summed up from the log itself, so that nothing waits for a replay. Older summaries are taken
from the rendered files; which those are, the project's index tells.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from eventlog.fast.sha import sha256
from eventlog.format.events import KnownFile, counts_at
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.context.recent_events import Visible, retractions_since, said_in, withdrawals_between
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.current.conclusions import conclude
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.engine.row_store import RowStore
from eventlog.projections.views.markdown import is_stamp, stamped_at
from eventlog.projections.views.summaries import document
from eventlog.settings.schema import Settings
from eventlog.store import conversation_name
from eventlog.store.files import read_regular

_LINK = re.compile(r"^- \[\d{4}-\d\d-\d\d\]\((?:\.\./)*sessions/(?P<name>[A-Za-z0-9._-]+)\.md\)", re.MULTILINE)


class PastSummary(NamedTuple):
    """The summary of a session; `file` where it was taken from a rendered one."""

    name: str
    lines: tuple[Line, ...]
    file: KnownFile | None = None


class PastSummaries(NamedTuple):
    """The summaries of earlier sessions, found when asked for.

    `lately` has the facts and summaries already loaded; `visible` is the listener's filter.
    """

    log: EventLog
    cache: RowStore
    settings: Settings
    lately: Conversations
    since: str  # what was said from then on is in `lately`
    now: str
    visible: Visible
    elsewhere: frozenset[str] = frozenset()  # names of conversations that are another project's by now

    def newest(self, request: ContextRequest, *, shared: bool) -> Iterator[PastSummary]:
        """Yield the summaries of other conversations, those last at work first.

        Files are for main sessions only: facts about the user may have gone into them; and for the project whose index
        names them: of a conversation that worked elsewhere, what it said of this one is all that is heard here.
        """
        but = request.session_id
        indexed = dict.fromkeys(() if shared else self._indexed(request.folder))
        fresh = [
            conversation
            for conversation in self.lately.by_id.values()
            if request.is_about(conversation.project, conversation.replica) and conversation.id != but
        ]
        fresh.sort(key=lambda conversation: (conversation.last_at, conversation.id), reverse=True)
        for conversation in fresh:
            name = conversation_name(conversation.id)
            rendered = self._rendered(name, conversation.last_at) if name in indexed else None
            yield rendered or PastSummary(conversation.id, self.from_log(conversation.id))
        told = {
            conversation_name(conversation_id)
            for conversation_id in (but, *(conversation.id for conversation in fresh))
            if conversation_id
        }
        for name in indexed:
            if name not in told:
                yield self._rendered(name) or PastSummary(name, self.from_log(name))

    def from_log(self, conversation_id: str) -> tuple[Line, ...]:
        """Sum a conversation up; nothing where it has not come to anything."""
        conversation = said_in(self.log, conversation_id, self.now, self.visible)
        words = [*conversation.facts, *conversation.summaries]
        if not words:
            return ()
        begun = min(event.ts for event in words)
        all_known = begun >= self.since
        withdrawn = (self.lately if all_known else retractions_since(self.log, self.cache, begun, self.now)).withdrawn()
        conclusion = conclude(conversation, withdrawn)
        if conclusion.source == "none":
            return ()
        return _body(document(conversation, conclusion, withdrawn, self.settings).lines)

    def _rendered(self, name: str, last_word: str = "") -> PastSummary | None:
        """Read a summary from its file; None where it is not there, or older than what was said or withdrawn since."""
        path = f"{self.log.store.knowledge}/sessions/{name}.md"
        try:
            data = read_regular(path)
            text = data.decode()
        except (OSError, UnicodeDecodeError):  # the latter: not as it was rendered, and no text for a prompt
            return None
        stamp = stamped_at(data)
        if stamp is None or stamp < last_word or self._withdrawn_since(stamp):
            return None
        lines = tuple(map(Line, text.splitlines()))
        return PastSummary(name, _body(lines), KnownFile(path, sha256(data), stamp))

    def _withdrawn_since(self, ts: str) -> bool:
        if ts >= self.since:
            return any(counts_at(one) > ts for one in self.lately.retractions)
        made = withdrawals_between(self.log, self.cache, ts, self.now)
        return any(counts_at(one) > ts and not one.subagent for one in made)

    def _indexed(self, folder: str) -> list[str]:
        try:
            index = f"{self.log.store.knowledge}/{folder}INDEX.md"
            text = read_regular(index).decode("utf-8", "replace")
        except OSError:
            return []
        return [match["name"] for match in _LINK.finditer(text) if match["name"] not in self.elsewhere]


def _body(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Strip the title, the stamp and the empty lines around."""
    kept = [line for line in lines[1:] if not is_stamp(line.text)]
    while kept and not kept[0].text:
        del kept[0]
    while kept and not kept[-1].text:
        del kept[-1]
    return tuple(kept)
