"""The request for a context: who asks, where and when."""

from msgspec import Struct

from eventlog.format.text import project_name
from eventlog.projections.context.agent_context import SessionType
from eventlog.projections.context.work_at_hand import WorkAtHand
from eventlog.store import project_slug

CAME_BACK = ("resume", "compact", "fork")
NEW = ("startup", "clear", "new")


class ProjectHome(Struct, frozen=True):
    """A project that is not just its path: its directory, its name, and where it lies, by machine and path."""

    slug: str
    name: str
    places: frozenset[tuple[str | None, str]]


class ContextRequest(Struct, frozen=True):
    """One session that asks for its context.

    `instructions` are given in any case, before everything else. `session_type` None: as the session's start in the
    log says.
    """

    now: str  # timestamp of the log
    home: str
    project: str = ""
    known_as: ProjectHome | None = None
    session_id: str = ""
    session_type: SessionType | None = None
    source: str = ""  # startup, resume, clear, compact, …
    agent: str = ""
    instructions: str = ""
    work: WorkAtHand = WorkAtHand()
    bootstrap: str = ""  # what only the first session of all is told
    budget: int | None = None  # characters; None: as configured
    program: str = "eventlog"  # how the agent's shell calls us
    store_option: str = ""  # the option that leads to a store of another place

    @property
    def folder(self) -> str:
        """Return where the files of the project are, in the knowledge directory; "" for the user's."""
        slug = self.known_as.slug if self.known_as else project_slug(self.project)
        return f"projects/{slug}/" if self.project else ""

    @property
    def project_name(self) -> str:
        """Return the project's name for people."""
        return self.known_as.name if self.known_as else project_name(self.project)

    def is_about(self, path: str | None, replica: str | None) -> bool:
        """Tell whether what was said of a path of a machine is said of the project."""
        if self.known_as is None or not path:
            return (path or "") == self.project
        return (replica, path) in self.known_as.places
