"""The session hooks a user chose, run for a start or an end that the log already knows of.

What they did is appended to the log as a `host_event` `session_hooks`, unless there was nothing to do.
"""

from msgspec import to_builtins
from msgspec.structs import replace

from eventlog import layers
from eventlog.app.session_hooks.from_settings import registry
from eventlog.app.session_hooks.hook_base import HookStatus
from eventlog.app.session_hooks.hook_context import HookContext, SessionUsage
from eventlog.app.session_hooks.issue import issue_of
from eventlog.app.session_hooks.registry import HookOutcome
from eventlog.events import (
    ContextInjected,
    EntryApplied,
    Event,
    HostEvent,
    SaveRequested,
    SessionEnd,
    SessionStart,
    TurnEnd,
)
from eventlog.hosts.call import present
from eventlog.log import EventLog
from eventlog.project import git_branch
from eventlog.settings.schema import Settings
from eventlog.timestamps import from_ns, to_ms

_STORY = "session_hooks"
_AT_WORK_MS = 3_600_000  # a session without an end that was heard of in the last hour may still be at work


def run_hooks(
    log: EventLog, settings: Settings, event: SessionStart | SessionEnd, cwd: str = "", issue: str = ""
) -> list[HookOutcome]:
    """Run the hooks for one event of the log; `cwd` is where the session worked, if not in the project itself."""
    hooks = registry(settings.session_hooks, event.project or "")
    context = _context(log, event, cwd, issue)
    context = replace(context, issue_state=hooks.issue_state(context))
    outcomes = hooks.run("start" if isinstance(event, SessionStart) else "end", context)
    _remember(log, event, outcomes)
    return outcomes


def _context(log: EventLog, event: SessionStart | SessionEnd, cwd: str, issue: str) -> HookContext:
    where = cwd or event.project or ""
    events = [told for told in log.session(event.conversation_id) if not told.subagent]
    started_on = next((told.git_branch for told in events if isinstance(told, SessionStart)), None)
    branch = git_branch(where) if where else None
    context = HookContext(
        session_id=event.conversation_id,
        cwd=where,
        project=event.project or "",
        agent=event.agent or "",
        store=log.store.root,
        at=event.ts,
        start_branch=started_on,
        branch=branch,
        issue=issue or issue_of(branch) or issue_of(started_on),
        usage=_usage(events),
    )
    if isinstance(event, SessionStart):
        return replace(context, reason=event.source or "")
    return replace(context, reason=event.reason or "", others=_at_work(log, event))


def _usage(events: list[Event]) -> SessionUsage:
    compactions = [told for told in events if isinstance(told, SaveRequested) and told.trigger == "pre_compact"]
    last = compactions[-1] if compactions else SaveRequested(conversation_id="", trigger="pre_compact")
    durations = [told.duration_ms for told in events if isinstance(told, SessionEnd) and told.duration_ms is not None]
    turns = sum(isinstance(told, TurnEnd) for told in events)
    return SessionUsage(turns, last.context_usage_percent, last.message_count, durations[-1] if durations else None)


def _remember(log: EventLog, event: Event, outcomes: list[HookOutcome]) -> None:
    """Append what hooks did, or why they did not: it belongs to the story of the session."""
    worth_it = [
        outcome for outcome in outcomes if outcome.hook != "logging" or outcome.result.status is HookStatus.FAILURE
    ]
    told = {
        outcome.hook: to_builtins(outcome.result)
        for outcome in worth_it
        if outcome.result.status is not HookStatus.SKIPPED
    }
    if told:
        about = {"conversation_id": event.conversation_id, "project": event.project, "agent": event.agent}
        log.append({"type": "host_event", "name": _STORY, "payload": told, **present(about)})


def _at_work(log: EventLog, end: Event) -> tuple[str, ...]:
    """Find other sessions of the project that were heard of lately and have not ended since."""
    if not end.project:
        return ()
    since = from_ns((to_ms(end.ts) - _AT_WORK_MS) * 1_000_000)
    ended: dict[str, bool] = {}
    for event in log.read(since):
        if event.project == end.project and event.conversation_id != end.conversation_id and not _is_our_own(event):
            ended[event.conversation_id] = isinstance(event, SessionEnd)
    return tuple(session for session, has_ended in ended.items() if not has_ended)


def _is_our_own(event: Event) -> bool:
    """Tell whether this program added it, perhaps after the session was over."""
    told_by_hooks = isinstance(event, HostEvent) and event.name == _STORY
    return event.layer == layers.SESSION_END or told_by_hooks or isinstance(event, (ContextInjected, EntryApplied))
