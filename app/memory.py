"""The use cases of a store as an object, for other programs."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from eventlog.app.ask import brief as knowing
from eventlog.app.ask import query as querying
from eventlog.app.ask import sessions as listing
from eventlog.app.ask import why as explaining
from eventlog.app.ask.brief import KnownPage, StatusReport
from eventlog.app.ask.query import EventFilter
from eventlog.app.ask.sessions import NEWEST, SessionRow
from eventlog.app.ask.why import LineReason
from eventlog.app.build import apply as applying
from eventlog.app.build.apply_result import ApplyResult
from eventlog.app.build.rebuild import DeedResult, RebuildResult, replay_store
from eventlog.app.naming.names import agents_meant
from eventlog.app.naming.projects import project_meant
from eventlog.app.naming.references import events_named, session_meant
from eventlog.app.open_store import Machine, OpenStore, open_log, take_in
from eventlog.app.search import recall as recalling
from eventlog.app.search import search as searching
from eventlog.app.search.search import SearchHit, SearchQuery
from eventlog.app.serve.session_context import append_receipt, request_of, session_context
from eventlog.app.setup.seal import verify_sealed
from eventlog.app.setup.session_hooks.hooks import HookOutcome, SessionMoment
from eventlog.app.setup.session_hooks.run import SessionEvent, record_session, run_hooks
from eventlog.app.sync import exchange as exchanging
from eventlog.app.sync.exchange import SyncReport
from eventlog.app.write import correct as correcting
from eventlog.app.write import forget as forgetting
from eventlog.app.write import undo as undoing
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event
from eventlog.format.local_time import local_time
from eventlog.hosts import agent_name
from eventlog.log.verify import VerifyResult
from eventlog.projections.base import Projection
from eventlog.projections.catalog import ALL
from eventlog.projections.context.agent_context import AgentContext
from eventlog.projections.views.stats import Week
from eventlog.projects.root import project_root
from eventlog.settings import load
from eventlog.store import Store


class _SessionRun(NamedTuple):
    """The event of a session's start or end as the log has it, and what each session lifecycle hook did."""

    event: SessionEvent
    outcomes: list[HookOutcome]


class Memory:
    """The questions and actions a user has for a store.

    `store` is its directory; without one it is that of this machine (`$EVENTLOG_HOME`, else `~/.eventlog`). Nothing is
    created before there is something to write. Settings are read for every call, so a long-lived program obeys them.
    Times are timestamps of the log, both ends included. A `project` is a name or a part of a path the log knows, or a
    directory in it; `agent` is either of an agent's names, or several with commas: BadRequest where there is none.
    """

    def __init__(self, store: Store | str | os.PathLike[str] | None = None, *, machine: Machine | None = None) -> None:
        self._machine = machine or Machine.here()
        if not isinstance(store, Store):
            store = Store.locate(os.fspath(store) if store else None, self._machine.environ)
        self.log = open_log(store, self._machine)
        self._own: list[Projection] = []  # those of the caller that were replayed

    def __repr__(self) -> str:
        return f"Memory({self.log.store.root!r})"

    def replay(
        self, *, projections: Sequence[Projection] | None = None, full: bool = False, check: bool = False
    ) -> RebuildResult:
        """Rebuild the files of these projections (None: all built-in), and apply plan entries to their knowledge bases.

        With `check` nothing is written, and what would be is told; `full` folds every day anew. Raises BadSettings or
        NotStored.
        """
        chosen = ALL if projections is None else projections
        self._own += [projection for projection in chosen if projection not in (*ALL, *self._own)]
        return replay_store(self._opened(), projections=chosen, anew=full, check=check)

    def query(
        self,
        *,
        session: str | None = None,
        types: Iterable[str] = (),
        project: str | None = None,
        agent: str | None = None,
        since: str = "",
        until: str = "~",
        text: str | None = None,
        id_part: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[Event]:
        """Find the events for which every condition holds, oldest first; with `reverse` newest first."""
        wanted = EventFilter(
            session=session,
            types=tuple(types),
            project=self._project(project),
            agents=self._agents(agent),
            since=since,
            until=until,
            text=text,
            ids=tuple(events_named(self.log, id_part, self._project(project))) if id_part else None,
        )
        return [entry.event for entry in querying.query(self.log, wanted, limit=limit, reverse=reverse)]

    def search(
        self,
        query: str,
        *,
        project: str | os.PathLike[str] | None = None,
        types: Iterable[str] = (),
        since: str = "",
        everywhere: bool = False,
        limit: int = 10,
    ) -> list[SearchHit]:
        """Search what is known, best first: of that project and about the user, or `everywhere`.

        Words in any order, the last of which may be a beginning. What was withdrawn or replaced is not found.
        """
        where = self._project(os.fspath(project)) if project else None
        wanted = SearchQuery(query, where or "", everywhere, tuple(types), since, limit)
        return searching.search(self._opened(), wanted).hits

    def recall(
        self, prompt: str, *, project: str | os.PathLike[str] = "", conversation: str = "", shared: bool = False
    ) -> str:
        """Build the text for a prompt in that project: at most a few lines that bear on it, else "".

        With `conversation` it tells nothing twice there, and leaves a receipt. To a `shared` session it tells nothing
        about the user. Raises BadSettings or NotStored.
        """
        opened = self._opened()
        where = project_root(os.fspath(project)) if project else ""
        request = recalling.RecallRequest(prompt, where, conversation, shared=shared)
        hits = recalling.recall(opened.store, request, opened.settings.recall.lines)
        text = recalling.recall_text(hits, opened.settings.locale, conversation, local_time(opened.settings.timezone))
        if text and conversation:
            recalling.append_receipt(opened.store, request, hits, text)
        return text

    def known(self, project: str | os.PathLike[str] | None = None) -> list[KnownPage]:
        """List what is known now, page by page: of that project, then of the user. Raises BadSettings."""
        where = self._project(os.fspath(project)) if project else None
        return knowing.known(self._opened(), where or "")

    def why(self, file: str | os.PathLike[str], line: int | None = None) -> list[LineReason]:
        """Explain every line of a knowledge file, or the line with this number, by the events behind it.

        A file that is not there is looked for in the knowledge directory; it may be of a projection of your own that
        was replayed before. Raises BadRequest or BadSettings.
        """
        opened = self._opened()
        return explaining.explain(opened, explaining.known_file(opened, os.fspath(file)), line, self._own)

    def forget(self, what: str | None = None, *, session: str | None = None) -> DeedResult:
        """Forget a statement everywhere until that is undone; rebuild all files.

        `what` is an id, a line of a knowledge file (`FILE:LINE`) or a text; `session` stands for all it said. Raises
        BadRequest where that is nothing or may be several things, BadSettings or NotStored.
        """
        opened = self._opened()
        if (what is None) == (session is None):
            raise BadRequest("say what to forget, or name a session")
        whole = None if session is None else session_meant(self.log, session)
        return forgetting.forget(opened, forgetting.forgettable(opened, what or "", session=whole))

    def edit(self, what: str, content: str) -> DeedResult:
        """Replace the wording of a fact or decision, in the words of a person; rebuild all files.

        `what` is an id, a line of a knowledge file (`FILE:LINE`) or a text. Raises BadRequest where that is nothing or
        may be several things, BadSettings or NotStored.
        """
        opened = self._opened()
        return correcting.edit(opened, correcting.correctable(opened, what), content)

    def move(self, what: str, project: str | None) -> DeedResult:
        """Move a fact or decision to another project, or to the user (None); otherwise as `edit`."""
        opened, target = self._opened(), self._project(project)
        return correcting.move(opened, correcting.movable(opened, what, target), target)

    def undo(self, event: str = "") -> DeedResult:
        """Take back the last thing a person or an entry did, or the event of that id; rebuild all files.

        Raises BadRequest where there is nothing to take back, BadSettings or NotStored.
        """
        opened = self._opened()
        return undoing.undo(opened, undoing.undoable(opened, event))

    def context(
        self,
        *,
        project: str | os.PathLike[str] | None = None,
        session: str = "",
        session_type: str | None = None,
        source: str = "",
        agent: str = "",
        budget: int | None = None,
    ) -> AgentContext:
        """Build what a session in that project starts with; `text` is what the agent is given.

        With `session` it is a real start: the text says how to save, BOOTSTRAP.md is used up, and a receipt goes into
        the log. `session_type` is `main` or `shared`, `budget` in characters. Raises BadSettings or NotStored.
        """
        opened = self._opened()
        request = request_of(
            opened,
            project_root(os.fspath(project)) if project else "",
            session=session,
            session_type=session_type,
            source=source,
            agent=agent_name(agent),
            budget=budget,
            where=os.fspath(project) if project else "",
        )
        built = session_context(opened, request)
        if session:
            append_receipt(self.log.store, built, source, sync=self.log.fsync)
        return built.context

    def start(
        self,
        session: str,
        *,
        project: str | os.PathLike[str] = ".",
        agent: str = "cli",
        source: str = "startup",
        issue: str = "",
    ) -> _SessionRun:
        """Record that a session starts in that directory, and run the session lifecycle hooks.

        `issue` is the one it is about; without one, that its branch is named for. A hook that fails costs only its own
        result. Raises InvalidEvent, BadSettings or NotStored.
        """
        return self._run("start", session, project, agent, source, issue)

    def end(
        self,
        session: str,
        *,
        project: str | os.PathLike[str] = ".",
        agent: str = "cli",
        reason: str = "",
        issue: str = "",
    ) -> _SessionRun:
        """Record that a session ends, and run the session lifecycle hooks; otherwise as `start`."""
        return self._run("end", session, project, agent, reason, issue)

    def apply(self, only: str | None = None, *, dry_run: bool = False) -> ApplyResult:
        """Apply plan entries, to the `only` base or to all; raises BadRequest, BadSettings or NotStored."""
        return applying.apply(self._opened(), only=only, dry_run=dry_run)

    def sync(self, *, compact: bool = False) -> SyncReport:
        """Exchange with the other machines of this memory, and rebuild all files; `compact` unites segments there.

        A remote out of reach is part of the report. Raises BadRequest for a store that does not sync, UntrustedRemote,
        BadSettings or NotStored.
        """
        return exchanging.sync_store(self._opened(), compact=compact)

    def status(self) -> StatusReport:
        """List what is pending, staged, blocked or edited by hand; raises BadSettings."""
        return knowing.status(self._opened())

    def sessions(
        self,
        *,
        project: str | None = None,
        agent: str | None = None,
        since: str = "",
        until: str = "~",
        limit: int = NEWEST,
    ) -> list[SessionRow]:
        """List the newest sessions that began in that time, oldest first; raises BadSettings."""
        opened = self._opened()
        where = self._project(project)
        return listing.sessions(
            opened, project=where, agents=self._agents(agent), since=since, until=until, limit=limit
        )

    def stats(self, since: str = "", until: str = "~") -> list[Week]:
        """Count the sessions each safety net saved, week by week; the last row is of all weeks."""
        return listing.stats(self._opened(), since, until)

    def verify(self) -> VerifyResult:
        """Read every line of the log and name each damage, and the first line of each file that is not as sealed."""
        return verify_sealed(self.log)[0]

    def _run(
        self, moment: SessionMoment, session: str, project: str | os.PathLike[str], agent: str, reason: str, issue: str
    ) -> _SessionRun:
        opened, cwd = self._opened(), str(Path(project).absolute())
        event = record_session(self.log, moment, session, cwd, agent, reason)
        return _SessionRun(event, run_hooks(self.log, opened.settings, event, cwd, issue))

    def _project(self, name: str | None) -> str | None:
        return project_meant(self.log, name, cwd=os.curdir, home=self._machine.home) if name else None

    def _agents(self, name: str | None) -> tuple[str, ...]:
        return agents_meant(self.log, [name]) if name else ()

    def _opened(self) -> OpenStore:
        take_in(self.log)
        return OpenStore(self.log, load.load(self.log.store).settings, self._machine)
