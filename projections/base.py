"""The contract of a projection: a fold with a merge, and a pure rendering.

    State()            nothing has happened yet
    state.fold(e)      one more event; the same state for any order of the same events
    state.merge(s)     absorb what another, disjoint set of events led to: fold(A) merged with fold(B) is fold(A + B)
    render(state, …)   the documents; no clock, no environment, no locale, no hash order

A state is data (a msgspec struct), so a checkpoint of it is its encoding. Several projections may ask different
questions of one state; it is folded once. Folding one event twice is the engine's job to prevent: it deduplicates
by id before it folds.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from eventlog.events import AnyEvent
from eventlog.settings.schema import Settings


class State(Protocol):
    """The data a fold accumulates."""

    version: ClassVar[int]  # raised whenever fold or merge change their result: outdates checkpoints

    def fold(self, event: AnyEvent) -> None:
        """Take in one event."""

    def merge(self, other: Self) -> None:
        """Take in the state of other events; `other` is not used afterwards."""


class Line(NamedTuple):
    """One rendered line, without its newline, and its sources: leave them out, and the line changes.

    `conversations` stands for all events of those conversations, which the index can name.
    """

    text: str
    sources: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()


class Document(NamedTuple):
    """A file of the knowledge directory: path relative to it, with `/`, and its lines."""

    path: str
    lines: tuple[Line, ...]

    @property
    def data(self) -> bytes:
        """Encode the file: UTF-8, `\\n` after every line."""
        return "".join([f"{line.text}\n" for line in self.lines]).encode()


@dataclass(frozen=True)
class Projection:
    """One question asked of the log, and the files that answer it.

    `owns` are glob patterns of the paths it may render: what matches and is no longer rendered is stale. `package` is
    the distribution it comes from; "" for this one.
    """

    name: str
    state: type[Any]  # type[State]; a Protocol cannot be both the bound and the value here
    render: Callable[[Any, Settings], Iterable[Document]]
    owns: tuple[str, ...]
    package: str = ""

    def owns_path(self, path: str) -> bool:
        """Tell whether a document of this path is one it may render."""
        return any(is_path_of(path, pattern) for pattern in self.owns)


def is_path_of(path: str, pattern: str) -> bool:
    """Tell whether a pattern of `owns` stands for a path; `*` stands for no `/`."""
    parts = PurePosixPath(path).parts
    is_as_deep = len(parts) == len(PurePosixPath(pattern).parts)
    return is_as_deep and ".." not in parts and PurePosixPath(path).match(pattern)
