"""Record a fact or a summary that is certainly new and not rejected, without any library.

That is what agents save most, and wait for. Whatever takes a closer look is left to `record_once`: a repetition, what a
person may have rejected, a store that others are about to write to, a clock that is wrong.

What was said and rejected is known by the index of the search, and by what the log got since that was written.
Imported while an agent's command waits: standard library only.
"""

from eventlog import hosts
from eventlog.app.search.appended import WITHDRAWS, NotAppended, appended, seen_in
from eventlog.fast import fastjson, os
from eventlog.format.errors import Busy, NotStored
from eventlog.format.marks import A_STATEMENT, AS_REJECTED, marks_of, salts_in
from eventlog.format.text import statement_of
from eventlog.log import raw_lines
from eventlog.projects.root import project_root
from eventlog.settings import cached
from eventlog.store import spool
from eventlog.store.append_once import append_live
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from sqlite3 import Connection

    from eventlog.store import Store

    Fields = dict[str, object]

_LAST, _SHORTEST, _LONGEST = "last", 6, 12  # what names a conversation otherwise than by its id; a short id
_HEX = "0123456789abcdef"
_ORDER = {  # of the fields of a line, as the log writes them
    "fact": ("content", "memory_type", "entities", "category", "key", "scope"),
    "stage_summary": ("scope", "topic", "summary", "decisions", "todos", "done"),
}
_SPEAKER = ("conversation_id", "project", "agent")
_DEFAULTS = {"memory_type": "W", "topic": "", "scope": "stage"}  # what is not written
_STATES = {"fact": "content", "stage_summary": "summary"}
_MOST = 1 << 20  # bytes of the log that are read for it
_FEW = 8  # rejected events to be looked up
_PATIENCE = 0.2  # seconds a writer of the index is waited for
_AIMS = "SELECT aim FROM gone WHERE aim BETWEEN ? AND ? || '~'"
_SAID = "SELECT line FROM units WHERE conversation = ? AND type = ?"


def record_new(store: "Store", session: str | None, asked: "Fields", where: str, environ: "Mapping[str, str]") -> str:
    """Append an event of the project of a directory, and return its id; "" to leave it to `record_once`.

    Raises NotStored, or InvalidEvent.
    """
    project = project_root(where)
    if cached.off_switch(environ, where, project) or _is_written_to(store):
        return ""
    spool.take_in(store)
    speaker = _speaker(store, session, environ)
    text = str(asked[_STATES[str(asked["type"])]])
    if not speaker or not text.strip() or not _is_plain([*speaker.values(), project, *asked.values()]):
        return ""
    event = _event(store, {**speaker, **({"project": project} if project else {})}, asked)
    try:
        turn = locked(store, store.lock("declare"))
    except Busy:
        raise
    except NotStored:
        return ""
    with turn:
        return append_live(store, event, lambda scrubbed: _is_new(store, scrubbed))


def _is_written_to(store: "Store") -> bool:
    """Return whether the store has what a shell must see to first: erasures, and decisions of a team."""
    return any(map(os.path.exists, (f"{store.redactions}.pending", store.trusted)))


def _speaker(store: "Store", session: str | None, environ: "Mapping[str, str]") -> "Fields":
    """Name the conversation and its program, as `speaker_of` does; nothing where that takes a closer look."""
    named = hosts.named_conversations(environ)
    if session is None:
        return {"conversation_id": next(iter(named.values())), "agent": next(iter(named))} if len(named) == 1 else {}
    if session in ("", _LAST) or (_SHORTEST <= len(session) <= _LONGEST and not session.strip(_HEX)):
        return {}
    agent = next((agent for agent, conversation in named.items() if conversation == session), "")
    try:
        lines = () if agent else (line for _, line in raw_lines.lines_of(store, session))
        return {"conversation_id": session, "agent": agent or raw_lines.agent_in(lines, session) or "cli"}
    except (OSError, ValueError):
        return {}


def _is_plain(values: "list[object]") -> bool:
    """Return whether UTF-8 has every text."""
    for text in values:
        if isinstance(text, list):
            if not _is_plain(text):
                return False
        elif not isinstance(text, str) or any("\ud800" <= char <= "\udfff" for char in text):
            return False
    return True


def _event(store: "Store", speaker: "Fields", asked: "Fields") -> "Fields":
    """Build the fields of the event as the codec orders them."""
    kind = str(asked["type"])
    own = {name: asked[name] for name in _ORDER[kind] if name in asked and asked[name] != _DEFAULTS.get(name)}
    first = {name: speaker[name] for name in _SPEAKER if name in speaker}
    return {"type": kind, **first, "replica": make_replica(store), **own}


def _is_new(store: "Store", event: "Fields") -> bool:
    """Return whether the statement is certainly new in its conversation, and not rejected."""
    from eventlog.app.search.database import DatabaseError, connect

    path = store.cached("search.sqlite")
    try:
        if not os.path.exists(path):
            return _is_none_of(appended(store, set(), _MOST).events, event)
        database = connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            return _is_unknown(store, database, event)
        finally:
            database.close()
    except (DatabaseError, OSError, ValueError, NotAppended):
        return False


def _is_unknown(store: "Store", database: "Connection", event: "Fields") -> bool:
    from eventlog.app.search.search_index import VERSION

    meta = dict(database.execute("SELECT name, value FROM meta"))
    if meta.get("version") != VERSION or "behind" in meta:
        return False
    if not _is_none_of(appended(store, seen_in(database), _MOST).events, event):
        return False
    lines = (fastjson.object_in(line) for (line,) in database.execute(_SAID, (event["conversation_id"], event["type"])))
    return not any(_is_alike(line, event) for line in lines) and not _may_be_rejected(store, database, event)


def _is_none_of(news: "list[Fields]", event: "Fields") -> bool:
    """Return whether no event of the log withdraws anything, or states the same in the conversation."""
    return not any(
        other["type"] in WITHDRAWS
        or (other.get("conversation_id") == event["conversation_id"] and _is_alike(other, event))
        for other in news
    )


def _is_alike(other: "Fields", event: "Fields") -> bool:
    states = _STATES[str(event["type"])]
    return other["type"] == event["type"] and statement_of(str(other.get(states))) == statement_of(str(event[states]))


def _may_be_rejected(store: "Store", database: "Connection", event: "Fields") -> bool:
    """Return whether a person has ever rejected this statement, or an event that states it."""
    text = str(event[_STATES[str(event["type"])]])
    rejected = {aim.removeprefix(A_STATEMENT) for aim in _aims(database, A_STATEMENT)}
    if any(mark in rejected for mark in marks_of(text, salts_in(rejected))):
        return True
    ids = [aim.removeprefix(AS_REJECTED) for aim in _aims(database, AS_REJECTED)]
    return len(ids) > _FEW or any(
        lines is None or _is_alike(fastjson.object_in(lines[0]), event)
        for lines in (raw_lines.of_event(store, event_id) for event_id in ids)
    )


def _aims(database: "Connection", kind: str) -> "Iterator[str]":
    return (str(aim) for (aim,) in database.execute(_AIMS, (kind, kind)))
