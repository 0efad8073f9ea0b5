"""The lines that leave this machine: whole, as a mark, or not at all.

Whole      the default, byte for byte; but a line about a machine's own files that names no machine takes our name.
Mark       id, time, type and conversation of an event whose content stays: calls of hosts, receipts of contexts,
           texts of conversations (unless `sync: {texts: true}`), subagents' events, and facts about the user from
           shared sessions. So every machine counts the same events.
At home    all of an excluded or disabled project, also what was there before; damaged lines; and what looks like a
           secret: the scan at the door is a second one, for lines that were written before a pattern was known.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from eventlog.app.open_store import OpenStore
from eventlog.app.sync.excluding import ExcludedProjects
from eventlog.app.sync.sync_state import SyncState
from eventlog.fast import fastjson
from eventlog.fast.sha import sha256
from eventlog.format.events import (
    HUMAN,
    ContextInjected,
    ConversationText,
    EntryApplied,
    EntryResolved,
    Event,
    Fact,
    HostEvent,
    KnowledgeEdited,
    PlanEntry,
    ProjectJoined,
    ProjectSeen,
    SessionStart,
)
from eventlog.log.lines import LogLine, check_line, decode_whole
from eventlog.projects.root import in_full
from eventlog.secrets import secrets_in
from eventlog.settings.cached import off_switch

_OF_FILES = (PlanEntry, EntryApplied, EntryResolved, KnowledgeEdited, ProjectSeen)
_NO_TEXT = frozenset(("v", "id", "ts", "after", "type"))
_HELPER = "-"  # stands for the name of any helper, so that its marks count as little as its events
_NOTES = "knowledge/projects/"
_SHOWN = 5  # newest lines of a preview


class LeavingLine(NamedTuple):
    """An event on its way out: its line as it leaves, b"" where it stays, whole or not, and the secrets in it."""

    event: Event
    line: bytes
    whole: bool = True
    secrets: tuple[str, ...] = ()


class LeavingCounts(msgspec.Struct):
    """The lines that leave, counted by type and project; marks; what is blocked by which secrets; the newest lines."""

    events: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    marks: int = 0
    home: int = 0
    blocked: dict[str, tuple[str, ...]] = {}  # ids of events, and the kinds of their secrets
    newest: list[Event] = []

    def add(self, line: LeavingLine) -> None:
        """Count a line."""
        if line.secrets:
            self.blocked[line.event.id] = line.secrets
        elif not line.line:
            self.home += 1
        elif not line.whole:
            self.marks += 1
        else:
            self.events[line.event.type, line.event.project or ""] += 1
            self.newest = sorted([*self.newest, line.event], key=lambda event: event.ts)[-_SHOWN:]

    @property
    def total(self) -> int:
        """The lines that leave whole."""
        return self.events.total()


class LeavingRules:
    """The rules of a store as they are now; they remember conversations in the state of its sync."""

    def __init__(self, opened: OpenStore, state: SyncState) -> None:
        self._settings, self._state = opened.settings.sync, state
        self._replica, self._home = opened.replica, opened.machine.home
        self._shared, self._hidden = set(state.shared), set(state.hidden)
        self._projects = set(state.projects)
        self._excluded = ExcludedProjects(opened)
        self._judged: dict[tuple[str, str | None], bool] = {}
        self._patterns = opened.settings.secrets.patterns
        self.changed = bool(state.rules) and state.rules != self._digest()
        if self.changed:
            self._shared, self._hidden = set(), set()

    def lines(self, day: str, data: bytes) -> Iterator[LeavingLine]:
        """Check each whole line of a day file; damaged lines are left out."""
        events = decode_whole(data, day)
        if events is None:
            read = (check_line(LogLine.unread(line, "", 0, 1), day) for line in data.split(b"\n") if line)
            found = [line for checked in read for line in checked if isinstance(line, LogLine)]
            yield from (self._judge(line.event, line.line) for line in found)
        else:
            yield from map(self._judge, events, data.split(b"\n"))

    def remember(self) -> None:
        """Keep what the rules have learnt of conversations and projects."""
        self._state.shared, self._state.hidden = sorted(self._shared), sorted(self._hidden)
        self._state.projects = sorted(self._projects)
        self._state.rules = self._digest()

    def _judge(self, event: Event, line: bytes) -> LeavingLine:
        if isinstance(event, SessionStart) and event.session_type == "shared":
            self._shared.add(event.conversation_id)
        if self._is_excluded(event):
            return LeavingLine(event, b"")
        if self._stays(event):
            return LeavingLine(event, _mark(event), whole=False)
        if kinds := _secrets(line):
            return LeavingLine(event, b"", secrets=kinds)
        if isinstance(event, _OF_FILES) and not event.replica:
            line = fastjson.dumps({**fastjson.object_in(line), "replica": self._replica})
        return LeavingLine(event, line)

    def _stays(self, event: Event) -> bool:
        if event.subagent or isinstance(event, HostEvent | ContextInjected):
            return True
        if isinstance(event, ConversationText):
            return not self._settings.texts
        of_user = isinstance(event, Fact) and event.effective_scope == "user"
        return of_user and event.conversation_id in self._shared

    def _is_excluded(self, event: Event) -> bool:
        if event.project:
            self._projects.add(event.project)
            excluded = self._excludes(event.project, event.replica)
            if excluded and event.agent != HUMAN:
                self._hidden.add(event.conversation_id)
            return excluded or self._is_about_excluded(event)
        return event.conversation_id in self._hidden or self._is_about_excluded(event)

    def _is_about_excluded(self, event: Event) -> bool:
        """Return whether an event is about a file of an excluded project, or joins such a project."""
        if isinstance(event, ProjectJoined):
            return any(map(self._excluded.has_name, event.projects))
        path = getattr(event, "path", None) or getattr(getattr(event, "key", None), "path", None) or ""
        if path.startswith(_NOTES):
            places = self._excluded.places_of(path.removeprefix(_NOTES).partition("/")[0], self._projects)
            return bool(places) and all(self._excludes(*place) for place in places)
        return bool(path) and self._excludes(in_full(path, self._home), event.replica)

    def _excludes(self, path: str, replica: str | None = None) -> bool:
        found = self._judged.get((path, replica))
        if found is None:
            found = self._excluded.has_place(path, replica) or bool(off_switch({}, path))
            self._judged[path, replica] = found
        return found

    def _digest(self) -> str:
        """Digest what decides: the settings, and the projects that are excluded now."""
        excluded = sorted(path for path in self._projects if self._excludes(path))
        return sha256(msgspec.json.encode([1, excluded, self._settings.texts, self._patterns]))


def _mark(event: Event) -> bytes:
    """Make the line that stands for an event whose content stays: what its type requires is empty."""
    envelope: dict[str, object] = {"v": 1, "id": event.id, "ts": event.ts, "type": event.type}
    envelope["conversation_id"] = event.conversation_id
    if event.subagent:
        envelope["subagent"] = _HELPER
    match event:
        case HostEvent():
            envelope["name"] = ""
        case ContextInjected():
            envelope |= {"digest": "", "chars": 0}
        case ConversationText():
            pass
        case _:
            envelope |= {"type": "redacted", "was": event.type}
    return fastjson.dumps(envelope)


def _secrets(line: bytes) -> tuple[str, ...]:
    fields: dict[str, object] = msgspec.json.decode(line)
    texts = {name: value for name, value in fields.items() if name not in _NO_TEXT}
    found = (kind for name, value in texts.items() for kind, _ in secrets_in(value, name))
    return tuple(dict.fromkeys(found))


def joined(lines: Iterable[LeavingLine], count: Callable[[LeavingLine], None]) -> bytes:
    """Join the lines that leave, and count every line."""
    found: list[bytes] = []
    for line in lines:
        count(line)
        if line.line:
            found += (line.line, b"\n")
    return b"".join(found)
