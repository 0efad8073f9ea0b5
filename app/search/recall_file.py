"""Recall before a file is read or changed: what was decided about it, under the rules of a prompt's recall.

A fact that names the file; of a session that changed it, its decisions. Never what the conversation knows, with a
receipt, and silent where nothing is known; whatever fails, the agent goes on without, and the failure is noted.

Imported inside agents' hooks: standard library only.
"""

from eventlog.app.search import recall
from eventlog.app.search.recall import Asked
from eventlog.lean import os
from eventlog.projections.search.about_file import names_of, speaks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventlog.app.search.search_index import Hit, SearchIndex
    from eventlog.hosts.call import HookCall
    from eventlog.store import Store

_LOOKED_AT = 24  # hits
_SAID, _DONE = ("fact", "stage_summary"), ("conversation_text",)


def before_file(store: "Store", call: "HookCall") -> str:
    """Build what an agent is told before it opens a file, and put its receipt into the log. Never raises."""
    asked = Asked(below(call.file or "", call.project), call.project, call.session, call.agent)
    return recall.tell(store, call, asked, about_file, "file") if asked.prompt else ""


def below(path: str, project: str) -> str:
    """Write a path as it lies below the project; "" for one that does not."""
    full = os.path.normpath(path if path.startswith("/") else f"{project}/{path}")
    inside = full.removeprefix(f"{project.rstrip('/')}/")
    return inside if inside != full else ""


def about_file(store: "Store", asked: Asked, lines: int) -> "list[Hit]":
    """Find what was decided about the file `asked.prompt` names, newest first; raises OSError or DatabaseError."""
    return recall.search_for(store, asked, lines, lambda index, about: _decided(index, asked.prompt, about))


def _decided(index: "SearchIndex", path: str, about: tuple[str, str]) -> "Iterator[Hit]":
    """Yield what names the file, and the decisions of sessions that changed it, each once."""
    from eventlog.app.search.search_index import Scope

    names = index.having(names_of(path))
    named = [hit for hit in index.find(names, "", Scope(about, _SAID), _LOOKED_AT) if _names(hit, path)]
    touched = [hit for hit in index.find(names, "", Scope(about, _DONE), _LOOKED_AT) if _changed(hit, path)]
    theirs = [hit for one in touched for hit in index.of_conversation(one.found.conversation)]
    summaries = [hit for hit in theirs if hit.found.decisions and hit.subject in about]
    seen: set[str] = set()
    for hit in _newest_first([*named, *summaries]):
        text = hit.found.decided or hit.found.shown
        if text not in seen:
            seen.add(text)
            hit.found.shown = text
            yield hit


def _newest_first(hits: "Sequence[Hit]") -> "list[Hit]":
    return sorted(hits, key=lambda hit: (hit.found.after or hit.found.ts, hit.found.id), reverse=True)


def _names(hit: "Hit", path: str) -> bool:
    from eventlog.projections.search.words import tokens

    return (hit.found.type == "fact" or bool(hit.found.decisions)) and speaks_of(set(tokens(hit.found.words)), path)


def _changed(hit: "Hit", path: str) -> bool:
    return any(speaks_of({file.casefold()}, path) for file in hit.found.files)
