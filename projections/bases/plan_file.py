"""The exchange format of plan entries: YAML that agents and people write; staged entries use it as well.

    version: '1.0.0'
    source: session_xxx            # the conversation that declares it
    entries:
      - key: {path: user, heading: Research Interests, level: 2}    # and under: [headings above it], outermost first
        operation: update          # update, clear, delete, no-op; derived from the content if absent
        content: |-
          - AI Agents
        meta: {confidence: 0.95, reason: talked about at length}

A staged file has `error` and `target_file` as well: why it waits, and for which file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from eventlog.format.errors import BadRequest
from eventlog.format.events import Operation, PlanEntry, PlanMeta, SectionKey
from eventlog.projections.bases import sections
from eventlog.projections.bases.base_file import BaseFile, Bases, normalized
from eventlog.projections.bases.section_edits import refused_content, refused_heading

if TYPE_CHECKING:
    import yaml

    from eventlog.settings.yaml_errors import Mistake, YamlReading

_MARKED = re.compile(r"\s*(#{1,6})\s+(\S.*)")  # a heading with the signs that its level stands for

Change = tuple[Operation, str]  # the operation of an entry, and its text

_PUBLISHED = {"PlanFile": "Exchange", "PlannedChange": "Entry", "SectionKey": "Target"}
_Parts = Mapping[str, Any]  # entries and their keys by position: `entries[0]`, `entries[0].key`


class PlannedChange(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A declared change of a section."""

    key: SectionKey
    operation: Operation | None = None
    content: str | None = None
    meta: PlanMeta = PlanMeta()


class PlanFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A whole file of plan entries."""

    version: Literal["1.0.0"]
    entries: list[PlannedChange]
    source: str | None = None
    error: str | None = None
    target_file: str | None = None

    @classmethod
    def parse(cls, text: str) -> "YamlReading":
        """Parse a file as a PlanFile, or find every mistake of form."""
        from eventlog.settings import yaml_errors  # yaml is slow to import, and few replays read a plan

        return yaml_errors.load(text, cls)

    def dump(self) -> str:
        """Format a file as YAML, texts as people read them."""
        import yaml

        header = {"source": self.source, "error": self.error, "target_file": self.target_file}
        present = {name: value for name, value in header.items() if value is not None}
        whole = {"version": self.version, **present, "entries": [_as_mapping(entry) for entry in self.entries]}
        text: str = yaml.dump(whole, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=100)
        return text

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the format."""
        components = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
        names = rf"\b({'|'.join(_PUBLISHED)})\b"  # programs know the definitions by the names of the first release
        spelled = re.sub(names, lambda found: _PUBLISHED[found[0]], msgspec.json.encode(components).decode())
        top, parts = msgspec.json.decode(spelled)
        parts["Target"]["oneOf"] = [
            {"required": ["path"], "properties": {"path": {"type": "string"}}},
            {"required": ["url"], "properties": {"url": {"type": "string"}}},
        ]
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top[0], "$defs": parts}


def change_of(entry: PlannedChange | PlanEntry) -> Change:
    """Return the operation in force and its content; an entry without the content it needs is a no-op."""
    content = entry.content or ""
    operation = entry.operation or ("no-op" if entry.content is None else "update")
    if operation == "update" and not content.strip():
        return ("no-op" if entry.content is None else "clear"), ""
    return operation, content if operation == "update" else ""


def every_mistake(loaded: "YamlReading", bases: Bases, project: str | None, home: str) -> "list[Mistake]":
    """List mistakes of form and meaning, and entries that contradict each other."""
    where = loaded.parts, loaded.lines, bases, project, home
    return sorted([*loaded.mistakes, *_mistakes(*where), *_duplicates(*where)])


def mistakes_in(entries: Iterable[PlannedChange], bases: Bases, project: str | None, home: str) -> "list[Mistake]":
    """List mistakes of meaning in entries that came from no file: unknown targets, unsafe texts."""
    parts: dict[str, PlannedChange | SectionKey] = {}
    for position, entry in enumerate(entries):
        parts |= {f"entries[{position}]": entry, f"entries[{position}].key": entry.key}
    return sorted(_mistakes(parts, {}, bases, project, home))


def _mistakes(
    parts: _Parts, lines: Mapping[str, int], bases: Bases, project: str | None, home: str
) -> "Iterator[Mistake]":
    """Find mistakes of meaning in well-formed parts."""
    from eventlog.settings.yaml_errors import Mistake

    for at, part in parts.items():
        wrong: Iterable[tuple[str, str]] = ()
        if isinstance(part, SectionKey):
            wrong = _wrong_key(part, bases, project, home)
        elif isinstance(part, PlannedChange):
            wrong = _wrong_change(part)
        for field, what in wrong:
            key = f"{at}.{field}"
            yield Mistake(lines.get(key, lines.get(at, 1)), key, what)


def _wrong_key(key: SectionKey, bases: Bases, project: str | None, home: str) -> Iterator[tuple[str, str]]:
    try:
        normalized(key, project, bases, home)
    except BadRequest as error:
        yield error.where, error.what
    if refused := refused_heading(key.heading, key.level):
        yield "heading", refused


def _wrong_change(entry: PlannedChange) -> Iterator[tuple[str, str]]:
    for heading in (entry.key.heading, *(entry.key.under or ())) if entry.content else ():
        if marked := _MARKED.match(heading):
            signs, title = marked.groups()
            yield "key.heading", f"leave the {signs} out, the level says it: {title!r} of level {len(signs)}"
    if refused := refused_content(entry.content or ""):
        yield "content", refused
    if entry.operation == "update" and entry.content is None:
        yield "operation", "update needs a content"
    elif entry.content and entry.operation in ("clear", "delete", "no-op"):
        yield "operation", f"{entry.operation} takes no content"


def _duplicates(
    parts: _Parts, lines: Mapping[str, int], bases: Bases, project: str | None, home: str
) -> "Iterator[Mistake]":
    """Find entries for a section that an earlier entry names: all entries of such a file wait for a person."""
    from eventlog.settings.yaml_errors import Mistake

    seen: dict[tuple[BaseFile | None, sections.SectionId, sections.Under | None], str] = {}
    for at, entry in parts.items():
        if isinstance(entry, PlannedChange):
            file = BaseFile.of(entry.key, project, bases, home)
            section = (file, sections.SectionId.of(entry.key.heading, entry.key.level), entry.key.under)
            first = seen.setdefault(section, at)
            if file and first != at:
                yield Mistake(lines.get(at, 1), at, f"{first} is about the same section")


def _as_mapping(entry: PlannedChange) -> dict[str, Any]:
    """Order the fields for readers, without empty fields."""
    fields = msgspec.to_builtins(entry)
    where = {"path": entry.key.path} if entry.key.path is not None else {"url": entry.key.url}
    above = {} if entry.key.under is None else {"under": list(entry.key.under)}
    return {
        "key": {**where, "heading": entry.key.heading, "level": entry.key.level, **above},
        **{name: fields[name] for name in ("operation", "content", "meta") if fields.get(name) not in (None, {})},
    }


@cache
def _dumper() -> "type[yaml.SafeDumper]":
    """Build a dumper that writes several lines as a block, and escapes characters that YAML would fold or drop."""
    import yaml

    class PlanDumper(yaml.SafeDumper):
        pass

    def represent(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        printable = value.replace("\n", "").replace("\t", "").isprintable()
        style = '"' if not printable else "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    PlanDumper.add_representer(str, represent)
    return PlanDumper
