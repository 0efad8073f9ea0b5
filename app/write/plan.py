"""Plan changes of knowledge bases: check entries and append them; a later replay or `apply` writes the files."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from eventlog.app.open_store import Machine
from eventlog.app.write.rejections import Rejections
from eventlog.format import codec
from eventlog.format.errors import BadRequest, BadSettings
from eventlog.format.events import Event, PlanEntry
from eventlog.log.event_log import EventLog
from eventlog.projections.bases import plan_file
from eventlog.projections.bases.base_file import Bases, normalized
from eventlog.projections.bases.ledger import REJECTED
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.projects.root import project_root
from eventlog.settings import load
from eventlog.store import Store
from eventlog.store.files import write_note

_IN_KEY = ("path", "url", "heading", "level", "under")
_IN_META = ("confidence", "reason", "created_at", "session_id")


class Declared(NamedTuple):
    """A stored entry, or the person's decision that keeps it out of the log; and why it waits, if it does."""

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
    """Append a plan entry, or a batch of them, and return the events; durable when this returns.

    An entry is a mapping as in the exchange format, or flat:
    `{"path": "user", "heading": "Interests", "content": "- agents", "reason": "…"}`. `project` is a directory; bases
    inside projects need it. Leaves out entries that a person has rejected. Raises BadRequest (and stores nothing),
    InvalidEvent or NotStored.
    """
    if not isinstance(store, EventLog):
        store = EventLog(store if isinstance(store, Store) else Store(os.fspath(store)))
    if isinstance(entries, Mapping):
        declared = [entry_of(entries)]
    else:
        declared = [entry_of(entry, f"entries[{position}]") for position, entry in enumerate(entries)]
    root = (project and project_root(project)) or None
    speaker = {"conversation_id": session, "project": root, "agent": agent, "layer": layer}
    whole = PlanFile(version="1.0.0", entries=declared)
    found = declare(store, checked(store.store, whole, speaker, machine or Machine.here()))
    return [result.event for result in found if isinstance(result.event, PlanEntry)]


def declare(log: EventLog, entries: Sequence[PlanEntry]) -> list[Declared]:
    """Append plan entries, all or none, without those that a person has rejected. Raises NotStored."""
    rejections = Rejections(log, lambda: _bases(log.store) or {})
    against = [rejections.of_entry(entry) for entry in entries]
    wanted = [entry for entry, decision in zip(entries, against, strict=True) if decision is None]
    stored = iter(log.append_many(wanted))
    if wanted:
        write_note(log.store.entries_note, b"")
    found = []
    for entry, decision in zip(entries, against, strict=True):
        line = "" if decision else rejections.line_of(entry)
        found.append(Declared(decision or next(stored), f"{REJECTED}: {line}" if line else ""))
    return found


def checked(store: Store, declared: PlanFile, speaker: Mapping[str, Any], machine: Machine) -> list[PlanEntry]:
    """Build the events of entries, with names of knowledge bases for paths; raises BadRequest with every mistake.

    Where `config.yaml` is invalid the bases are unknown: then the entries stay as declared, and `apply` judges them. A
    mistake in the settings must lose nothing.
    """
    project, home = speaker.get("project"), machine.home
    bases, entries = _bases(store), declared.entries
    if bases is not None:
        if wrong := plan_file.mistakes_in(entries, bases, project, home):
            elsewhere = any(mistake.key.endswith((".path", ".url")) for mistake in wrong)
            hint = f"known: {', '.join(bases)}" if elsewhere else ""
            if len(entries) == 1:
                wrong = [mistake._replace(key=_field(mistake.key)) for mistake in wrong]
            raise BadRequest("; ".join(map(str, wrong)), hint=hint)
        entries = [replace(entry, key=normalized(entry.key, project, bases, home)) for entry in entries]
    batch = os.urandom(8).hex() if len(entries) > 1 else None
    return [
        PlanEntry(
            key=entry.key, operation=entry.operation, content=entry.content, meta=entry.meta, batch=batch, **speaker
        )
        for entry in entries
    ]


def parse_plan(name: str, text: str) -> PlanFile:
    """Parse a plan file; raises BadRequest naming every mistake with its line. Messages call the file `name`."""
    loaded = PlanFile.parse(text)
    if loaded.mistakes:
        first, *more = loaded.mistakes
        others = "\n".join(f"line {mistake.line}: {mistake}" for mistake in more)
        raise BadRequest(str(first), where=f"{name}:{first.line}", hint=others or "nothing was stored")
    found: PlanFile = loaded.value
    return found


def entry_of(fields: Mapping[str, Any], where: str = "") -> PlannedChange:
    """Build an entry from a mapping, nested as in the exchange format or flat; raises BadRequest.

    Of several entries, `where` is the place of this one.
    """
    nested = {name: value for name, value in fields.items() if name not in (*_IN_KEY, *_IN_META)}
    for name, inner in (("key", _IN_KEY), ("meta", _IN_META)):
        if found := {field: fields[field] for field in inner if fields.get(field) is not None}:
            nested[name] = found
    try:
        return msgspec.convert(nested, PlannedChange)
    except msgspec.ValidationError as error:
        wrong = codec.invalid(error, PlannedChange)
        field = "" if wrong.where == "event" else wrong.where
        place = f"{where}.{field}".rstrip(".") if where else _field(field)
        raise BadRequest(wrong.what, where=place) from None


def _field(key: str) -> str:
    """Name a field as it is given for a single entry: `path` for `entries[0].key.path`."""
    return key.rpartition(".")[2]


def _bases(store: Store) -> Bases | None:
    """Load the knowledge bases; None where the settings are invalid."""
    try:
        return load.load(store).settings.knowledge_bases
    except BadSettings:
        return None
