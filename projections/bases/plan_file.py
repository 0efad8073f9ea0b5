"""The exchange format of plan entries: YAML that an agent or a person can write, and staged entries are kept in.

    version: '1.0.0'
    source: session_xxx            # the conversation that declares it
    entries:
      - key: {path: user, heading: Research Interests, level: 2}    # and under: [headings above it], outermost first
        operation: update          # update, clear, delete, no-op; told by the content where it is left out
        content: |-
          - AI Agents
        meta: {confidence: 0.95, reason: talked about at length}

A staged file has `error` and `target_file` as well: why it waits, and for what.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from eventlog.format.errors import BadRequest
from eventlog.format.events import Operation, PlanEntry, PlanMeta, SectionKey
from eventlog.projections.bases import section_edits, sections
from eventlog.projections.bases.names import BaseFile, Bases, base_file_of, named

if TYPE_CHECKING:
    import yaml

    from eventlog.settings.yaml_errors import Mistake, YamlReading

_PUBLISHED = {"PlanFile": "Exchange", "PlannedChange": "Entry", "SectionKey": "Target"}


class PlannedChange(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One declared change of one section."""

    key: SectionKey
    operation: Operation | None = None
    content: str | None = None
    meta: PlanMeta = PlanMeta()


class PlanFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A whole file of them."""

    version: Literal["1.0.0"]
    entries: list[PlannedChange]
    source: str | None = None
    error: str | None = None
    target_file: str | None = None


Change = tuple[Operation, str]  # what an entry does, and the text it brings
Parts = Mapping[str, Any]  # entries and their keys by where they stand: `entries[0]`, `entries[0].key`


def change_of(entry: PlannedChange | PlanEntry) -> Change:
    """Return the operation in force and its content; one that lacks what it needs does nothing."""
    content = entry.content or ""
    operation = entry.operation or ("no-op" if entry.content is None else "update")
    if operation == "update" and not content.strip():
        return ("no-op" if entry.content is None else "clear"), ""
    return operation, content if operation == "update" else ""


def parse(text: str) -> "YamlReading":
    """Parse the file as an Exchange, or every mistake of its form."""
    from eventlog.settings import yaml_errors  # yaml takes its time, and few replays meet a plan

    return yaml_errors.load(text, PlanFile)


def every_mistake(loaded: "YamlReading", bases: Bases, project: str | None, home: str) -> "list[Mistake]":
    """List mistakes of form, of meaning, and entries that are in each other's way."""
    found = [rule(loaded.parts, loaded.lines, bases, project, home) for rule in (mistakes, duplicates)]
    return sorted(chain(loaded.mistakes, *found))


def parts_of(entries: Iterable[PlannedChange]) -> dict[str, PlannedChange | SectionKey]:
    """List entries and their keys, each by its place."""
    named = {f"entries[{position}]": entry for position, entry in enumerate(entries)}
    return {**named, **{f"{at}.key": entry.key for at, entry in named.items()}}


def mistakes(parts: Parts, lines: Mapping[str, int], bases: Bases, project: str | None, home: str) -> "list[Mistake]":
    """List mistakes of parts whose form is right: where they write, and what."""
    from eventlog.settings.yaml_errors import Mistake

    found = []
    for at, part in parts.items():
        for field, what in _wrong(part, bases, project, home):
            key = f"{at}.{field}"
            found.append(Mistake(lines.get(key, lines.get(at, 1)), key, what))
    return sorted(found)


def duplicates(parts: Parts, lines: Mapping[str, int], bases: Bases, project: str | None, home: str) -> "list[Mistake]":
    """List entries for a section that an earlier one has named: such a file's entries wait for a person."""
    from eventlog.settings.yaml_errors import Mistake

    seen: dict[tuple[BaseFile | None, sections.SectionId, sections.Under | None], str] = {}
    found = []
    for at, entry in parts.items():
        if not isinstance(entry, PlannedChange):
            continue
        file = base_file_of(entry.key, project, bases, home)
        section = (file, sections.SectionId.of(entry.key.heading, entry.key.level), entry.key.under)
        first = seen.setdefault(section, at)
        if file and first != at:
            found.append(Mistake(lines.get(at, 1), at, f"{first} is about the same section"))
    return found


def dump(exchange: PlanFile) -> str:
    """Write the file as YAML, texts as they are read by people."""
    about = {"source": exchange.source, "error": exchange.error, "target_file": exchange.target_file}
    known = {name: value for name, value in about.items() if value is not None}
    whole = {"version": exchange.version, **known, "entries": [_spelled_out(entry) for entry in exchange.entries]}
    import yaml

    text: str = yaml.dump(whole, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=100)
    return text


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the format."""
    top, parts = _published(msgspec.json.schema_components([PlanFile], ref_template="#/$defs/{name}"))
    parts["Target"]["oneOf"] = [
        {"required": ["path"], "properties": {"path": {"type": "string"}}},
        {"required": ["url"], "properties": {"url": {"type": "string"}}},
    ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top[0], "$defs": parts}


def _published(components: object) -> Any:
    """Give definitions the names they were first printed with."""
    spelled = msgspec.json.encode(components).decode()
    return msgspec.json.decode(
        re.sub(r"\b(PlanFile|PlannedChange|SectionKey)\b", lambda found: _PUBLISHED[found[0]], spelled)
    )


def _spelled_out(entry: PlannedChange) -> dict[str, Any]:
    """Order keys as people read them, without those that say nothing."""
    fields = msgspec.to_builtins(entry)
    where = {"path": entry.key.path} if entry.key.path is not None else {"url": entry.key.url}
    above = {} if entry.key.under is None else {"under": list(entry.key.under)}
    key = {**where, "heading": entry.key.heading, "level": entry.key.level, **above}
    return {
        "key": key,
        **{name: fields[name] for name in ("operation", "content", "meta") if fields.get(name) not in (None, {})},
    }


def _wrong(part: object, bases: Bases, project: str | None, home: str) -> Iterator[tuple[str, str]]:
    """Split a message into field and reason."""
    if isinstance(part, SectionKey):
        yield from _wrong_key(part, bases, project, home)
    elif isinstance(part, PlannedChange):
        yield from _wrong_change(part)


def _wrong_key(key: SectionKey, bases: Bases, project: str | None, home: str) -> Iterator[tuple[str, str]]:
    try:
        named(key, project, bases, home)
    except BadRequest as error:
        yield error.where, error.what
    if refused := section_edits.refused_heading(key.heading, key.level):
        yield "heading", refused


def _wrong_change(entry: PlannedChange) -> Iterator[tuple[str, str]]:
    if refused := section_edits.refused_content(entry.content or ""):
        yield "content", refused
    if entry.operation == "update" and entry.content is None:
        yield "operation", "update needs a content"
    elif entry.content and entry.operation in ("clear", "delete", "no-op"):
        yield "operation", f"{entry.operation} takes no content"


@cache
def _dumper() -> "type[yaml.SafeDumper]":
    """Make what writes several lines as a block, and escapes what YAML would fold or drop."""
    import yaml

    class PlanDumper(yaml.SafeDumper):
        pass

    def represent(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        plain = value.replace("\n", "").replace("\t", "").isprintable()
        style = '"' if not plain else "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    PlanDumper.add_representer(str, represent)
    return PlanDumper
