"""The request for a context: who asks, where and when."""

from msgspec import Struct

from eventlog.projections.context.agent_context import SessionType

CAME_BACK = ("resume", "compact", "fork")
NEW = ("startup", "clear", "new")


class ContextRequest(Struct, frozen=True):
    """One session that asks for its context.

    `instructions` are given in any case, before everything else. `session_type` None: as the session's start in the
    log says.
    """

    now: str  # timestamp of the log
    home: str
    project: str = ""
    session_id: str = ""
    session_type: SessionType | None = None
    source: str = ""  # startup, resume, clear, compact, …
    agent: str = ""
    instructions: str = ""
    bootstrap: str = ""  # what only the first session of all is told
    budget: int | None = None  # characters; None: as configured
    program: str = "eventlog"  # how the agent's shell calls us
    store_option: str = ""  # the option that leads to a store of another place
