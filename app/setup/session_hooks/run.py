"""The session hooks a user chose: made of the settings, run for a start or an end that the log already knows of.

    session_hooks:
      logging: true
      git_cleanup: {enabled: true, main_branch: trunk, time_limit: 20}
      metrics: {enabled: true, url: "…"}       # of another package: entry point `metrics`, group eventlog.session_hooks
      project: {enabled: false}                # not even with consent: the project's own, `.eventlog/session_hooks.py`

An entry point names a class or function that is called with the options as keyword arguments and returns a
`SessionLifecycleHook`. A package that is installed but not named here does not run. A hook that cannot be made fails
whenever it would run; the others run all the same. What hooks did is appended to the log as a `host_event`
`session_hooks`, unless there was nothing to do.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import to_builtins
from msgspec.structs import replace

from eventlog.app.setup.session_hooks.built_in import CleanupOptions, GitCleanup, Logging, LoggingOptions
from eventlog.app.setup.session_hooks.hooks import (
    TIME_LIMIT,
    HookContext,
    HookOutcome,
    HookRegistry,
    HookResult,
    HookStatus,
    LateHook,
    SessionLifecycleHook,
    SessionUsage,
    get_registry,
)
from eventlog.app.setup.session_hooks.project_hooks import PLACE, ProjectHooks
from eventlog.format import SESSION_END
from eventlog.format.errors import BadSettings
from eventlog.format.events import (
    ContextInjected,
    EntryApplied,
    Event,
    HostEvent,
    SaveRequested,
    SessionEnd,
    SessionStart,
    TurnEnd,
)
from eventlog.format.timestamps import from_ns, to_ms
from eventlog.hosts.call import present
from eventlog.log.event_log import EventLog
from eventlog.projects.root import git_branch
from eventlog.settings.schema import Settings

GROUP = "eventlog.session_hooks"

_PROJECT = "project"
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Make = Callable[[dict[str, Any]], SessionLifecycleHook]
_BUILT_IN: dict[str, _Make] = {
    "logging": lambda options: Logging(msgspec.convert(options, LoggingOptions)),
    "git_cleanup": lambda options: GitCleanup(msgspec.convert(options, CleanupOptions)),
    _PROJECT: lambda options: ProjectHooks(**options),
}

_STORY = "session_hooks"
_AT_WORK_MS = 3_600_000  # a session without an end that was heard of in the last hour may still be at work

_KEY = re.compile(r"(?:^|[/_-])(?P<issue>[A-Z][A-Z0-9]{1,9}-\d+)(?=$|[/_-])")
_NUMBER = re.compile(
    r"(?:^|/)(?:(?:issue|bug|gh)s?[-_/]?)?#?(?P<issue>\d{1,7})(?=$|[/_-])(?!-\d\d(?:$|-))", re.IGNORECASE
)
_VERSIONED = re.compile(r"(?:^|/)(?:releases?|versions?|hotfix|v)/", re.IGNORECASE)  # numbers of these are versions


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


class BrokenHook(SessionLifecycleHook):
    """In the place of a hook that could not be made: says why, whenever that would have run."""

    def __init__(self, mistake: BadSettings) -> None:
        self.mistake = mistake

    def on_session_start(self, context: HookContext) -> HookResult:
        """Fail with the reason it could not be made."""
        del context
        return HookResult.failure(f"{self.mistake}; {self.mistake.hint}" if self.mistake.hint else str(self.mistake))

    on_session_end = on_session_start


def registry(session_hooks: Mapping[str, bool | Mapping[str, Any]], project: str = "") -> HookRegistry:
    """Make the hooks in the order they are named, then the project's own and those of this program (`get_registry`).

    A `BrokenHook` stands for each that cannot be made.
    """
    found = HookRegistry()
    own = {_PROJECT: True} if project and Path(project, PLACE).exists() else {}
    for name, chosen in {**session_hooks, **own, **session_hooks}.items():  # what the settings say of it counts
        try:
            _register(found, name, dict(chosen) if isinstance(chosen, Mapping) else {"enabled": chosen})
        except BadSettings as mistake:
            found.register(BrokenHook(mistake), name=name)
    found.update(get_registry())
    return found


def _register(found: HookRegistry, name: str, options: dict[str, Any]) -> None:
    enabled = _option(name, options, "enabled", True, bool)
    limit = _option(name, options, "time_limit", TIME_LIMIT, _Seconds)
    hook = _make(name, options)
    if hook:
        found.register(hook, name=name, time_limit=limit, enabled=enabled)
    elif enabled:
        raise BadSettings(
            "there is no such hook",
            where=f"session_hooks.{name}",
            hint=f"built in are {', '.join(_BUILT_IN)}; others come by an entry point {GROUP}",
        )


def _option(name: str, options: dict[str, Any], key: str, default: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(options.pop(key, default), kind)
    except msgspec.ValidationError as error:
        raise BadSettings(str(error), where=f"session_hooks.{name}.{key}") from error


def _make(name: str, options: dict[str, Any]) -> SessionLifecycleHook | None:
    """Built-in options are checked even where the hook is off, so that turning it on is no surprise."""
    make = _BUILT_IN.get(name) or _foreign(name)
    if make is None:
        return None
    try:
        return make(options)
    except BadSettings:
        raise
    except Exception as error:
        raise BadSettings(str(error), where=f"session_hooks.{name}", hint="see the options of the hook") from error


def _foreign(name: str) -> _Make | None:
    from importlib.metadata import entry_points

    point = next(iter(entry_points(group=GROUP, name=name)), None)
    return (lambda options: LateHook(lambda: point.load()(**options))) if point else None


def issue_of(branch: str | None) -> str | None:
    """Find the issue: a tracker's key, else a number that a part of the branch's name begins with."""
    if not branch:
        return None
    found = _KEY.search(branch) or (None if _VERSIONED.search(branch) else _NUMBER.search(branch))
    return found["issue"] if found else None


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
    return event.layer == SESSION_END or told_by_hooks or isinstance(event, (ContextInjected, EntryApplied))
