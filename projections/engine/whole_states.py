"""Projections without a view: their states are folded per day, stored per day and merged whole.

Projections of other packages are among them; a projection that fails is reported, and harms nothing.
"""

import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from eventlog.format.errors import BadRequest
from eventlog.log.days import Day
from eventlog.projections.base import Document, Projection
from eventlog.projections.current.conversations import Conversations, Knowledge
from eventlog.projections.engine.day_fold import Redaction
from eventlog.projections.engine.day_states import DayStates
from eventlog.projections.engine.row_store import RowsDamaged, RowStore
from eventlog.settings.schema import Settings

_State = TypeVar("_State")


class WholeStateProjections:
    """Renders projections from their whole states; `broken` names those of other packages that fail, and why."""

    def __init__(self, cache: RowStore, days: DayStates, settings: Settings) -> None:
        self.broken: dict[str, str] = {}
        self._cache = cache
        self._days = days
        self._settings = settings
        self._states: dict[type[Any], Any] = {}

    def documents(self, projection: Projection) -> list[Document]:
        """Render all documents of a projection; none where it is of another package, and fails."""
        try:
            return list(self._rendered(projection))
        except Exception as error:
            if not projection.package or isinstance(error, RowsDamaged):
                raise
            self.broken[projection.name] = f"{type(error).__name__}: {error}"
            return []

    def fold(self, projections: Iterable[Projection]) -> None:
        """Store the states of projections, day by day."""
        for projection in projections:
            for day in self._days.days if projection.state not in (Conversations, Knowledge) else ():
                try:
                    msgspec.msgpack.encode(self._of_day(projection.state, day))
                except Exception as error:
                    if not projection.package:
                        raise
                    self.broken[projection.name] = f"{type(error).__name__}: {error}"

    def _rendered(self, projection: Projection) -> Iterable[Document]:
        """Check that a projection of another package renders only its own; raises BadRequest."""
        render = projection.render
        documents = list(render(self.state(projection.state), self._settings)) if render else []
        for document in documents if projection.package else ():
            if not projection.owns_path(document.path):
                raise BadRequest(f"it renders {document.path!r}, which it does not own")
            _ = document.data  # raises where it cannot be written
        return documents

    def state(self, kind: type[_State]) -> _State:
        """Return a state of the whole log, merged once; withdrawn words may be redacted."""
        if kind not in self._states:
            self._states[kind] = self._merged(kind)
        found: _State = self._states[kind]
        return found

    def _merged(self, kind: type[Any]) -> Any:
        if kind is Conversations:
            return self._days.identities.resolved(self._days.conversations())
        if kind is Knowledge:
            return self._days.knowledge()
        total = kind()
        for day in self._days.days:
            total.merge(self._of_day(kind, day))
        return total

    def _of_day(self, kind: type[Any], day: Day) -> Any:
        """Return the state of a day: the stored state where it is of the same events, else fold the day."""
        row = self._days.rows[day.date]
        made_of = zlib.crc32(msgspec.msgpack.encode((row.stamps, row.left_out, row.redacted))).to_bytes(4, "big")
        name = f"{kind.__module__}.{kind.__qualname__} {kind.version}"
        data = self._cache.read("state", name, day.date)
        if data and data[:4] == made_of:
            with suppress(msgspec.MsgspecError):
                return msgspec.msgpack.decode(data[4:], type=kind)
        state = kind()
        redaction = Redaction(row.redacted, self._days.withdrawn) if row.redacted else Redaction()
        for event in self._days.events_of(day, row.left_out):
            state.fold(redaction.redact(event))
        with suppress(TypeError):  # a state that is no data
            self._cache.write("state", name, day.date, made_of + msgspec.msgpack.encode(state))
        return state
