"""Declaring changes of knowledge bases: checked, then in the log at once; applied later, by whoever comes first."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from eventlog.app.machine import Machine
from eventlog.app.write.rejections import Rejections
from eventlog.format import codec
from eventlog.format.errors import BadRequest, BadSettings
from eventlog.format.events import Event, PlanEntry
from eventlog.hooks import open_sessions
from eventlog.log.event_log import EventLog
from eventlog.projections.bases import plan_file
from eventlog.projections.bases.ledger import REJECTED
from eventlog.projections.bases.names import Bases, named
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.projects.root import project_root
from eventlog.settings import load
from eventlog.settings.schema import Settings
from eventlog.settings.yaml_errors import Mistake
from eventlog.store import Store

_IN_KEY = ("path", "url", "heading", "level", "under")
_IN_META = ("confidence", "reason", "created_at", "session_id")


class PlanCheck(NamedTuple):
    """How many entries a file of plan entries has, and every mistake in it."""

    entries: int
    mistakes: list[Mistake]


class Declared(NamedTuple):
    """The entry as it stands in the log, or the decision of a person that keeps it out; and for what it has to wait."""

    event: Event
    waits: str = ""


def plan(
    store: EventLog | Store | str | os.PathLike[str],
    entries: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *,
    session: str,
    project: str | None = None,
    agent: str | None = None,
    layer: int | None = None,
    machine: Machine | None = None,
) -> list[PlanEntry]:
    """Append one plan entry, or a batch of them, and return the events; on disk when this returns.

    An entry is a mapping as in the exchange format, or flat:
    `{"path": "user", "heading": "Interests", "content": "- agents", "reason": "…"}`. `project` is a directory; bases
    inside projects need it. What a person has rejected is left out. Raises BadRequest (nothing is stored then),
    InvalidEvent or NotStored.
    """
    log = store if isinstance(store, EventLog) else _open(store)
    given = [entries] if isinstance(entries, Mapping) else list(entries)
    declared = PlanFile(
        version="1.0.0", entries=[entry_of(entry, f"entries[{position}]") for position, entry in enumerate(given)]
    )
    root = (project and project_root(project)) or None
    speaker = {"conversation_id": session, "project": root, "agent": agent, "layer": layer}
    found = declare(log, checked(log.store, declared, speaker, machine or Machine.here()))
    return [one.event for one in found if isinstance(one.event, PlanEntry)]


def declare(log: EventLog, entries: Sequence[PlanEntry]) -> list[Declared]:
    """Append plan entries but those a person does not want; all of the others or none. Raises NotStored."""
    rejections = Rejections(log, lambda: _bases(log.store) or {})
    against = [rejections.of_entry(entry) for entry in entries]
    wanted = [entry for entry, decision in zip(entries, against, strict=True) if decision is None]
    stored = iter(log.append_many(wanted))
    if wanted:
        open_sessions.mark_entries(log.store)
    found = []
    for entry, decision in zip(entries, against, strict=True):
        line = "" if decision else rejections.line_of(entry)
        found.append(Declared(decision or next(stored), f"{REJECTED}: {line}" if line else ""))
    return found


def checked(store: Store, declared: PlanFile, speaker: Mapping[str, Any], machine: Machine) -> list[PlanEntry]:
    """Make the events of the entries, paths made names of knowledge bases; raises BadRequest naming every mistake.

    Where `config.yaml` cannot be understood nothing is known of bases: the entries are taken as they are, and judged
    when they are applied. A mistake in the settings loses nothing.
    """
    project, home = speaker.get("project"), machine.home
    bases = _bases(store)
    if bases is None:
        return _events(declared.entries, speaker)
    wrong = plan_file.mistakes(plan_file.parts_of(declared.entries), {}, bases, project, home)
    if wrong:
        elsewhere = any(mistake.key.endswith((".path", ".url")) for mistake in wrong)
        hint = f"knowledge bases are {', '.join(bases)}" if elsewhere else ""
        raise BadRequest("; ".join(map(str, wrong)), hint=hint)
    return _events([_named(entry, named(entry.key, project, bases, home)) for entry in declared.entries], speaker)


def parse_plan(name: str, text: str) -> PlanFile:
    """Read a file of plan entries; raises BadRequest naming every mistake with its line. `name` is for messages."""
    loaded = plan_file.parse(text)
    if loaded.mistakes:
        first, *more = loaded.mistakes
        others = "\n".join(f"line {mistake.line}: {mistake}" for mistake in more)
        raise BadRequest(str(first), where=f"{name}:{first.line}", hint=others or "nothing was stored")
    found: PlanFile = loaded.value
    return found


def check_plan(text: str, settings: Settings, project: str, machine: Machine) -> PlanCheck:
    """Find every mistake in a file of plan entries, for a project with this root."""
    loaded = plan_file.parse(text)
    entries = sum(key.startswith("entries[") and key.endswith("]") for key in loaded.lines)
    mistakes = plan_file.every_mistake(loaded, settings.knowledge_bases, project, machine.home)
    return PlanCheck(entries, mistakes)


def entry_of(given: Mapping[str, Any], where: str = "entries[0]") -> PlannedChange:
    """Make the entry of a mapping, nested as in the exchange format or flat; raises BadRequest."""
    fields = {name: value for name, value in given.items() if name not in (*_IN_KEY, *_IN_META)}
    key = {name: given[name] for name in _IN_KEY if given.get(name) is not None}
    meta = {name: given[name] for name in _IN_META if given.get(name) is not None}
    fields |= ({"key": key} if key else {}) | ({"meta": meta} if meta else {})
    try:
        return msgspec.convert(fields, PlannedChange)
    except msgspec.ValidationError as error:
        told = codec.invalid(error, PlannedChange)
        raise BadRequest(told.what, where=f"{where}.{told.where}" if told.where != "event" else where) from None


def _bases(store: Store) -> Bases | None:
    """Read which knowledge bases there are; None where the settings cannot be understood."""
    try:
        return load.load(store).settings.knowledge_bases
    except BadSettings:
        return None


def _open(store: Store | str | os.PathLike[str]) -> EventLog:
    place = store if isinstance(store, Store) else Store(os.fspath(store))
    return EventLog(place)


def _named(entry: PlannedChange, key: Any) -> PlannedChange:
    return msgspec.structs.replace(entry, key=key)


def _events(entries: Iterable[PlannedChange], speaker: Mapping[str, Any]) -> list[PlanEntry]:
    entries = list(entries)
    batch = os.urandom(8).hex() if len(entries) > 1 else None
    return [
        PlanEntry(
            key=entry.key, operation=entry.operation, content=entry.content, meta=entry.meta, batch=batch, **speaker
        )
        for entry in entries
    ]
