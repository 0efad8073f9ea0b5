"""The context of a session, with the shell it needs (people's files, the store's rows, the clock), and its receipt.

For hooks and for people who ask by hand. Imported while a session waits to begin: standard library only; what programs
are given is made when it is asked for.
"""

from time import monotonic

from eventlog.app.build.user_files import take_bootstrap
from eventlog.app.build.zone_offsets import read_offsets
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.serve.context_loader import Loader
from eventlog.app.serve.current_lines import CurrentLines
from eventlog.fast.copies import replace
from eventlog.fast.sha import sha256
from eventlog.hooks import prompts
from eventlog.hooks.conversation import TooMuch, all_events
from eventlog.hosts import protocol
from eventlog.hosts.call import HookCall, present
from eventlog.projections.context.build import build as fit_parts
from eventlog.projections.context.context_files import MEMORY
from eventlog.projections.context.request import MAIN, SHARED, ContextRequest, WorkAtHand
from eventlog.projections.context.sources import gather, window
from eventlog.projections.search.findable import text_in
from eventlog.projects.repository import branch_and_changes
from eventlog.projects.root import project_root
from eventlog.store.append_once import SAME_CALL_MS, append_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from eventlog.app.open_store import OpenStore
    from eventlog.format.payloads import ContextInjected, Envelope
    from eventlog.projections.context.agent_context import AgentContext
    from eventlog.projections.context.sources import ContextSources
    from eventlog.settings.schema import Settings
    from eventlog.store import Store

    OnMachine: TypeAlias = "OpenStore | HookStore"


class HookStore:
    """A store, its settings and its machine, as far as a hook has them."""

    def __init__(self, store: "Store", settings: "Settings", home: str, now: str) -> None:
        self.store = store
        self.settings = settings
        self.machine = self
        self.home = home
        self.program = prompts.program()
        self._now = now

    def now(self) -> str:
        """Return the time as a timestamp of the log."""
        return self._now


class ContextResult:
    """A context: its text, the receipt of its sources, and the parts it was made of."""

    def __init__(self, parts: "ContextSources", text: str, receipt: "ContextInjected", took_ms: int) -> None:
        self.parts = parts
        self.text = text
        self.cut = receipt["cut"]
        self.receipt = receipt
        self.took_ms = took_ms

    @property
    def context(self) -> "AgentContext":
        """Return it in the shape that programs are given."""
        from eventlog.projections.context.agent_context import AgentContext

        return AgentContext.of(self.parts, self.text, self.cut, self.took_ms)


def request_of(
    opened: "OnMachine",
    project: str,
    *,
    session: str = "",
    session_type: str | None = None,
    source: str = "",
    agent: str = "",
    budget: int | None = None,
    where: str = "",
    transcript: str = "",
) -> ContextRequest:
    """Ask, on this machine and now, for the context of a session in the project with this root.

    With `session` it is a real start, told how to save. `budget` is in characters, `where` the directory it works in,
    `transcript` what its host writes; where it is missing, as the log knows it.
    """
    within = where if where and project_root(where) == project else project  # a linked worktree has a branch of its own
    if source == "compact":
        transcript = transcript or next(filter(None, reversed(_named(opened.store, session, "transcript_path"))), "")
    call = HookCall(agent or "cli", "SessionStart", {"cwd": where or project}, session=session)
    return ContextRequest(
        now=opened.machine.now(),
        home=opened.machine.home,
        project=project,
        known_as=KnownProjects(opened.store).home(project),
        session_id=session,
        session_type=session_type,
        source=source,
        agent=agent,
        instructions=prompts.start(opened.store, call, opened.settings.locale, source) if session else "",
        budget=budget,
        work=_work_at_hand(opened.store, project, within) if project else WorkAtHand(),
        program=opened.machine.program,
        store_option=prompts.store_option(opened.store),
        has_tools=protocol(call.agent).has_tools(project),
        transcript=transcript if source == "compact" else "",
        offsets=read_offsets(opened.store, opened.settings.timezone),
    )


def _named(store: "Store", session: str, field: str) -> list[str]:
    """List what the events of a session have in a field; nothing where they cannot be found."""
    try:
        return [text_in(event, field) for event in all_events(store, session)] if session else []
    except (OSError, TooMuch):
        return []


_HELPER_CHARS = 1500


def helpers_context(opened: "OnMachine", call: HookCall) -> ContextResult:
    """Build what a helper starts with: what is known of the project, and how to search; nothing that asks to act."""
    request = request_of(opened, call.project, agent=call.agent, source="startup", budget=_HELPER_CHARS)
    request = replace(request, session_id=call.session, session_type=SHARED if call.shared else None)
    parts = _gathered(opened, request)
    parts.todos, parts.notes, parts.last, parts.sessions = [], [], [], []
    parts.loaded = [(file, result) for file, result in parts.loaded if file.load_order == MEMORY]
    return ContextResult(parts, *fit_parts(parts), took_ms=0)


def _work_at_hand(store: "Store", project: str, where: str) -> WorkAtHand:
    """Find out what a session in a directory of the project will be about, and what bears on it; never raises.

    Git's own files tell it: the branch, and what was changed lately. A trunk says nothing of what somebody will do.
    """
    branch, files = branch_and_changes(where)
    if not (branch or files):
        return WorkAtHand()
    from eventlog.app.serve.bearing import with_bearings  # most starts need no search

    return with_bearings(store, project, branch, files)


def session_context(opened: "OnMachine", request: ContextRequest, *, certain: bool = False) -> ContextResult:
    """Build the context; no file and no line of the log makes it fail.

    A real start uses BOOTSTRAP.md up, makes missing files of the user from their templates, and its receipt is due once
    the agent has the text. Where only what is `certain` is wanted, neither rows nor the log are read.
    """
    begun, creates = monotonic(), False
    if request.session_id:
        listens = _session_type_of(opened.store, request)
        # what the user hears a single time waits for a session that nobody else listens to
        first = take_bootstrap(opened.settings, request.home, request.now) if listens == MAIN else ""
        request = replace(request, session_type=listens, bootstrap=first)
        creates = opened.settings.context.templates
    parts = _gathered(opened, request, creates=creates, certain=certain)
    return ContextResult(parts, *fit_parts(parts), took_ms=round((monotonic() - begun) * 1000))


def _gathered(
    opened: "OnMachine", request: ContextRequest, *, creates: bool = False, certain: bool = False
) -> "ContextSources":
    """Load what a context is made of."""
    store, settings = opened.store, opened.settings
    listens = _session_type_of(store, request)
    within = window(settings.context, request.now)
    source = CurrentLines(store, request, within, settings.timezone, shared=listens == SHARED, certain=certain)
    try:
        loader = Loader(store.cached("context"), creates=creates)
        return gather(store, settings, request, listens, loader.load, source)
    finally:
        source.close()


def _session_type_of(store: "Store", request: "ContextRequest") -> str:
    """Find who listens: as asked for, else by the log; shared once is shared for good."""
    if request.session_type:
        return request.session_type
    return SHARED if SHARED in _named(store, request.session_id, "session_type") else MAIN


def append_receipt(
    store: "Store", built: ContextResult, source: str, subagent: str = "", *, sync: bool | None = None
) -> bool:
    """Append that a session was given a text; False where the log has that already. Raises NotStored."""
    request, digest = built.parts.request, sha256(built.text.encode("utf-8", "replace"))
    envelope: Envelope = {
        "type": "context_injected",
        "conversation_id": request.session_id,
        "project": request.project,
        "agent": request.agent,
        "subagent": subagent,
    }
    event: ContextInjected = {**built.receipt, "digest": digest, "chars": len(built.text)}
    key = f"context\n{request.session_id}\n{source} {subagent}".rstrip() + f"\n{digest}"
    return append_once(store, {**present(envelope), **event}, key, within_ms=SAME_CALL_MS, sync=sync)
