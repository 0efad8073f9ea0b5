"""The words of the recall benchmark: what can be found, what is asked, and when, and in which store it stands."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Unit(NamedTuple):
    """One thing a memory holds; `project` is an absolute path, "" for what is about the user."""

    id: str
    project: str
    ts: str
    text: str  # all its words
    shown: str = ""  # what a prompt would be given of it, where that is not all

    @property
    def line(self) -> str:
        """Its text as delivered."""
        return self.shown or self.text


class Query(NamedTuple):
    """A prompt, where it is typed, and who listens; `conversation` is the agent's session id."""

    text: str
    project: str
    conversation: str
    shared: bool = False


class Question(NamedTuple):
    """A query and the units that answer it; `stale` are units that no longer hold.

    `kind` is how it copies its answer: `near` a rare word of it, `far` ordinary words only, `blind` no word at all;
    `across` asks in the other language.
    """

    group: str
    query: Query
    gold: frozenset[str]
    stale: frozenset[str] = frozenset()
    kind: str = ""


class Need(NamedTuple):
    """A line the session will need that starts in a project, and what its repository tells of it."""

    group: str
    project: str
    line: str
    branch: str = ""
    other_branch: str = ""  # of a task that has nothing to do with it
    files: tuple[str, ...] = ()  # changed, and not committed yet


class Recording(NamedTuple):
    """The fields of an event, and the unit it says; `withdraws` names a unit whose event it takes back."""

    unit: str
    fields: Mapping[str, Any]
    withdraws: str = ""


class World(NamedTuple):
    """Everything said, and everything asked of it; a dialogue of somebody else's data set has questions only."""

    units: Sequence[Unit]
    recordings: Sequence[Recording]
    questions: Sequence[Question]
    foreign: Sequence[Query] = ()
    repeats: Sequence[Sequence[Query]] = ()
    shared: Sequence[Query] = ()


class Haystack(NamedTuple):
    """What an arm indexes: the units, or the store that holds them; `owners` leads from an event's id to its unit."""

    units: Sequence[Unit]
    store: Path
    owners: Mapping[str, str]
