"""The request for a context: who asks, where and when, and at what work; values.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast.copies import Values
from eventlog.format.text import project_name
from eventlog.store import project_slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.format.local_time import Offsets

CAME_BACK = ("resume", "compact", "fork")
NEW = ("startup", "clear", "new")
MAIN, SHARED = "main", "shared"  # who listens: the user alone, or others too


class ProjectHome(Values):
    """A project that is not just its path."""

    slug: str  # the name of its directory
    name: str  # for people
    subject: str  # as rows call it


class Bearing(Values):
    """A statement that bears on the work at hand: a fact, or a session with its outcome."""

    id: str
    ts: str
    conversation_id: str
    text: str  # of a session its summary
    about_user: bool
    memory_type: str = ""  # of a fact: W, B or O
    topic: str = ""  # of a session
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class WorkAtHand(Values):
    """The branch, the files changed lately, and what bears on either."""

    branch: str = ""  # "" on a trunk, and where there is none
    files: tuple[str, ...] = ()
    bearings: tuple[Bearing, ...] = ()


class ContextRequest(Values):
    """The request of a session for its context."""

    now: str  # a timestamp of the log
    home: str
    project: str = ""
    known_as: ProjectHome | None = None
    session_id: str = ""
    session_type: str | None = None  # None: as the session's start in the log says
    source: str = ""  # startup, resume, clear, compact, …
    agent: str = ""
    instructions: str = ""  # given in any case, before everything else
    work: WorkAtHand = WorkAtHand()
    bootstrap: str = ""  # what only the first session of all is told
    budget: int | None = None  # characters; None: as configured
    program: str = "eventlog"  # how the agent's shell calls us
    store_option: str = ""  # what leads to a store of another place
    has_tools: bool = False  # its agent has our tools
    transcript: str = ""  # the file that has the statements before a compaction
    offsets: "Offsets" = ()  # of the time zone, as far as they are known

    @property
    def folder(self) -> str:
        """Return where the files of the project are, in the knowledge directory; "" for the user's."""
        slug = self.known_as.slug if self.known_as else project_slug(self.project)
        return f"projects/{slug}/" if self.project else ""

    @property
    def project_name(self) -> str:
        """Return the project's name for people."""
        return self.known_as.name if self.known_as else project_name(self.project)
