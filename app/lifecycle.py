"""The start and the end of a session, told by a host without hooks."""

from typing import Literal

from eventlog.app.session_hooks.registry import HookOutcome
from eventlog.app.session_hooks.run_hooks import run_hooks
from eventlog.events import SessionEnd, SessionStart
from eventlog.log import EventLog
from eventlog.project import git_head, project_root
from eventlog.settings.schema import Settings

Moment = Literal["start", "end"]
SessionEvent = SessionStart | SessionEnd


def record_session(log: EventLog, moment: Moment, session: str, cwd: str, agent: str, reason: str = "") -> SessionEvent:
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


def run_session_hooks(log: EventLog, settings: Settings, event: SessionEvent, cwd: str) -> list[HookOutcome]:
    """Run the session hooks of `config.yaml` for an event of the log, in the directory the session worked in."""
    return run_hooks(log, settings, event, cwd)
