"""Who worked when, and what each session came to."""

from collections.abc import Collection
from itertools import islice

import msgspec
from msgspec import Struct

from eventlog.app.build.replay import replay
from eventlog.app.naming.known_projects import about
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.sessions import LINES

NEWEST = 50


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
    limit: int | None = NEWEST,
    progress: Progress = lambda _done, _all: None,
) -> list[SessionRow]:
    """List the newest sessions that began between the two timestamps, oldest first; all without a limit.

    `project` and `agents` are as the log has them.
    """
    lines = replay(opened.log, opened.settings, save=False, progress=progress).newest_rows(LINES)
    is_about = about(opened.store, project) if project else None
    rows = (_decoder.decode(line.line) for line in lines if since <= line.started_at <= until)
    here = (row for row in rows if is_about is None or is_about(row.project, None))
    wanted = (row for row in here if not agents or row.agent in agents)
    return list(islice(wanted, limit))[::-1]


def rows_of(replayed: ReplayResult) -> list[SessionRow]:
    """Read the conversations of a replay, by start."""
    return [_decoder.decode(line.line) for line in replayed.newest_rows(LINES)][::-1]
