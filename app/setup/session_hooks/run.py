"""Record starts and ends of sessions; construct the session hooks of the settings, list them, and run them.

    session_hooks:
      logging: true
      git_cleanup: {enabled: true, main_branch: trunk, time_limit: 20}
      metrics: {enabled: true, url: "…"}       # of another package: entry point `metrics`, group eventlog.session_hooks
      project: {enabled: false}                # not even with approval: the project's own, `.eventlog/session_hooks.py`

An entry point names a class or function that is called with the options as keyword arguments and returns a
`SessionLifecycleHook`. A package that is installed but not named here does not run. A hook that cannot be constructed
fails whenever it would run; the others run. Results are appended to the log as a `host_event` `session_hooks`, unless
they were skipped.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import to_builtins
from msgspec.structs import replace

from eventlog.app.setup.session_hooks.built_in import PLACE, GitCleanup, Logging, OwnHooks, ProjectHooks
from eventlog.app.setup.session_hooks.hooks import (
    TIME_LIMIT,
    HookContext,
    HookOutcome,
    HookRegistry,
    HookResult,
    HookStatus,
    LazyHook,
    SessionLifecycleHook,
    SessionMoment,
    SessionUsage,
    get_registry,
)
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
from eventlog.projects.root import git_branch, git_head, project_root
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.shared_files import NotConfined

GROUP = "eventlog.session_hooks"

_PROJECT = "project"
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Make = Callable[[Any], SessionLifecycleHook]
_BUILT_IN: dict[str, tuple[_Make, type[msgspec.Struct] | None]] = {  # and what their options are
    "logging": (Logging, Logging.LoggingOptions),
    "git_cleanup": (GitCleanup, GitCleanup.CleanupOptions),
    _PROJECT: (lambda options: ProjectHooks(**options), None),
}

_STORY = "session_hooks"
_RUNNING_MS = 3_600_000  # a session without an end and with an event in the last hour may still run

_KEY = re.compile(r"(?:^|[/_-])(?P<issue>[A-Z][A-Z0-9]{1,9}-\d+)(?=$|[/_-])")
_NUMBER = re.compile(
    r"(?:^|/)(?:(?:issue|bug|gh)s?[-_/]?)?#?(?P<issue>\d{1,7})(?=$|[/_-])(?!-\d\d(?:$|-))", re.IGNORECASE
)
_VERSIONED = re.compile(r"(?:^|/)(?:releases?|versions?|hotfix|v)/", re.IGNORECASE)  # numbers of these are versions


SessionEvent = SessionStart | SessionEnd


def record_session(
    log: EventLog, moment: SessionMoment, session: str, cwd: str, agent: str, reason: str = ""
) -> SessionEvent:
    """Append the event of a session that starts or ends in a directory; raises InvalidEvent or NotStored."""
    fields: dict[str, str | None] = {"conversation_id": session, "project": project_root(cwd), "agent": agent}
    if moment == "start":
        branch, commit = git_head(cwd)
        fields |= {"type": "session_start", "source": reason, "git_branch": branch, "git_commit": commit}
    else:
        fields |= {"type": "session_end", "reason": reason}
    stored = log.append({name: value for name, value in fields.items() if value})
    assert isinstance(stored, SessionEvent)
    return stored


def run_hooks(
    log: EventLog, settings: Settings, event: SessionEvent, cwd: str = "", issue: str = ""
) -> list[HookOutcome]:
    """Run the hooks for one event of the log; `cwd` is where the session worked, if not in the project itself."""
    hooks = registry(settings.session_hooks, event.project or "")
    context = _context(log, event, cwd, issue)
    context = replace(context, issue_state=hooks.issue_state(context))
    outcomes = hooks.run("start" if isinstance(event, SessionStart) else "end", context)
    _remember(log, event, outcomes)
    return outcomes


class _ListedHook(NamedTuple):
    """A session hook: whether it runs, and what is to be known of it."""

    name: str
    enabled: bool
    note: str


def list_hooks(store: Store, settings: Settings, cwd: str) -> list[_ListedHook]:
    """List the hooks of `config.yaml` and of the project a directory is in, in the order they run."""
    own = OwnHooks(project_root(cwd))
    hooks = registry(settings.session_hooks, own.project)
    running, found = hooks.names(enabled_only=True), []
    for name in hooks.names():
        hook = hooks.get(name)
        note = str(hook.mistake) if isinstance(hook, _BrokenHook) else ""
        if isinstance(hook, ProjectHooks):
            try:
                note = own.approval(store, own.read())
            except (OSError, NotConfined) as error:
                note = str(error)
        found.append(_ListedHook(name, name in running, note))
    return found


def mistakes_in(settings: Settings) -> list[BadSettings]:
    """List the mistakes in the settings of session hooks."""
    hooks = registry(settings.session_hooks)
    return [hook.mistake for hook in map(hooks.get, hooks.names()) if isinstance(hook, _BrokenHook)]


class _BrokenHook(SessionLifecycleHook):
    """Replaces a hook that could not be constructed: fails with the reason whenever it would run."""

    def __init__(self, mistake: BadSettings) -> None:
        self.mistake = mistake

    def on_session_start(self, context: HookContext) -> HookResult:
        """Fail with the reason."""
        del context
        return HookResult.failure(f"{self.mistake}; {self.mistake.hint}" if self.mistake.hint else str(self.mistake))

    on_session_end = on_session_start


def registry(session_hooks: Mapping[str, bool | Mapping[str, Any]], project: str = "") -> HookRegistry:
    """Create the hooks in the order of the settings, then the project's own and the program's (`get_registry`).

    A `_BrokenHook` replaces each hook that cannot be constructed.
    """
    found = HookRegistry()
    own = {_PROJECT: True} if project and Path(project, PLACE).exists() else {}
    for name, chosen in {**session_hooks, **own, **session_hooks}.items():  # the settings decide on it
        try:
            _register(found, name, dict(chosen) if isinstance(chosen, Mapping) else {"enabled": chosen})
        except BadSettings as mistake:
            found.register(_BrokenHook(mistake), name=name)
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
    """Create a hook; options of built-in hooks are checked also where a hook is off."""
    make, kind = _BUILT_IN.get(name, (None, None))
    if make is None:
        from importlib.metadata import entry_points

        point = next(iter(entry_points(group=GROUP, name=name)), None)
        return LazyHook(lambda: point.load()(**options)) if point else None
    try:
        return make(msgspec.convert(options, kind) if kind else options)
    except BadSettings:
        raise
    except Exception as error:
        hint = f"known: {', '.join(['enabled', 'time_limit', *(kind.__struct_fields__ if kind else ())])}"
        raise BadSettings(str(error), where=f"session_hooks.{name}", hint=hint) from error


def _issue_key(branch: str | None) -> str | None:
    """Find the issue in a branch's name: a tracker's key, else a number at the start of a part."""
    if not branch:
        return None
    found = _KEY.search(branch) or (None if _VERSIONED.search(branch) else _NUMBER.search(branch))
    return found["issue"] if found else None


def _context(log: EventLog, event: SessionEvent, cwd: str, issue: str) -> HookContext:
    where = cwd or event.project or ""
    events = [past for past in log.session(event.conversation_id) if not past.subagent]
    started_on = next((past.git_branch for past in events if isinstance(past, SessionStart)), None)
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
        issue=issue or _issue_key(branch) or _issue_key(started_on),
        usage=_usage(events),
    )
    if isinstance(event, SessionStart):
        return replace(context, reason=event.source or "")
    return replace(context, reason=event.reason or "", others=_running_sessions(log, event))


def _usage(events: list[Event]) -> SessionUsage:
    compactions = [past for past in events if isinstance(past, SaveRequested) and past.trigger == "pre_compact"]
    last = compactions[-1] if compactions else SaveRequested(conversation_id="", trigger="pre_compact")
    durations = [past.duration_ms for past in events if isinstance(past, SessionEnd) and past.duration_ms is not None]
    turns = sum(isinstance(past, TurnEnd) for past in events)
    return SessionUsage(turns, last.context_usage_percent, last.message_count, durations[-1] if durations else None)


def _remember(log: EventLog, event: Event, outcomes: list[HookOutcome]) -> None:
    """Append the results of hooks to the session's events."""
    results = {
        outcome.hook: to_builtins(outcome.result)
        for outcome in outcomes
        if outcome.result.status is HookStatus.FAILURE
        or (outcome.hook != "logging" and outcome.result.status is not HookStatus.SKIPPED)
    }
    if results:
        envelope = {"conversation_id": event.conversation_id, "project": event.project, "agent": event.agent}
        log.append({"type": "host_event", "name": _STORY, "payload": results, **present(envelope)})


def _running_sessions(log: EventLog, end: Event) -> tuple[str, ...]:
    """List other sessions of the project with recent events and no end since."""
    if not end.project:
        return ()
    since = from_ns((to_ms(end.ts) - _RUNNING_MS) * 1_000_000)
    ended: dict[str, bool] = {}
    for event in log.read(since):
        is_own = isinstance(event, HostEvent) and event.name == _STORY  # perhaps added after the session's end
        is_own = is_own or event.layer == SESSION_END or isinstance(event, (ContextInjected, EntryApplied))
        if event.project == end.project and event.conversation_id != end.conversation_id and not is_own:
            ended[event.conversation_id] = isinstance(event, SessionEnd)
    return tuple(session for session, has_ended in ended.items() if not has_ended)
