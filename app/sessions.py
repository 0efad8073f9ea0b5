"""Who worked when, and what each session came to."""

from collections.abc import Collection

import msgspec
from msgspec import Struct

from eventlog.app.known_projects import about
from eventlog.app.open_store import OpenStore
from eventlog.app.phases import Progress
from eventlog.app.replay import replay
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.sessions import SESSIONS

NEWEST = 20


class SessionRow(Struct, frozen=True, kw_only=True):
    """One conversation, as a line of `sessions.jsonl` tells of it."""

    id: str
    session_id: str
    topic: str
    summary: str
    decisions: list[str]
    todos: list[str]
    timestamp: str
    auto_generated: bool
    source: str
    project: str | None
    agent: str | None
    started_at: str
    ended_at: str | None
    end_reason: str | None
    turns: int
    facts: int
    stages: int
    revisions: int
    events: int


_decoder = msgspec.json.Decoder(SessionRow)


def sessions(
    opened: OpenStore,
    *,
    project: str | None = None,
    agents: Collection[str] = (),
    since: str = "",
    until: str = "~",
    limit: int = NEWEST,
    progress: Progress = lambda _done, _all: None,
) -> list[SessionRow]:
    """List the newest sessions that began between the two timestamps, oldest first.

    `project` and `agents` are as the log has them.
    """
    rows = rows_of(replay(opened.log, opened.settings, projections=[SESSIONS], progress=progress))
    is_about = about(opened.store, project) if project else None
    found = [
        row
        for row in rows
        if since <= row.started_at <= until
        and (is_about is None or is_about(row.project, None))
        and (not agents or row.agent in agents)
    ]
    return found[-limit:]


def rows_of(replayed: ReplayResult) -> list[SessionRow]:
    """Read the conversations of a replay that rendered `sessions.jsonl`, by start."""
    documents = (document for document in replayed.documents if document.path == "sessions.jsonl")
    return [_decoder.decode(line.text) for document in documents for line in document.lines]
