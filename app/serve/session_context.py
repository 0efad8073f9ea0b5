"""The context of a session, and the receipt that it was told; for hooks and for whoever asks by hand."""

from typing import TYPE_CHECKING

from msgspec import to_builtins

from eventlog.app.naming.known_projects import home_of
from eventlog.app.open_store import OpenStore
from eventlog.app.serve.at_work import work_at_hand
from eventlog.app.serve.context import begin, build
from eventlog.app.serve.receipt_line import append_receipt_line, digest_of
from eventlog.hooks import prompts
from eventlog.log.event_log import EventLog
from eventlog.projections.context.agent_context import SessionType
from eventlog.projections.context.build import ContextResult
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.context.work_at_hand import WorkAtHand
from eventlog.projects.root import project_root

if TYPE_CHECKING:
    from eventlog.format.payloads import ContextInjected as ContextGiven
    from eventlog.format.payloads import Envelope


def request_of(
    opened: OpenStore,
    project: str,
    *,
    session: str = "",
    session_type: str | None = None,
    source: str = "",
    agent: str = "",
    budget: int | None = None,
    where: str = "",
) -> ContextRequest:
    """Ask, on this machine and now, for the context of a session in the project with this root.

    With `session` it is a real start, told how to save. `budget` is in characters, `where` the directory it works in.
    """
    locale = opened.settings.locale
    return ContextRequest(
        now=opened.machine.now(),
        home=opened.machine.home,
        project=project,
        known_as=home_of(opened.store, project),
        session_id=session,
        session_type=SessionType(session_type) if session_type else None,
        source=source,
        agent=agent,
        instructions=prompts.instructions(opened.store, session, agent or "cli", locale, source) if session else "",
        budget=budget,
        work=work_at_hand(opened.store, project, _within(project, where)) if project else WorkAtHand(),
        program=opened.machine.program,
        store_option=prompts.store_option(opened.store),
    )


def _within(project: str, where: str) -> str:
    """Return where a session works, if that is in the project: a linked worktree has a branch of its own."""
    return where if where and project_root(where) == project else project


def session_context(opened: OpenStore, request: ContextRequest) -> ContextResult:
    """Build the context; a real start uses BOOTSTRAP.md up, and its receipt is due once the agent was told."""
    ask = begin if request.session_id else build
    return ask(opened.log, opened.settings, request)


def append_receipt(log: EventLog, request: ContextRequest, built: ContextResult) -> bool:
    """Append the receipt; False where it is there already. Raises NotStored."""
    about: Envelope = {
        "type": "context_injected",
        "conversation_id": request.session_id,
        "project": request.project,
        "agent": request.agent,
    }
    return append_receipt_line(log.store, about, receipt_of(built), built.context.text, request.source, sync=log.fsync)


def receipt_of(built: ContextResult) -> "ContextGiven":
    """Make the receipt of a context."""
    text = built.context.text
    return {
        "digest": digest_of(text),
        "chars": len(text),
        "sources": built.sources,
        "cut": built.context.cut,
        "files": to_builtins(built.files),
        "lines": built.lines,
        "session_type": built.context.session_type.value,
    }
