"""The request for a context: who asks, where and when, and at what work; values.

Imported inside agents' hooks: standard library only.
"""

from eventlog.format.text import project_name
from eventlog.store import project_slug

CAME_BACK = ("resume", "compact", "fork")
NEW = ("startup", "clear", "new")
MAIN, SHARED = "main", "shared"  # who listens: the user alone, or others too


class ProjectHome:
    """A project that is not just its path: its directory, its name for people, and what rows call it."""

    def __init__(self, slug: str, name: str, subject: str) -> None:
        self.slug = slug
        self.name = name
        self.subject = subject


class Bearing:
    """A statement that bears on the work at hand: a fact, or a session with its outcome.

    `text` of a session is its summary; `memory_type` of a fact: W, B or O; `topic` that of a session.
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        ts: str,
        conversation_id: str,
        text: str,
        memory_type: str = "",
        topic: str = "",
        decisions: tuple[str, ...] = (),
        files: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
        *,
        about_user: bool,
    ) -> None:
        self.id = id
        self.ts = ts
        self.conversation_id = conversation_id
        self.about_user = about_user
        self.text = text
        self.memory_type = memory_type
        self.topic = topic
        self.decisions = decisions
        self.files = files
        self.sources = sources


class WorkAtHand:
    """The branch ("" on a trunk, and where there is none), the files changed lately, and what bears on either."""

    def __init__(self, branch: str = "", files: tuple[str, ...] = (), bearings: tuple[Bearing, ...] = ()) -> None:
        self.branch = branch
        self.files = files
        self.bearings = bearings

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkAtHand) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class ContextRequest:
    """The request of a session for its context.

    `now` is a timestamp of the log. `instructions` are given in any case, before everything else. `session_type` None:
    as the session's start in the log says. `source` is startup, resume, clear, compact, …; `bootstrap` what only the
    first session of all is told, `transcript` the file that has the statements before a compaction; `budget` in
    characters, None: as configured; `program` how the agent's shell calls us, `store_option` what leads to a store of
    another place, `has_tools` whether its agent has our tools.
    """

    def __init__(
        self,
        now: str,
        home: str,
        project: str = "",
        known_as: ProjectHome | None = None,
        session_id: str = "",
        session_type: str | None = None,
        source: str = "",
        agent: str = "",
        instructions: str = "",
        work: WorkAtHand | None = None,
        bootstrap: str = "",
        budget: int | None = None,
        program: str = "eventlog",
        store_option: str = "",
        has_tools: bool = False,
        transcript: str = "",
    ) -> None:
        self.now = now
        self.home = home
        self.project = project
        self.known_as = known_as
        self.session_id = session_id
        self.session_type = session_type
        self.source = source
        self.agent = agent
        self.instructions = instructions
        self.work = work or WorkAtHand()
        self.bootstrap = bootstrap
        self.budget = budget
        self.program = program
        self.store_option = store_option
        self.has_tools = has_tools
        self.transcript = transcript

    @property
    def folder(self) -> str:
        """Return where the files of the project are, in the knowledge directory; "" for the user's."""
        slug = self.known_as.slug if self.known_as else project_slug(self.project)
        return f"projects/{slug}/" if self.project else ""

    @property
    def project_name(self) -> str:
        """Return the project's name for people."""
        return self.known_as.name if self.known_as else project_name(self.project)
