"""The work of a session before anybody has said a word: its branch, the files changed lately, and what bears on them.

Values; the log is searched by whoever asks for a context. Imported inside agents' hooks: standard library only.
"""


class Bearing:
    """One thing known that bears on the work at hand: a fact, or a session with what it came to.

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
