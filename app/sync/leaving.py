"""The lines that leave this machine: whole, as a mark, or not at all; day by day, once each.

Whole      the default, byte for byte; but a line about a machine's own files that names no machine takes our name.
Mark       id, time, type and conversation of an event whose content stays: calls of hosts, receipts of contexts,
           texts of conversations (unless `sync: {texts: true}`), subagents' events, and facts about the user from
           shared sessions. So every machine counts the same events.
At home    all of an excluded or disabled project, also what was there before; damaged lines; and what looks like a
           secret: the scan at the door is a second one, for lines that were written before a pattern was known.

A day file only grows; then what was appended leaves. Where it was rewritten (a redaction, a repair), where the rules
have changed, where segments are lost or many, the whole day is cut anew and takes the place of its segments.
"""

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.open_store import OpenStore
from eventlog.app.sync.receiving import events_in
from eventlog.app.sync.sync_state import SentDay, SyncState
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
from eventlog.format.text import project_name
from eventlog.log import days
from eventlog.projects.root import in_full
from eventlog.secrets import secrets_in
from eventlog.settings.cached import off_switch
from eventlog.settings.load import parse
from eventlog.store import is_own, project_slug
from eventlog.store.files import file_stamp, read, read_regular, replace_file

if TYPE_CHECKING:
    import yaml

    from eventlog.projections.views.project_list import ListedProject

_OF_FILES = (PlanEntry, EntryApplied, EntryResolved, KnowledgeEdited, ProjectSeen)
_NO_TEXT = frozenset(("v", "id", "ts", "after", "type"))
_HELPER = "-"  # stands for the name of any helper, so that its marks count as little as its events
_NOTES = "knowledge/projects/"
_SHOWN = 5  # newest lines of a preview
_FIRST = "# settings of eventlog: `eventlog config` lists them all\n"


class _LeavingLine(NamedTuple):
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

    def add(self, line: _LeavingLine) -> None:
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
    """The rules of a store as they are now, and counts; they remember conversations in the state of its sync."""

    def __init__(self, opened: OpenStore, state: SyncState) -> None:
        self.counts = LeavingCounts()
        self._settings, self._state = opened.settings.sync, state
        self._replica, self._home = opened.replica, opened.machine.home
        self._shared, self._hidden = set(state.shared), set(state.hidden)
        self._projects = set(state.projects)
        self._excluded = _ExcludedProjects(opened)
        self._judged: dict[tuple[str, str | None], bool] = {}
        self._patterns = opened.settings.secrets.patterns
        self.changed = bool(state.rules) and state.rules != self._digest()
        if self.changed:
            self._shared, self._hidden = set(), set()

    def leaving(self, day: str, data: bytes, *, counted: bool = True) -> bytes:
        """Join what leaves of the whole lines of a day file, and count each line; damaged lines are left out."""
        judged = [self._judge(event, line) for event, line in events_in(day, data)]
        for line in judged if counted else ():
            self.counts.add(line)
        return b"".join(line.line + b"\n" for line in judged if line.line)

    def remember(self) -> None:
        """Keep what the rules have learnt of conversations and projects."""
        self._state.shared, self._state.hidden = sorted(self._shared), sorted(self._hidden)
        self._state.projects = sorted(self._projects)
        self._state.rules = self._digest()

    def _judge(self, event: Event, line: bytes) -> _LeavingLine:
        if isinstance(event, SessionStart) and event.session_type == "shared":
            self._shared.add(event.conversation_id)
        if self._is_excluded(event):
            return _LeavingLine(event, b"")
        if self._stays(event):
            return _LeavingLine(event, _mark(event), whole=False)
        if kinds := _secrets(line):
            return _LeavingLine(event, b"", secrets=kinds)
        if isinstance(event, _OF_FILES) and not event.replica:
            line = fastjson.dumps({**fastjson.object_in(line), "replica": self._replica})
        return _LeavingLine(event, line)

    def _stays(self, event: Event) -> bool:
        if event.subagent or isinstance(event, HostEvent | ContextInjected):
            return True
        if isinstance(event, ConversationText):
            return not self._settings.texts
        of_user = isinstance(event, Fact) and event.effective_scope == "user"
        return of_user and event.conversation_id in self._shared

    def _is_excluded(self, event: Event) -> bool:
        excluded = event.conversation_id in self._hidden
        if event.project:
            self._projects.add(event.project)
            excluded = self._excludes(event.project, event.replica)
            if excluded and event.agent != HUMAN:
                self._hidden.add(event.conversation_id)
        return excluded or self._is_about_excluded(event)

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


# ------------------------------------------------------------------------------------------------ days


class _DayCut(NamedTuple):
    """The lines of a day that leave; `replaces` the segments it had. `sent` is what is sent of the day afterwards."""

    day: str
    lines: bytes
    replaces: bool
    sent: SentDay


def cut_days(
    opened: OpenStore, state: SyncState, rules: LeavingRules, *, lost: Collection[str] = (), today: str = ""
) -> Iterator[_DayCut]:
    """Cut what is to be sent of this machine's own day files, oldest first.

    Days of which segments are `lost` leave again; so do those before `today` that have several segments.
    """
    for day in days.list_days(opened.store.log):
        if not is_own(day.files[0]):
            continue
        before = state.days.get(day.date, SentDay())
        anew = day.date in lost or (day.date < today and len(before.segments) > 1)
        stamp = list(file_stamp(day.files[0]))
        if stamp == before.stamp and not (anew or rules.changed):
            continue
        if (data := read(day.files[0])) is None:
            continue  # what left before stays there
        yield _cut(day.date, data[: data.rfind(b"\n") + 1], before, rules, stamp, anew=anew)


def _cut(day: str, data: bytes, before: SentDay, rules: LeavingRules, stamp: list[int], *, anew: bool) -> _DayCut:
    """Cut what was appended; the whole day `anew`, or where what left before would not leave as it did.

    Segments with lines that this file has lost stay beside a whole day.
    """
    has_grown = len(data) >= before.size and zlib.crc32(data[: before.size]) == before.read
    is_new = has_grown and not anew
    if is_new and rules.changed and before.size:
        is_new = zlib.crc32(rules.leaving(day, data[: before.size], counted=False)) == before.sent
    after = before if is_new else SentDay()
    blocked = len(rules.counts.blocked)
    lines = rules.leaving(day, data[after.size :])
    sent = SentDay(
        size=len(data),
        read=zlib.crc32(data[after.size :], after.read),
        sent=zlib.crc32(lines, after.sent),
        lines=after.lines + lines.count(b"\n"),
        blocked=after.blocked + len(rules.counts.blocked) - blocked,
        stamp=stamp,
        senders=after.senders,
    )
    has_lost = sent.lines < before.lines and not rules.changed and not has_grown
    return _DayCut(day, lines, not (is_new or has_lost), sent)


def preview(opened: OpenStore) -> LeavingCounts:
    """Count what would leave now, and write nothing."""
    state = SyncState.load(opened.store)
    rules = LeavingRules(opened, state)
    for _ in cut_days(opened, state, rules):
        pass
    return rules.counts


# ------------------------------------------------------------------------------------------------ what stays at home


class _ExcludedProjects:
    """The projects that `sync.exclude` names by path, name or address, each in all its places."""

    def __init__(self, opened: OpenStore) -> None:
        self._store, self._here = opened.store, opened.replica or None
        self._names = frozenset(opened.settings.sync.exclude)
        self._paths = {in_full(name, opened.machine.home).rstrip("/") or "/" for name in self._names}
        listed = self._listed if self._names else []
        known = KnownProjects(opened.store)
        self._project_at = known.of
        meant = {path: known.meant(path) for project in listed for _, path in project.places}
        inside = {name for path, name in meant.items() if self._is_inside(path)}
        self._all = {project.project for project in listed}
        named = (found for found in listed if self._names & {found.project, found.name, *found.parts})
        self._chosen = {project.project for project in named} | inside
        self._paths |= {path for path, name in meant.items() if name in self._chosen}

    @cached_property
    def _listed(self) -> "list[ListedProject]":
        return KnownProjects(self._store).listed()

    def has_place(self, path: str, replica: str | None = None) -> bool:
        """Return whether a path of a machine (None: this machine) is that of such a project, or lies inside."""
        found = self._project_at(path, replica or self._here)
        if found in self._all:
            return found in self._chosen
        return self._is_inside(path) or project_name(path) in self._names

    def has_name(self, name: str) -> bool:
        """Return whether such a project is called so: by its address, `replica:path`, or a path."""
        replica, colon, path = name.partition(":")
        if not name.startswith("/") and colon:
            return self.has_place(path, replica)
        named = {project.project for project in self._listed if name in project.parts}
        return not named.isdisjoint(self._chosen) or self.has_place(name)

    def places_of(self, directory: str, paths: Iterable[str]) -> set[tuple[str, str | None]]:
        """Find the places of the project with a directory: those here, if there are any, else all.

        Where that project is not listed, its place is one of `paths`.
        """
        listed = [place for project in self._listed if directory in project.directories for place in project.places]
        here = {(path, replica) for replica, path in listed if replica == self._here}
        unlisted: set[tuple[str, str | None]] = {
            (path, None) for path in (*paths, *self._paths) if project_slug(path) == directory
        }
        return here or {(path, replica) for replica, path in listed} or unlisted

    def _is_inside(self, path: str) -> bool:
        return any(path == place or path.startswith(f"{place}/") for place in self._paths)


def exclude_projects(opened: OpenStore, paths: list[str]) -> list[str]:
    """Add projects to `sync.exclude`, and return all that it names; the rest of the file stays as it is.

    Raises BadSettings or NotStored.
    """
    store, chosen = opened.store, opened.settings.sync
    excluded = list(dict.fromkeys([*chosen.exclude, *paths]))
    if excluded != chosen.exclude:
        try:
            text = read_regular(store.config).decode("utf-8-sig")
        except FileNotFoundError:
            text = _FIRST
        values = {"auto": chosen.auto, "exclude": excluded, "texts": chosen.texts}
        new = _with_sync(text, {name: value for name, value in values.items() if value})
        parse(new.encode(), store.config)
        replace_file(store.config, new.encode())
    return excluded


def _with_sync(text: str, values: dict[str, object]) -> str:
    """Write the values of `sync` into the text of a `config.yaml`, in the place of those it has."""
    import yaml  # every exchange asks what is excluded, few write it

    written = yaml.safe_dump(values, default_flow_style=True, allow_unicode=True, width=10_000).strip()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    for key, value in pairs:
        if key.value == "sync":
            before = text[: value.start_mark.index]
            return f"{before}{' ' if before.endswith(':') else ''}{written}{text[_end_of(value) :]}"
    if isinstance(root, yaml.MappingNode) and root.flow_style:
        start = root.start_mark.index + 1
        return f"{text[:start]}sync: {written}{', ' if pairs else ''}{text[start:]}"
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}sync: {written}\n"


def _end_of(node: "yaml.Node") -> int:
    """Find where the text of a node ends: that of a block ends with its last value, before any comment."""
    import yaml

    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
