"""The things known that bear on the work of a session that starts: its branch, and the files changed lately.

The index of the search tells it; who waits for a session to begin does not wait for an index to be made.
"""

from math import log

from eventlog.app.search.database import DatabaseError
from eventlog.app.search.open_index import open_index
from eventlog.app.search.search_index import Hit, Scope, SearchIndex
from eventlog.fast import os
from eventlog.projections.context.request import Bearing, WorkAtHand
from eventlog.projections.search.findable import CONVERSATION, text_in, texts_in
from eventlog.projections.search.ranking import is_item, subjects
from eventlog.projections.search.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventlog.projections.search.findable import EventFields
    from eventlog.store import Store

_LOOKED_AT = 16  # hits
_SESSIONS, _FACTS = 3, 6
_SHARE = 0.3  # of all that the words of a branch tell
_FEW = 8  # texts that name a file without its directory; more mean any file of that name
_PATIENCE = 0.2  # seconds another writer of the index is waited for
_MAX = 1 << 20  # bytes of the log that are read while a session waits
_KINDS_OF_BRANCHES = """
feature feat bugfix hotfix chore docs doc perf style spike ops release wip draft tmp temp user users team experiment
dependabot renovate backport misc
"""
_SAY_NOTHING = frozenset(tokens(_KINDS_OF_BRANCHES))


def with_bearings(store: "Store", project: str, branch: str, files: "Sequence[str]") -> WorkAtHand:
    """Find what bears on a branch and files; nothing where no index is in order."""
    if not os.path.exists(store.cached("search.sqlite")):
        return WorkAtHand(branch, tuple(files))
    try:
        index = open_index(store, patience=_PATIENCE, limit=_MAX)
        try:
            found = _chosen(index, Scope(index.names.subjects_at(project)), branch, files)
            return WorkAtHand(branch, tuple(files), tuple(found))
        finally:
            index.close()
    except (OSError, ValueError, DatabaseError):
        return WorkAtHand(branch, tuple(files))


def _chosen(index: SearchIndex, scope: Scope, branch: str, files: "Sequence[str]") -> "Iterator[Bearing]":
    """Choose a few facts and sessions, first what bears on the branch; each once."""
    names: set[str] = set()
    remaining = {True: _SESSIONS, False: _FACTS}
    for hit in (*_on_branch(index, scope, branch), *_on_files(index, scope, files)):
        found = hit.found
        is_session = found.type in CONVERSATION
        name = found.conversation if is_session else found.shown
        if remaining[is_session] and name not in names:
            names.add(name)
            remaining[is_session] -= 1
            yield _session(index.summaries_of(found.conversation), hit) if is_session else _fact(hit)


def _on_branch(index: SearchIndex, scope: Scope, branch: str) -> "Iterator[Hit]":
    """Yield what has enough of the words a branch is named by, best first."""
    terms = [token for token in subjects(tokens(branch)) if token not in _SAY_NOTHING and not is_item(token)]
    having, texts = index.having(terms), index.texts()
    tells = {token: log((texts + 1) / (count + 0.5)) for token, count in having.items() if count}
    for hit in index.find(having, "", scope, _LOOKED_AT) if tells else ():
        words = frozenset(tokens(hit.found.words))
        if sum(tells[token] for token in tells if token in words) >= _SHARE * sum(tells.values()):
            yield hit


def _on_files(index: SearchIndex, scope: Scope, files: "Sequence[str]") -> "Iterator[Hit]":
    """Yield what names any of the files, by its path or by a name that few have; the files in their order."""
    having = index.having(name for file in files for name in _names(file))
    for file in files:
        counts = {name: having[name] for name in _names(file) if name == file.lower() or having[name] <= _FEW}
        yield from index.find(counts, "", scope, _LOOKED_AT) if any(counts.values()) else ()


def _names(file: str) -> "Sequence[str]":
    """Return the tokens of a path as a whole, and of its last part."""
    path = file.lower()
    return path, path.rpartition("/")[2]


def _fact(hit: Hit) -> Bearing:
    found = hit.found
    kind = text_in(hit.fields, "memory_type") or "W"
    values = found.id, found.ts, found.conversation, found.shown
    return Bearing(*values, about_user=not hit.subject, memory_type=kind, sources=(found.id,))


def _session(events: "Sequence[EventFields]", hit: Hit) -> Bearing:
    """Sum a session up by what it was concluded with, else by its own text."""
    summaries = [event for event in events if text_in(event, "type") == "stage_summary"]
    texts = [event for event in events if text_in(event, "type") == "conversation_text"]
    return Bearing(
        id=hit.found.id,
        ts=hit.found.ts,
        conversation_id=hit.found.conversation,
        about_user=not hit.subject,
        topic=_first(summaries, "topic") or _first(texts, "title"),
        text=_first(summaries, "summary") or _first(texts, "closing"),
        decisions=tuple(dict.fromkeys(decision for event in summaries for decision in texts_in(event, "decisions"))),
        files=tuple(dict.fromkeys(file for event in texts for file in texts_in(event, "files"))),
        sources=tuple(text_in(event, "id") for event in (*summaries, *texts)),
    )


def _first(events: "Sequence[EventFields]", name: str) -> str:
    """Return the text of the newest event that has any."""
    return next((text for event in reversed(events) if (text := text_in(event, name))), "")
