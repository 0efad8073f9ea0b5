"""Show what a stretch of time came to: done, decided, changed, dropped, and left open.

The memory at its end is compared with the memory at its beginning: whatever was said and taken back in between is in
neither. To-dos and sessions are those of its end.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from eventlog.app.ask.history import replay_at
from eventlog.app.ask.sessions import SessionRow
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Fact, StageSummary
from eventlog.format.text import one_line, same_text, statement_of
from eventlog.format.timestamps import order
from eventlog.projections.current.conclusions import COMPOSED, NONE, left_open
from eventlog.projections.current.distinct_facts import DistinctFact
from eventlog.projections.current.fact_scopes import DECISION
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.labels import all_for
from eventlog.projections.views.memory import MEMORY

_DECISIONS = frozenset(map(same_text, all_for(DECISION)))


class PeriodItem(Struct, frozen=True, omit_defaults=True):
    """An item of a period: its project ("" for the user), its last time, how often, by whom; what it replaced."""

    text: str
    project: str = ""
    ts: str = ""
    times: int = 1
    agent: str = ""
    was: str = ""


class Period(Struct, frozen=True, kw_only=True):
    """The outcome of a stretch of time, in a project (its path) or in all (None)."""

    since: str
    until: str
    project: str | None
    done: list[PeriodItem]
    decided: list[PeriodItem]
    changed: list[PeriodItem]
    dropped: list[PeriodItem]
    open: list[PeriodItem]


def period(opened: OpenStore, since: str, until: str = EVERYTHING, project: str | None = None) -> Period:
    """Compare what holds at two times; writes nothing."""
    before = timestamps.from_ns(timestamps.to_ns(since) - 1000)
    then, now = replay_at(opened, before, projections=[MEMORY]), replay_at(opened, until)
    known = KnownProjects(opened.store, now.identities)
    is_here, wanted = known.about(project), known.meant(project) if project else None
    held, holds = _statements(then, now, wanted), _statements(now, now, wanted)
    removed = [statement for place, statement in held.items() if place not in holds]
    new = [statement for place, statement in holds.items() if place not in held]
    successors = _successors(opened, new, removed)
    items = [(statement, _item(statement, successors.get(statement.place))) for statement in new]
    followed = {successor.place for successor in successors.values()}
    rows = [row for row in SessionRow.all_of(now) if is_here(row.project, row.replica)]
    broken_off = [row for row in rows if _broke_off(now, row)]
    over = _sessions([row for row in rows if row not in broken_off], since)
    listed = {statement_of(statement.group.first.text) for statement, _ in items}
    return Period(
        since=since,
        until=until,
        project=project,
        done=[item for item in (*over, *_closed(now, since, is_here)) if statement_of(item.text) not in listed],
        decided=_in_order(item for statement, item in items if statement.is_decision),
        changed=_in_order(item for statement, item in items if not statement.is_decision),
        dropped=_in_order(_item(statement) for statement in removed if statement.place not in followed),
        open=_in_order([*open_todos(now, rows), *_sessions(broken_off, since)]),
    )


class _Held(NamedTuple):
    """A statement that holds, and the name of its project."""

    name: str
    group: DistinctFact

    @property
    def place(self) -> tuple[str, bytes]:
        return self.name, self.group.first.same

    @property
    def is_decision(self) -> bool:
        return any(same_text(statement.category) in _DECISIONS for statement in self.group.statements)


def _statements(replayed: ReplayResult, now: ReplayResult, wanted: str | None) -> dict[tuple[str, bytes], _Held]:
    """Find what holds in the project, or everywhere, by the name that its project has now."""
    found: dict[tuple[str, bytes], _Held] = {}
    for name in replayed.index.names(MEMORY.name):
        named = now.identities.named(name) if name else ""
        if wanted in (None, named):
            held = (_Held(named, group) for group in replayed.fact_scope(name).facts)
            found |= {statement.place: statement for statement in held}
    return found


def _successors(opened: OpenStore, new: Iterable[_Held], removed: Iterable[_Held]) -> dict[tuple[str, bytes], _Held]:
    """Map what is new to the statement it took the place of: under the same key, or by a correction."""
    by_key = {
        (statement.name, fact.key): statement
        for statement in removed
        for fact in statement.group.statements
        if fact.key
    }
    by_event = {event: statement for statement in removed for event in statement.group.sources}
    new = list(new)
    lines = opened.log.find({event for statement in new for event in statement.group.sources}) if by_event else {}
    found: dict[tuple[str, bytes], _Held] = {}
    for statement in new:
        events = [lines[event].event for event in statement.group.sources if event in lines]
        replaced = [event for fact in events if isinstance(fact, Fact) for event in fact.replaces]
        before = [by_event[event] for event in replaced if event in by_event]
        keys = [(statement.name, fact.key) for fact in statement.group.statements if fact.key]
        before += [by_key[key] for key in keys if key in by_key]
        if before:
            found[statement.place] = before[0]
    return found


def _item(statement: _Held, before: _Held | None = None) -> PeriodItem:
    was = before.group.first.text if before else ""
    return PeriodItem(
        statement.group.first.text, statement.name, statement.group.last_seen, len(statement.group.statements), "", was
    )


def _in_order(items: Iterable[PeriodItem]) -> list[PeriodItem]:
    return sorted(items, key=lambda item: item.ts, reverse=True)


def _sessions(rows: Iterable[SessionRow], since: str) -> Iterator[PeriodItem]:
    """Yield what sessions of agents were about, the newest first."""
    for row in sorted(rows, key=lambda row: row.timestamp, reverse=True):
        if row.is_work and row.agent != HUMAN and max(row.timestamp, row.ended_at or "") >= since:
            yield PeriodItem(row.topic, row.project or "", row.timestamp, 1, row.agent or "")


def _broke_off(now: ReplayResult, row: SessionRow) -> bool:
    """Return whether a session ended before its agent had finished a turn or saved its outcome."""
    if row.turns or row.ended_at or row.facts or row.stages or row.source not in (COMPOSED, NONE):
        return False
    return now.index.conversation(row.session_id).resumed_at != ""


def _closed(now: ReplayResult, since: str, is_here: Callable[[str | None, str | None], bool]) -> Iterator[PeriodItem]:
    """Yield the to-dos that were called done in that time, each in its last words."""
    withdrawn, found = now.index.withdrawn, dict[str, PeriodItem]()
    for conversation in now.conversations_since(since[:10]).by_id.values():
        is_wanted = is_here(conversation.project, conversation.replica)
        for save in sorted(conversation.summaries, key=order) if is_wanted else ():
            for text in () if save.ts < since or withdrawn.hides(save) else withdrawn.cleared(save).done:
                item = PeriodItem(one_line(text), conversation.project or "", save.ts)
                found[statement_of(text)] = max(found.get(statement_of(text), item), item, key=lambda item: item.ts)
    yield from (item for statement, item in found.items() if statement)


def open_todos(now: ReplayResult, rows: Iterable[SessionRow]) -> list[PeriodItem]:
    """List what these sessions left to be done in each project, the last named first."""
    naming = {row.session_id: row for row in rows if row.todos}
    remaining = {name: now.index.conversation(name) for name in naming}
    since = min((save.ts for conversation in remaining.values() for save in conversation.summaries), default="~")
    for name, later in now.conversations_since(since[:10]).by_id.items():
        if name not in remaining and any(save.done for save in later.summaries):
            remaining[name] = now.index.conversation(name)
    saves: dict[str, dict[str, list[StageSummary]]] = {}
    for conversation in remaining.values():
        standing = [save for save in conversation.summaries if not now.index.withdrawn.hides(save)]
        saves.setdefault(conversation.project or "", {})[conversation.id] = standing
    return _in_order(
        PeriodItem(todo.text, naming[name].project or "", max(mention.ts for mention in todo.mentions))
        for of_project in saves.values()
        for name, todo in left_open(of_project, now.index.withdrawn)
        if name in naming
    )
