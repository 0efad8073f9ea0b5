"""Makers of typed events and of the state they lead to, for tests of projections."""

from eventlog.format import codec, ids, timestamps
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.fact_scopes import fact_scope
from eventlog.projections.current.identity import Identities
from eventlog.projections.engine.conversation_rows import RowMaintainer
from eventlog.projections.engine.documents import DocumentIndex
from eventlog.projections.engine.jobs import rows_by
from eventlog.projections.engine.row_store import MemoryRows
from eventlog.projections.views.stats import COUNTS
from eventlog.settings.schema import Settings
from tests.support.builders import DAY


def event(event_type, number=0, *, day=DAY, **fields):
    """An event that happened `number` minutes after midnight."""
    ts = f"{day}T{number // 60:02d}:{number % 60:02d}:00.000000Z"
    event_id = ids.derived(timestamps.to_ms(ts), f"{event_type} {number}")
    return codec.from_fields({"type": event_type, "id": event_id, "ts": ts, "conversation_id": "c", **fields})


def fact(number=0, content="x", **fields):
    return event("fact", number, content=content, **fields)


def summary(number=0, text="x", **fields):
    return event("stage_summary", number, summary=text, **fields)


def whole(number=0, text="x", **fields):
    return summary(number, text, scope="session", **fields)


def retract(number, target, **fields):
    return event("retraction", number, target=target.id, conversation_id="by-hand", **fields)


def quarantine(number, conversation="c"):
    return event("retraction", number, conversation=conversation, conversation_id="by-hand")


def folded(*events):
    """The state of these events."""
    state = Conversations()
    for one in events:
        state.fold(one)
    return state


def documents_of(projection, state, settings):
    """What a projection says of a state that lies whole in memory."""
    if projection.view is None:
        return sorted(projection.render(state, settings), key=lambda document: document.path)
    index = library_of(state, settings)
    units = sorted((not name, name) for name in index.names(projection.name))
    found = [document for _, name in units for document in index.render((projection.name, name))]
    return sorted(found, key=lambda document: document.path)


def library_of(state, settings):
    """The rows of a state that lies whole in memory."""
    found = state.by_id
    began = {conversation: found[conversation].started_at[:10] for conversation in found}
    known, shelf = Identities(state.places, state.withdrawn()), MemoryRows()
    rows = RowMaintainer(shelf)
    rows.catch_up(dict.fromkeys(began, ""), began.__getitem__, found.get, rows_by(known, settings))
    index = DocumentIndex(shelf, found.get, known, state.notes, settings)
    index.outdate(rows.outdated)
    return index


def fact_scopes(state):
    """What is stated about the user, then about each project; only where anything ever was."""
    index = library_of(state, Settings())
    return [scope for name in index.names("memory") if (scope := fact_scope(index, name)).rows]


def session_counts(state):
    """What is counted of each session of a state."""
    return library_of(state, Settings()).rows(COUNTS, "")
