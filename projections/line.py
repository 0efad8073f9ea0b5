"""A line of a document, and what stands behind it. Imported inside agents' hooks: standard library only."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

Sources = tuple[tuple[str, ...], tuple[str, ...]]  # events, and whole conversations


class Line:
    """A rendered line, without its newline, and its sources: without them, the line changes.

    `whole` stands for all events of those conversations, which the index can name. `find` finds the sources when
    somebody asks for them: a replay does not.
    """

    __slots__ = ("events", "find", "text", "whole")

    def __init__(
        self,
        text: str,
        events: tuple[str, ...] = (),
        whole: tuple[str, ...] = (),
        find: "Callable[[], Sources] | None" = None,
    ) -> None:
        self.text = text
        self.events = events
        self.whole = whole
        self.find = find

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the ids of the events behind it."""
        return self.behind()[0]

    @property
    def conversations(self) -> tuple[str, ...]:
        """Return the conversations all of which is behind it."""
        return self.behind()[1]

    @property
    def known(self) -> Sources | None:
        """Return the sources; None where they would have to be found."""
        return None if self.find else (self.events, self.whole)

    def behind(self) -> Sources:
        """Find the sources."""
        return self.find() if self.find else (self.events, self.whole)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and (self.text, *self.behind()) == (other.text, *other.behind())

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Line({self.text!r})"
