"""The one total order of events: by the time that counts, then by id. Imported inside agents' hooks."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Dated(Protocol):
        """Anything with the times and the id of an event."""

        @property
        def ts(self) -> str:
            """When it happened, as the log writes it."""

        @property
        def after(self) -> str | None:
            """The time whose place it takes, where that is not its own."""

        @property
        def id(self) -> str:
            """The event's id."""


def counts_at(event: "Dated") -> str:
    """Give the time whose place an event takes among others: a clock that was wrong outranks nothing newer."""
    return event.after or event.ts


def order(event: "Dated") -> tuple[str, str]:
    """Give the key of the one total order of events."""
    return event.after or event.ts, event.id
