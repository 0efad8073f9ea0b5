"""Events and conversations by what people type: a full id, a short id, `last`, or a line of a file as `FILE:LINE`.

A short id is the part of an id that differs from all others, as long as the log needs it. A UUIDv7 begins with its
time, which all ids of a while share: its end is random. Other UUIDs are random from the start. What is no UUID was
chosen by somebody, and stays whole.
"""

import os
import re
from typing import Literal, NamedTuple

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.names import INSTALL, did_you_mean, is_file_line
from eventlog.app.open_store import OpenStore
from eventlog.format import timestamps
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Event
from eventlog.format.text import encodable
from eventlog.log.event_log import EventLog
from eventlog.projects.root import find_repository
from eventlog.store import Store, conversation_name, index_lookup

LAST = "last"
_SHOWN = 8
_SHORT = re.compile("[0-9a-f]{6,12}")
_FULL = len("019c7b12-8f00-7000-8000-000000000000")
WHERE = "`eventlog query` shows events with their ids, `eventlog sessions` the sessions"


class Reference(NamedTuple):
    """An event or a conversation, by its full id."""

    kind: Literal["event", "session"]
    id: str


def resolve(opened: OpenStore, typed: str, project: str | None = None) -> Reference:
    """Find the conversation or event that is meant; `last` is the project's last conversation. Raises BadRequest."""
    if is_file_line(typed):
        return Reference("event", event_meant(opened, typed))
    found = [Reference("session", session) for session in _sessions(opened.log, typed, project)]
    exact = [match for match in found if match.id == typed]
    if not exact and typed != LAST:
        found += [Reference("event", event) for event in events_named(opened.log, typed)]
    return _only(opened.log, typed, exact or found, "event or session")


def session_meant(log: EventLog, reference: str, project: str | None = None) -> str:
    """Find the conversation that is meant; raises BadRequest for none or several."""
    found = [Reference("session", session) for session in _sessions(log, reference, project)]
    return _only(log, reference, found, "session").id


def session_named(log: EventLog, reference: str, project: str | None) -> str:
    """Take a conversation as its caller names it: by the short id of one the log knows, or `last`; else it is new.

    `last` is the last of the project, where the log knows it. Raises BadRequest where there is none.
    """
    reference = encodable(reference)
    if reference == LAST:
        return session_meant(log, reference, last_of(log.store, project))
    if not _SHORT.fullmatch(reference) or log.index.positions(reference):
        return reference
    short = ShortIds(log.store)
    found = [conversation for conversation in log.index.conversations() if short.of(conversation) == reference]
    return found[0] if len(found) == 1 else reference


def last_of(store: Store, project: str | None) -> str | None:
    """Name the project whose last session is meant there; None stands for all: neither log nor git knows of it."""
    return KnownProjects(store).scope(project or "") or (project if project and find_repository(project) else None)


def event_meant(opened: OpenStore, reference: str) -> str:
    """Find the one event that is meant; raises BadRequest."""
    named = events_named(opened.log, reference, opened.machine.project)
    if not named and is_file_line(reference):
        from eventlog.app.ask.why import reasons_behind

        named = [event.id for reason in reasons_behind(opened, reference) for event in reason.events]
    return _only(opened.log, reference, [Reference("event", event) for event in named], "event").id


def events_named(log: EventLog, reference: str, project: str | None = None) -> list[str]:
    """Find the events of that id, or of those that begin or end like this; `last` is the project's newest event."""
    if reference == LAST:
        return [event.id for event in _newest(log, last_of(log.store, project))]
    reference = reference.strip().removesuffix("…")
    if len(reference) < SHORTEST_PART:
        return []
    exact = list(log.find([reference])) if len(reference) == _FULL else []
    return exact or _holding(log, reference.lower())


def event_named(log: EventLog, reference: str, project: str | None) -> str:
    """Find the only event of that id, or a part of it, or the project's last; "" for none.

    Raises BadRequest for several.
    """
    found = [Reference("event", event) for event in events_named(log, reference, project)]
    return _only(log, reference, found, "event").id if found else ""


def _sessions(log: EventLog, reference: str, project: str | None = None) -> list[str]:
    if log.index.positions(reference):
        return [reference]
    if reference == LAST:
        return [event.conversation_id for event in _newest(log, project, of_session=True)]
    known = log.index.conversations()
    parts = [conversation for conversation in known if is_part_of(conversation, reference)]
    return parts or [conversation for conversation in known if conversation_name(conversation) == reference]


def _holding(log: EventLog, part: str) -> list[str]:
    """Look for the part beside the quotes of an id."""
    quoted = [os.fsencode(f'"{part}'), os.fsencode(f'{part}"')]
    return sorted({event.id for event in log.mentioning(quoted) if is_part_of(event.id, part)})


def _newest(log: EventLog, project: str | None = None, *, of_session: bool = False) -> list[Event]:
    """Find the newest event of the log, or of a project; what a person decides or a store notes is of no session.

    An event of no project that a person decided is of every project. What a wrong clock has dated later than now is the
    newest only where there is no other.
    """
    is_about = KnownProjects(log.store).about(project)
    for until in (timestamps.from_ns(log.now() + timestamps.FOLLOWED), "~"):
        for day in reversed(log.days(until=until)):
            for entry in reversed(day.entries()[0]):
                event = entry.event
                if of_session and event.conversation_id in (HUMAN, event.replica):
                    continue
                is_here = is_about(event.project, entry.replica) or (event.project is None and event.agent == HUMAN)
                if event.ts <= until and is_here:
                    return [event]
    return []


def _only(log: EventLog, reference: str, found: list[Reference], noun: str) -> Reference:
    """Return a single find; else raise BadRequest with the reason why a text names nothing."""
    if len(found) == 1:
        return found[0]
    if found:
        short = ShortIds(log.store)
        several = [f"{short.of(match.id)}  {match.kind} {match.id}" for match in found[:_SHOWN]]
        raise BadRequest(f"{reference!r} may be {len(found)} of them: say more of the id", hint="\n".join(several))
    if not log.days():
        raise BadRequest(f"nothing has happened yet in {log.store.root}", hint=INSTALL)
    if reference == LAST:
        thing = "event" if noun == "event" else "session"
        raise BadRequest(f"this project has no {thing} yet", hint="eventlog sessions --all-projects lists others")
    names = log.index.conversations() if "session" in noun else ()
    raise BadRequest(f"no {noun} {reference!r}", hint=did_you_mean(reference, names, WHERE))


SHORTEST_PART = 4  # characters of a part of an id
_SHORTEST, _LONGEST = 6, 12  # digits; twelve are the last group
_BYTES_A_LINE = 200  # rather too few
_ODDS = 20  # one store in so many has two events of one short id
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


class ShortIds:
    """The short ids of a store; how long they are goes by the size of its log, when that was last indexed."""

    def __init__(self, store: Store) -> None:
        indexed, _ = index_lookup.look_up(store.cached("conversations.index"), "")
        sizes = map(index_lookup.size_in, indexed or index_lookup.stamps_of(store.log))
        events = sum(sizes) // _BYTES_A_LINE  # so many random ids hardly ever share digits (birthday problem)
        fits = (n for n in range(_SHORTEST, _LONGEST) if events**2 * _ODDS < 2 ** (4 * n + 1))
        self._length = next(fits, _LONGEST)

    def of(self, full_id: str) -> str:
        """Shorten the id of an event or a conversation; `references.resolve` finds it again."""
        match = _UUID.fullmatch(full_id)
        if match is None:
            return full_id
        return full_id[-self._length :] if match[1] == "7" else full_id[: self._length].rstrip("-")


def is_part_of(full_id: str, reference: str) -> bool:
    """Return whether a text may mean that id: all of it, its beginning or its end."""
    part, whole = reference.strip().strip("…").casefold(), full_id.casefold()
    return part == whole or (len(part) >= SHORTEST_PART and (whole.startswith(part) or whole.endswith(part)))
