"""The work of a session before anybody has said a word: its branch, the files changed lately, and what bears on them.

Values; the log is searched by whoever asks for a context.
"""

from msgspec import Struct


class Bearing(Struct, frozen=True):
    """One thing known that bears on the work at hand: a fact, or a session with what it came to."""

    id: str
    ts: str
    conversation_id: str
    about_user: bool
    text: str  # of a session, its summary
    memory_type: str = ""  # of a fact: W, B or O
    topic: str = ""  # of a session
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class WorkAtHand(Struct, frozen=True):
    """The branch ("" on a trunk, and where there is none), the files changed lately, and what bears on either."""

    branch: str = ""
    files: tuple[str, ...] = ()
    bearings: tuple[Bearing, ...] = ()
