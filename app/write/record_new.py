"""Record a fact or a summary that is certainly new and not rejected, without any library; know a plain repetition.

That is what agents save most, and wait for. Whatever takes a closer look is left to `record_once`: a repetition of a
summary or under a key, what a person may have rejected, a store that others are about to write to, a wrong clock.

What was said and rejected is known by the index of the search, and by what the log got since that was written.
Imported while an agent's command waits: standard library only.
"""

from eventlog import hosts
from eventlog.app.search.appended import WITHDRAWS, Appended, NotAppended, seen_in
from eventlog.fast import fastjson, os
from eventlog.format import effective_scope
from eventlog.format.errors import Busy, NotStored
from eventlog.format.marks import A_STATEMENT, AS_REJECTED, RejectedStatements
from eventlog.format.text import encodable, one_line, statement_of
from eventlog.log import raw_lines
from eventlog.projects.root import project_root
from eventlog.settings import cached
from eventlog.store import day_of, spool
from eventlog.store.append_once import append_live
from eventlog.store.files import not_stored, sync_file
from eventlog.store.locks import locked
from eventlog.store.replica import make_replica

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from sqlite3 import Connection

    from eventlog.store import Store

    Fields = dict[str, object]

_PERSON = "human"  # `HUMAN` of events, which take a library
_LAST, _SHORTEST, _LONGEST = "last", 6, 12  # what names a conversation otherwise than by its id; a short id
_HEX = "0123456789abcdef"
_ORDER = {  # of the fields of a line, as the log writes them
    "fact": ("content", "memory_type", "entities", "category", "key", "scope"),
    "stage_summary": ("scope", "topic", "summary", "decisions", "todos", "done"),
}
_SPEAKER = ("conversation_id", "project", "agent")
_DEFAULTS = {"memory_type": "W", "topic": "", "scope": "stage"}  # what is not written
_STATES = {"fact": "content", "stage_summary": "summary"}
_MAX = 1 << 20  # bytes of the log that are read for it
_FEW = 8  # rejected events to be looked up
_PATIENCE = 0.2  # seconds a writer of the index is waited for
_AIMS = "SELECT aim FROM gone WHERE aim BETWEEN ? AND ? || '~'"
_SAVED = "SELECT line FROM units WHERE conversation = ? AND type = ?"
_KEYED = "SELECT 1 FROM subjects CROSS JOIN units USING (subject) WHERE same = ? AND type = 'fact' AND key IS NOT NULL"


def record_new(
    store: "Store", session: str | None, fields: "Fields", where: str, environ: "Mapping[str, str]"
) -> tuple[str, bool]:
    """Append an event of the project of a directory unless its conversation has stated that; "" to leave it undone.

    Return the id of the event that states it, and whether that is new. Raises NotStored, or InvalidEvent.
    """
    project = project_root(where)
    sees_first = (store.redacting, store.trusted)  # a shell: to erasures, and decisions of a team
    if cached.off_switch(environ, where, project) or any(map(os.path.exists, sees_first)):
        return "", False
    spool.take_in(store)
    speaker = _speaker(store, session, environ)
    text = str(fields[_STATES[str(fields["type"])]])
    if not speaker or not one_line(text) or not _is_plain([*speaker.values(), project, *fields.values()]):
        return "", False
    event = _event(store, {**speaker, **({"project": project} if project else {})}, fields)
    try:
        turn = locked(store, store.lock("declare"))
    except Busy:
        raise
    except NotStored:
        return "", False
    repeated: list[Fields] = []
    with turn:
        event_id = append_live(store, event, lambda scrubbed: _is_new(store, scrubbed, repeated))
        if event_id or not repeated:
            return event_id, True
        _confirm(store, str(repeated[0]["ts"])[:10])
    from eventlog.hooks.duplicate_log import count_duplicate

    count_duplicate(store, "statement")
    return str(repeated[0]["id"]), False


def _confirm(store: "Store", day: str) -> None:
    """Make durable what another writer of that day may have died before syncing; raises NotStored."""
    names = (name for name in os.listdir(store.log) if day_of(name) == day) if cached.wants_sync(store) else ()
    for name in names:
        try:
            sync_file(f"{store.log}/{name}")
        except OSError as error:
            raise not_stored(error, f"{store.log}/{name}") from error


def _speaker(store: "Store", session: str | None, environ: "Mapping[str, str]") -> "Fields":
    """Name the conversation and its program, as `speaker_of` does; nothing where that takes a closer look."""
    named = hosts.named_conversations(environ)
    if session is None:
        return {"conversation_id": next(iter(named.values())), "agent": next(iter(named))} if len(named) == 1 else {}
    if session.strip() in ("", _LAST) or (_SHORTEST <= len(session) <= _LONGEST and not session.strip(_HEX)):
        return {}
    agent = next((agent for agent, conversation in named.items() if conversation == session), "")
    try:
        lines = () if agent else (line for _, line in raw_lines.lines_of(store, session))
        agent = agent or raw_lines.named_in(lines, session) or "cli"
    except (OSError, ValueError):
        return {}
    return {} if agent == _PERSON else {"conversation_id": session, "agent": agent}


def _is_plain(values: "list[object]") -> bool:
    """Return whether UTF-8 has every text."""
    return all(
        _is_plain(value) if isinstance(value, list) else isinstance(value, str) and encodable(value) == value
        for value in values
    )


def _event(store: "Store", speaker: "Fields", fields: "Fields") -> "Fields":
    """Build the fields of the event as the codec orders them."""
    kind = str(fields["type"])
    own = {name: fields[name] for name in _ORDER[kind] if name in fields and fields[name] != _DEFAULTS.get(name)}
    first = {name: speaker[name] for name in _SPEAKER if name in speaker}
    return {"type": kind, **first, "replica": make_replica(store), **own}


def _is_new(store: "Store", event: "Fields", repeated: "list[Fields]") -> bool:
    """Return whether the statement is certainly new in its conversation, and not rejected; else add what it repeats."""
    from eventlog.app.search.database import DatabaseError, connect

    path = store.cached("search.sqlite")
    try:
        if not os.path.exists(path):
            return _is_none_of(Appended.since(store, set(), _MAX).events, event, repeated)
        database = connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            return _is_unknown(store, database, event, repeated)
        finally:
            database.close()
    except (DatabaseError, OSError, ValueError, NotAppended):
        return False


def _is_unknown(store: "Store", database: "Connection", event: "Fields", repeated: "list[Fields]") -> bool:
    from eventlog.app.search.search_index import VERSION

    meta = dict(database.execute("SELECT name, value FROM meta"))
    if meta.get("version") != VERSION or "behind" in meta:
        return False
    news = Appended.since(store, seen_in(database), _MAX).events
    if _may_be_rejected(store, database, event):
        return False
    saved = database.execute(_SAVED, (event["conversation_id"], event["type"]))
    is_new = _is_none_of([*news, *(fastjson.object_in(line) for (line,) in saved)], event, repeated)
    if repeated:
        from eventlog.projections.current.standing import likeness  # only a repetition asks

        if database.execute(_KEYED, (likeness(str(repeated[0]["content"])),)).fetchone():
            repeated.clear()
    return is_new


def _is_none_of(others: "list[Fields]", event: "Fields", repeated: "list[Fields]") -> bool:
    """Return whether no event withdraws anything, or states the same in the conversation.

    Where a single one states just that, and none under a key, it holds, and is added to what is repeated.
    """
    if any(other["type"] in WITHDRAWS for other in others):
        return False
    alike = [other for other in others if _is_alike(other, event)]
    of_conversation = [other for other in alike if other.get("conversation_id") == event["conversation_id"]]
    if len(of_conversation) == 1 and event["type"] == "fact" and not any(other.get("key") for other in (*alike, event)):
        repeated += [other for other in of_conversation if _filed(other) == _filed(event)]
    return not of_conversation


def _filed(fact: "Fields") -> tuple[object, ...]:
    """List what two facts that state the same have in common, besides their words."""
    project, kind = fact.get("project"), fact.get("memory_type", "W")
    scope = effective_scope(str(project or ""), fact.get("scope"), kind)
    return project, kind, scope, fact.get("category"), fact.get("subagent")


def _is_alike(other: "Fields", event: "Fields") -> bool:
    states = _STATES[str(event["type"])]
    return other["type"] == event["type"] and statement_of(str(other.get(states))) == statement_of(str(event[states]))


def _may_be_rejected(store: "Store", database: "Connection", event: "Fields") -> bool:
    """Return whether a person has ever rejected this statement, or an event that states it."""
    text = str(event[_STATES[str(event["type"])]])
    if RejectedStatements({aim.removeprefix(A_STATEMENT) for aim in _aims(database, A_STATEMENT)}).rejects(text):
        return True
    ids = [aim.removeprefix(AS_REJECTED) for aim in _aims(database, AS_REJECTED)]
    return len(ids) > _FEW or any(
        lines is None or _is_alike(fastjson.object_in(lines[0]), event)
        for lines in (raw_lines.of_event(store, event_id) for event_id in ids)
    )


def _aims(database: "Connection", kind: str) -> "Iterator[str]":
    return (str(aim) for (aim,) in database.execute(_AIMS, (kind, kind)))
