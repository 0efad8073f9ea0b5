"""Lines of the log, put in their places one after the other, as they would be told: the rules of `validity`.

They are those of the index for what was appended to the log; for a whole log, places in memory, of which nothing is
written before all of it stands where it should.
Imported inside agents' hooks: standard library only.
"""

from eventlog.app.search import validity
from eventlog.app.search.project_names import NOWHERE
from eventlog.projections.search.findable import FINDABLE, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from typing import Protocol

    from eventlog.app.search.appended import Lines
    from eventlog.app.search.project_names import ProjectNames
    from eventlog.projections.search.findable import EventFields

    class Placed(Protocol):
        """The places there are, and what stands there."""

        def learn_home(self, conversation: str, what: str, said: str, order: tuple[str, str]) -> None:
            """Learn where a conversation worked, as first said; what it has said already moves there."""

        def home(self, conversation: str) -> Mapping[str, str]:
            """Tell where a conversation worked: `project` and `replica`, as far as anything said so."""

        def has_own_summary(self, conversation: str) -> bool:
            """Tell whether a summary of an agent's own words stands there."""

        def drop_drawn(self, conversation: str) -> None:
            """Take out the summaries a program drew."""

        def order_at(self, place: int) -> tuple[str, str] | None:
            """Tell of when is what stands in a place."""

        def put(self, place: int, subject: str, event: EventFields, *, drawn: bool) -> None:
            """Put a line in a place, instead of what stands there."""


_WHERE = ("project", "replica")


class Unit:
    """One line in its place."""

    def __init__(self, event: "EventFields", subject: str, *, drawn: bool) -> None:
        self.event = event
        self.subject = subject
        self.drawn = drawn


class Gathered:
    """Places in memory, of a whole log: `units` by place, in the order they were put there."""

    def __init__(self) -> None:
        self.units: dict[int, Unit] = {}
        self.homes: dict[tuple[str, str], tuple[str, tuple[str, str]]] = {}  # conversation, what -> said, when
        self._own: set[str] = set()  # conversations
        self._drawn: dict[str, list[int]] = {}  # places by conversation

    def learn_home(self, conversation: str, what: str, said: str, order: tuple[str, str]) -> None:
        """Learn where a conversation worked, as first said; nothing of it stands anywhere yet."""
        self.homes[conversation, what] = said, order

    def home(self, conversation: str) -> "Mapping[str, str]":
        """Tell where a conversation worked: `project` and `replica`, as far as anything said so."""
        homes = self.homes
        return {what: homes[conversation, what][0] for what in _WHERE if (conversation, what) in homes}

    def has_own_summary(self, conversation: str) -> bool:
        """Tell whether a summary of an agent's own words stands there."""
        return conversation in self._own

    def drop_drawn(self, conversation: str) -> None:
        """Take out the summaries a program drew."""
        for place in self._drawn.pop(conversation, ()):
            self.units.pop(place, None)

    def order_at(self, place: int) -> tuple[str, str] | None:
        """Tell of when is what stands in a place."""
        unit = self.units.get(place)
        return validity.order_of(unit.event) if unit else None

    def put(self, place: int, subject: str, event: "EventFields", *, drawn: bool) -> None:
        """Put a line in a place, instead of what stands there."""
        if event["type"] == "stage_summary":
            conversation = text_in(event, "conversation_id")
            self._drawn.setdefault(conversation, []).append(place) if drawn else self._own.add(conversation)
        self.units.pop(place, None)
        self.units[place] = Unit(event, subject, drawn=drawn)


def place(places: "Placed", names: "ProjectNames", events: "Lines", gone: "AbstractSet[str]") -> None:
    """Put lines in their places, but for what is withdrawn, and what helpers said."""
    told = sorted((event for event in events if not event.get("subagent")), key=validity.order_of)
    _learn_homes(places, told)
    rejected = validity.rejected_in(gone)
    for event in told:
        if event["type"] in FINDABLE and (not gone or gone.isdisjoint(_aims_at(event))):
            said = validity.cleared(event, rejected) if rejected else event
            if validity.is_said(said):
                say(places, names, said)


def say(places: "Placed", names: "ProjectNames", event: "EventFields") -> None:
    """Put one line in its place, unless what stands there is newer, or an agent's own words do."""
    conversation = text_in(event, "conversation_id")
    subject = subject_of(names, event, places.home(conversation))
    drawn = validity.is_drawn(event)
    if drawn and places.has_own_summary(conversation):
        return
    if event["type"] == "stage_summary" and not drawn:
        places.drop_drawn(conversation)
    place = validity.place_of(event, subject)
    there = places.order_at(place)
    if there is None or there < validity.order_of(event):
        places.put(place, subject, event, drawn=drawn)


def subject_of(names: "ProjectNames", event: "EventFields", home: "Mapping[str, str]") -> str:
    """Name what a line is about: its project, else that of its conversation; "" for the user."""
    path = text_in(event, "project")
    if event["type"] == "fact":
        if validity.is_about_user(event, path):
            return ""
    else:
        path = path or home.get("project", "")
    return names.of(path, text_in(event, "replica") or home.get("replica", "")) or NOWHERE


def _learn_homes(places: "Placed", told: "Lines") -> None:
    known: set[tuple[str, str]] = set()
    for event in told:
        conversation = text_in(event, "conversation_id")
        for what in _WHERE:
            said = event.get(what)
            if said and isinstance(said, str) and (conversation, what) not in known:
                known.add((conversation, what))  # what follows was said later
                places.learn_home(conversation, what, said, validity.order_of(event))


def _aims_at(event: "EventFields") -> tuple[str, str]:
    """Spell the aims that take away an event."""
    return validity.AN_EVENT + text_in(event, "id"), validity.ALL_OF + text_in(event, "conversation_id")
