"""Show where a project stands: its last work, its open entries, its memory files, and whether hooks work."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from eventlog.app.ask.period import open_todos
from eventlog.app.ask.sessions import SessionRow
from eventlog.app.build.apply import apply
from eventlog.app.build.apply_result import ApplyResult, SectionChange
from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.replay import replay
from eventlog.app.build.staging import StagedEntry
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.app.setup.install.host_report import Report, examine
from eventlog.app.setup.install.install import InstallTarget
from eventlog.app.team.share import team_rows
from eventlog.app.write.rejections import worded
from eventlog.format import SESSION_END, timestamps
from eventlog.format.events import Event, Fact, Rejected, StageSummary
from eventlog.format.local_time import local_time
from eventlog.format.retractions import Retractions
from eventlog.format.text import fold, one_line, project_name, statement_of
from eventlog.format.timestamps import order
from eventlog.hooks import error_log
from eventlog.hooks.error_log import Lost
from eventlog.log import days
from eventlog.projections.current.fact_scopes import DECISION
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.labels import MEANING
from eventlog.projections.views.markdown import DATED, unstamped
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.cached import off_switch

if TYPE_CHECKING:
    from eventlog.app.sync.sync_status import SyncStatus

_RECENT_MS = 7 * 86_400_000


class AgentPulse(NamedTuple):
    """An agent that is found here: whether its hooks are installed, when one last arrived, and what it needs."""

    agent: str
    installed: bool
    last: str | None
    fix: str


class Brief(Struct, frozen=True):
    """The state of a store as seen from one project; `agents` are those found on this machine or heard of."""

    store: str
    project: str
    events: int
    sessions: int
    last: SessionRow | None
    todos: list[str]
    recent: dict[str, int]
    agents: list[AgentPulse]
    staged: list[StagedEntry]
    edited: int
    unreadable: int = 0  # files of the log
    lost: Lost | None = None  # lately, by hooks
    switch: str = ""  # what switches memory off here
    team: int = 0  # decisions in this checkout that wait for a person's consent
    sync: "SyncStatus | None" = None

    @property
    def is_empty(self) -> bool:
        """The store has no event yet."""
        return not (self.events or self.unreadable)


def brief(opened: OpenStore, target: InstallTarget) -> Brief:
    """Show where the target's project stands; write no file outside the cache."""
    replayed = _replayed(opened)
    rows, root = SessionRow.all_of(replayed), str(target.project)
    is_here = KnownProjects(opened.store, replayed.identities).about(root)
    here = [row for row in rows if is_here(row.project, row.replica)]
    soon = timestamps.from_ns(opened.machine.clock() + timestamps.FOLLOWED)  # later is what a wrong clock has dated
    waiting, lost = apply(opened, state=replayed.knowledge, dry_run=True), error_log.lost(opened.store)
    return Brief(
        store=opened.store.root,
        project=root,
        events=replayed.events,
        sessions=len(rows),
        last=max(
            (row for row in here if row.is_work), key=lambda row: (row.started_at < soon, row.started_at), default=None
        ),
        todos=[todo.text for todo in open_todos(replayed, here)],
        recent=_recent(replayed, is_here, opened.machine.clock()),
        agents=[_pulse(report) for report in examine(target) if report.found or report.installed],
        staged=waiting.staged,
        edited=len(waiting.edited),
        unreadable=len(days.unreadable(opened.log.store.log)),
        lost=lost if lost and lost.last_ns > opened.machine.clock() - _RECENT_MS * 1_000_000 else None,
        switch=off_switch(opened.machine.environ, root),
        team=sum(row.is_new for row in team_rows(opened.store, root, opened.machine.now())),
        sync=_sync(opened),
    )


def _replayed(opened: OpenStore) -> ReplayResult:
    """Replay, and write the cache: what is asked next takes less."""
    replayed = replay(opened.log, opened.settings, writes=True)
    replayed.save()
    return replayed


def _recent(replayed: ReplayResult, is_here: Callable[[str | None, str | None], bool], now_ns: int) -> dict[str, int]:
    """Count what was saved here in the last seven days, by category, the most frequent first; a statement once."""
    since = timestamps.from_ns(now_ns - _RECENT_MS * 1_000_000)
    withdrawn = replayed.index.withdrawn
    saved = {
        (one_line(category), statement_of(text))
        for conversation in replayed.conversations_since(since[:10]).by_id.values()
        for save in (*conversation.facts, *conversation.summaries)
        if save.ts >= since
        and is_here(save.project or conversation.project, save.replica or conversation.replica)
        and not withdrawn.hides(save)
        for category, text in _statements(save, withdrawn)
    }
    return dict(Counter(MEANING.get(fold(category), category) for category, _ in sorted(saved)).most_common())


def _statements(save: Event, withdrawn: Retractions) -> list[tuple[str, str]]:
    """List statements that a save adds to a memory, by category; decisions drawn from a transcript add nothing yet."""
    if isinstance(save, Fact):
        return [(save.category or "fact", save.content)]
    assert isinstance(save, StageSummary)
    return [(DECISION, text) for text in withdrawn.cleared(save).decisions if save.layer != SESSION_END]


def _sync(opened: OpenStore) -> "SyncStatus | None":
    if not Path(opened.store.sync).is_dir():
        return None
    from eventlog.app.sync.sync_status import sync_status  # few stores sync

    return sync_status(opened)


def _pulse(report: Report) -> AgentPulse:
    serious = sorted(report.problems, key=lambda problem: not problem.serious)
    needed = next((problem.fix for problem in serious if problem.serious or problem.pending), "")
    return AgentPulse(report.agent, bool(report.installed), report.last, needed)


class StatusReport(Struct, frozen=True):
    """The sections that wait, by why they do.

    `pending`: apply writes them. `idle`: pending, and so already. `drifted`: edited by a person, not yet
    recorded. `staged`: for a decision. `blocked`: files that cannot be written, and why.
    `rejected`: what a person does not want said, the newest last; it waits for nothing.
    """

    pending: list[SectionChange]
    idle: list[SectionChange]
    drifted: list[SectionChange]
    staged: list[StagedEntry]
    blocked: list[tuple[str, str]]
    rejected: list[Rejected] = []

    @property
    def anything_waits(self) -> bool:
        """The store has entries that wait, or files to change."""
        return bool(self.pending or self.idle or self.drifted or self.staged or self.blocked)


def status(opened: OpenStore) -> StatusReport:
    """List what is pending, staged, blocked or edited by hand; writes nothing."""
    found: ApplyResult = apply(opened, dry_run=True)
    rejected = Retractions(withdrawals_until(opened.log, open_for_reading(opened.store))).decisions
    waiting = found.applied, found.nothing, found.edited, found.staged, found.pending
    return StatusReport(*waiting, rejected=worded(opened.log, sorted(rejected, key=order)))


_BULLET = re.compile(rf"- {DATED}")


class KnownPage(NamedTuple):
    """A memory file, as a replay would write it now: of a project, or of the user (""); without its last line."""

    project: str
    path: str
    lines: list[str]


def known(opened: OpenStore, project: str | None, since: str = "") -> list[KnownPage]:
    """List what is known of a project, by its path ("": of none), or of all (None), by name, and at last of the user.

    Of lines that nobody said `since` the day of a time, only the places are left, as others keep their numbers. Leave
    out pages without lines.
    """
    replayed = _replayed(opened)
    names = sorted(filter(None, replayed.index.names(MEMORY.name)), key=lambda name: (project_name(name), name))
    if project is not None:
        names = [KnownProjects(opened.store, replayed.identities).meant(project)] if project else []
    day = since and local_time(opened.settings.timezone)(since)[:10]
    paths = {name: replayed.identities.document(name, "MEMORY.md") for name in names if name} | {"": "MEMORY.md"}
    found = ((name, path, replayed.document(path)) for name, path in paths.items())
    pages = [KnownPage(name, path, _lines_since(unstamped(text), day)) for name, path, text in found if text]
    return [page for page in pages if page.lines]


def _lines_since(lines: list[str], day: str) -> list[str]:
    """Leave the places of older lines empty, and of headings without lines; nothing where none is left."""
    if not day:
        return lines
    chosen = [line if (bullet := _BULLET.match(line)) and bullet["day"] >= day else "" for line in lines]
    heading = 0
    for number, line in enumerate(lines):
        heading = number if line.startswith("#") else heading
        chosen[heading] = lines[heading] if chosen[number] else chosen[heading]
    return [lines[0], *chosen[1:]] if any(chosen) else []
