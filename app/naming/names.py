"""Names that people type: agents, types of events, lines of files; and the nearest to a wrong name."""

import re
from collections.abc import Collection, Iterable, Iterator
from operator import attrgetter
from typing import Literal, NamedTuple

from eventlog import hosts
from eventlog.fast import fastjson
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, TYPES
from eventlog.log.event_log import EventLog

INSTALL = "eventlog install AGENT makes its hooks record every session"  # to an empty store
SEARCH = "`eventlog search` finds text"  # to words that nothing says

_SHOWN = 3
_LISTED = 8  # of all there are, where none is near
_SHORT = 2  # characters: in many words by chance


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Find the words most like a given word, in any case, the likest first."""
    from difflib import get_close_matches

    words = {word.casefold(): word for word in names}
    folded = typed.casefold()
    near = get_close_matches(folded, words, n=_SHOWN, cutoff=0.6)
    near += [
        word
        for word in words
        if folded and (folded in word or (len(word) > _SHORT and word in folded)) and word not in near
    ]
    return [words[word] for word in near[:_SHOWN]]


def did_you_mean(word: str, names: Iterable[str], otherwise: str | None = None) -> str:
    """Ask for the nearest words; without any return `otherwise`, or list what exists: "" for nothing."""
    names = list(dict.fromkeys(names))
    if near := nearest(word, names):
        return f"did you mean {' or '.join(near)}?"
    if otherwise is not None:
        return otherwise
    more = f", … ({len(names)} in all)" if len(names) > _LISTED else ""
    return f"known: {', '.join(names[:_LISTED])}{more}" if names else ""


_FILE_LINE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d{1,18}))?", re.ASCII | re.DOTALL)

OF_USER = "user/"  # before the name of a file that a project has, too
_IN_PROJECT = re.compile(r"projects/(.+)-[0-9a-f]{6}/(.+)", re.DOTALL)


class _FileLine(NamedTuple):
    """A file as it was named, and the number of the line of it that is meant; None for all of them."""

    file: str
    line: int | None


def file_line(text: str) -> _FileLine:
    """Split `FILE` or `FILE:LINE`."""
    match = _FILE_LINE.fullmatch(text)
    return _FileLine(match["file"], int(match["line"]) if match["line"] else None) if match else _FileLine(text, None)


def with_project_named(name: str, paths: Iterable[str]) -> list[str]:
    """Find the paths that this means: `user/MEMORY.md` for `MEMORY.md`, `shop/MEMORY.md` for `projects/shop-957ed0/…`.

    `projects/shop/MEMORY.md` is the latter, too.
    """
    paths, wanted = list(paths), name.removeprefix("projects/")
    if name.startswith(OF_USER) and (of_user := name.removeprefix(OF_USER)) in paths:
        return [of_user]
    return [path for path in paths if _IN_PROJECT.fullmatch(path) and _IN_PROJECT.sub(r"\1/\2", path) == wanted]


def is_file_line(text: str) -> bool:
    """Return whether a text is `FILE:LINE`."""
    return file_line(text).line is not None


_CLI = "cli"


def agents_meant(log: EventLog, names: Iterable[str]) -> tuple[str, ...]:
    """Translate names into those of the log; raises BadRequest for a name that neither hosts nor log know."""
    rooms = hosts.rooms()
    return _meant(log, "agent", map(hosts.agent_name, _split(names)), (*rooms, HUMAN, _CLI), rooms.values())


def types_meant(log: EventLog, names: Iterable[str]) -> tuple[str, ...]:
    """Split the names of types; raises BadRequest for a type that neither the program nor the log knows."""
    return _meant(log, "type", _split(names), TYPES, TYPES)


def _split(texts: Iterable[str]) -> Iterator[str]:
    """Split what may be given several times, or with commas between."""
    return (word for text in texts for part in text.split(",") if (word := part.strip()))


def _meant(
    log: EventLog, field: Literal["agent", "type"], names: Iterable[str], known: Collection[str], shown: Iterable[str]
) -> tuple[str, ...]:
    """Take each name once, if it is known or an event has it; raises BadRequest with what may be meant instead."""
    wanted, name_of = tuple(dict.fromkeys(names)), attrgetter(field)
    for name in wanted:
        if name not in known and name not in map(name_of, log.mentioning([fastjson.text(name)])):
            logged = dict.fromkeys(filter(None, map(name_of, log.read())))
            kind = "event type" if field == "type" else field
            raise BadRequest(f"no {kind} {name!r}", hint=did_you_mean(name, [*logged, *shown]))
    return wanted
