"""The start and the end of a session, for a host without hooks."""

from typing import NamedTuple

from eventlog.app.setup.session_hooks.hooks import SessionLifecycleHook, SessionMoment
from eventlog.app.setup.session_hooks.project_hooks import ProjectHooks, approval, source_of
from eventlog.app.setup.session_hooks.run import BrokenHook, registry
from eventlog.format.events import SessionEnd, SessionStart
from eventlog.log.event_log import EventLog
from eventlog.projects.root import git_head, project_root
from eventlog.settings.schema import Settings
from eventlog.store import Store
from eventlog.store.shared_files import NotConfined


class _ListedHook(NamedTuple):
    """A session hook: whether it runs, and what is to be known of it."""

    name: str
    enabled: bool
    note: str


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


def list_hooks(store: Store, settings: Settings, cwd: str) -> list[_ListedHook]:
    """List the hooks of `config.yaml` and of the project a directory is in, in the order they run."""
    project = project_root(cwd)
    hooks = registry(settings.session_hooks, project)
    running = hooks.names(enabled_only=True)
    return [_ListedHook(name, name in running, _note(hooks.get(name), store, project)) for name in hooks.names()]


def _note(hook: SessionLifecycleHook | None, store: Store, project: str) -> str:
    if isinstance(hook, BrokenHook):
        return str(hook.mistake)
    if not isinstance(hook, ProjectHooks):
        return ""
    try:
        return approval(store, project, source_of(project))
    except (OSError, NotConfined) as error:
        return str(error)
