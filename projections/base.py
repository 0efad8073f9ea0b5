"""The contract of a projection: a fold with a merge, and a pure rendering.

    State()            nothing has happened yet
    state.fold(e)      one more event; the same state for any order of the same events
    state.merge(s)     add the state of another, disjoint set of events: fold(A) merged with fold(B) is fold(A + B)
    render(state, …)   the documents; no clock, no environment, no locale, no hash order

A state is data (a msgspec struct); the cache stores its encoding. Several projections may share a state, which is
folded once. The engine deduplicates events by id, so no state meets an event twice.

A projection may render document by document (`View`): each conversation adds rows to documents, and a document is
rendered again when its rows differ.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from msgspec import Struct
from msgspec.msgpack import Decoder

from eventlog.format.events import AnyEvent
from eventlog.projections.line import Line as Line  # noqa: PLC0414 - what projections of others import from here
from eventlog.projections.line import Sources as Sources  # noqa: PLC0414
from eventlog.settings.schema import Settings


class State(Protocol):
    """The data a fold accumulates."""

    version: ClassVar[int]  # raised whenever fold or merge change their result: outdates cached states

    def fold(self, event: AnyEvent) -> None:
        """Add an event."""

    def merge(self, other: Self) -> None:
        """Add the state of other events; `other` stays as it is, and shares no data that a later merge changes."""


class Pieces(NamedTuple):
    """The bytes of a document, block by block of its rows: kind and name of the rows, and the bytes of each block.

    None stands for a block that has not changed since the file was last published.
    """

    place: tuple[str, str]
    blocks: dict[str, bytes | None]


class Document:
    """A file of the knowledge directory: path relative to it, with `/`, and its lines.

    `data` spares joining them: what they come to in UTF-8, with `\\n` after every line. Of a long document there may be
    `pieces`, which together say the same. A document made of a `conversation` and settings alone names it.
    """

    def __init__(
        self,
        path: str,
        lines: Iterable[Line] | Callable[[], Iterable[Line]],
        data: bytes | None = None,
        pieces: Pieces | None = None,
        conversation: str = "",
    ) -> None:
        self.path = path
        self.conversation = conversation
        self.pieces = pieces
        self._lines = lines if callable(lines) else tuple(lines)
        self._data = data

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return the lines with their sources."""
        if callable(self._lines):
            self._lines = tuple(self._lines())
        return self._lines

    @property
    def data(self) -> bytes:
        """Return the bytes of the file."""
        if self._data is None:
            self._data = "".join([f"{line.text}\n" for line in self.lines]).encode()
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and (self.path, self.lines) == (other.path, other.lines)

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Document({self.path!r})"


class Total(NamedTuple):
    """A sum of rows: its type, and how it is made of some of them."""

    type: Any
    of: Callable[[Iterable[Any]], Any]


class RowKind(Struct, frozen=True, eq=False, dict=True):
    """The rows that each conversation adds to documents of a kind, by subject.

    A document depends on its rows alone, and is rendered again when a row differs. With `whole`, it depends on the
    whole conversation as well. With a `total`, the cache also stores the total of each block of rows.
    """

    name: str
    type: type[Any]
    of: Callable[[Any], Mapping[str, Any]]  # RowSource -> rows by name
    whole: bool = False
    total: Total | None = None

    @property
    def total_name(self) -> str:
        """Return the kind under which totals are stored."""
        return f"{self.name} total"

    @cached_property
    def decode(self) -> Callable[[bytes], dict[str, Any]]:
        """Build the decoder of a block of rows, by conversation."""
        return Decoder(dict[str, self.type]).decode  # type: ignore[name-defined]


class View(NamedTuple):
    """The documents of a projection, each rendered from the rows of its name, of the kinds it `reads`.

    `render(name, index)` renders the documents of a name. With a `top`, the name "" may have documents without having
    rows; with `of_all`, those depend on all others, which are rendered first. With `of_rows`, documents depend on rows,
    people's notes and settings alone, so another process can render them. What `render` has stored as a kind it `keeps`
    is dropped where rows change of its name and of the first kind.
    """

    reads: tuple[RowKind, ...]
    render: Callable[[str, Any], Iterable[Document]]
    top: bool = False
    of_all: bool = False
    of_rows: bool = False
    keeps: str = ""


class Projection(Struct, frozen=True):
    """A question asked of the log, and the files that answer it.

    `owns` are glob patterns of the paths it may render: a file that matches and is no longer rendered is stale.
    `package` is its distribution; "" for this package. A projection with a `view` is rendered document by document.
    """

    name: str
    state: type[Any]  # type[State]; a Protocol cannot be both the bound and the value here
    render: Callable[[Any, Settings], Iterable[Document]] | None  # None with a view
    owns: tuple[str, ...]
    package: str = ""
    view: View | None = None

    def owns_path(self, path: str) -> bool:
        """Return whether it may render a document of this path."""
        return any(self.matches(path, pattern) for pattern in self.owns)

    @staticmethod
    def matches(path: str, pattern: str) -> bool:
        """Return whether a pattern of `owns` matches a path; `*` matches no `/`."""
        parts = PurePosixPath(path).parts
        is_as_deep = len(parts) == len(PurePosixPath(pattern).parts)
        return is_as_deep and ".." not in parts and PurePosixPath(path).match(pattern)
