"""Generate `docs/format.md` and `docs/verbs.md` from the code: `make docs`."""

import inspect as source
import re
from collections.abc import Iterable, Iterator

import click
import msgspec
from msgspec import NODEFAULT, Struct, inspect

from eventlog.cli.group import VerbGroup
from eventlog.cli.verbs import VERBS
from eventlog.format.events import COMMON, KNOWN, Event
from eventlog.log.seals import Seal, SealedFile
from eventlog.settings import schema
from tests.support.tree import ROOT

PAGE = ROOT / "docs" / "format.md"
VERBS_PAGE = ROOT / "docs" / "verbs.md"
COMMENT = re.compile(r"    (?P<name>\w+): .*?  # (?P<text>.*)")
HEAD = """\
# The format

Made by `make docs` from `eventlog/format/events.py` and `eventlog/settings/schema.py`; change those, not this page.

## One line of the log

A day file `log/YYYY-MM-DD.jsonl` holds the events whose `ts` falls on that UTC day. One line is one event: a JSON
object in UTF-8, without spaces between its parts, `\\n` at its end, at most 1 MiB. The common fields come first, then
those of the type, then those no type knows, in the order they were given. A field that has its default is not written.

Order everywhere is `(ts, id)`. Two lines with the same `id` are one event. Types and fields that a version does not
know are kept, shown by `eventlog query` and ignored by projections. `v` grows only when a field is renamed or split;
`eventlog/format/codec.py` lifts older lines when they are read. A line on disk is never changed.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *events(), *parts(), *seals(), *settings()])


def events() -> Iterator[str]:
    """The common fields and every type with its own."""
    yield f"## Every event\n\n{summary(Event)}\n\n{table(rows(Event, only=COMMON))}"
    yield "## Types\n"
    for cls in KNOWN:
        own = list(rows(cls, without=(*COMMON, "extra")))
        yield f"### `{cls.__struct_config__.tag}`\n\n{summary(cls)}\n\n{table(own) if own else ''}".rstrip() + "\n"


def parts() -> Iterator[str]:
    """The objects that stand in fields of events."""
    yield "## Objects in fields\n"
    for cls in nested(*KNOWN):
        yield f"### {cls.__name__}\n\n{summary(cls)}\n\n{table(rows(cls))}"


SEALS = """\
## `seals.jsonl`

{} `eventlog seal` appends one, and so does the end of a session. `bytes` and `sha256` are those of
`head -c BYTES log/NAME | sha256sum`. A leaf is the first 16 bytes of the SHA-256 of a zero byte and the line; leaves tell
which line was changed. A file that is not listed is as the last seal that lists it has it: a day grows at its end only.

What goes wrong, and what happens then:

- A line of the log is altered, taken out, put in or moved, or a file is gone: `eventlog verify` names the first such line
  of each file. The next seal leaves the file out, until `eventlog seal --anew` accepts it.
- A line is erased by `redact`, and another put in its place; or moved into `DAY.damaged` by `verify --repair`. Before a file
  is rewritten, a line of `rewritten.jsonl` lists the leaves it puts `in` and takes `out`: those are no alterations, and the
  next seal has them as `changed`. In a day file of another machine, a line that says it was `redacted` counts as erased there.
- A seal is altered or missing: each has its own digest and that of the line before. Seals missing at the end leave a shorter
  chain that is whole: only a head that was noted elsewhere shows that (`eventlog verify --head DIGEST`).
- A seal is torn, for its writer died: the next cuts it off. `cache/seals.json` is lost or damaged: it is made of the chain.
"""


def seals() -> Iterator[str]:
    """The chain of states of the log."""
    yield SEALS.format(summary(Seal))
    yield table(rows(Seal))
    yield f"### SealedFile\n\n{summary(SealedFile)}\n\n{table(rows(SealedFile))}"


def settings() -> Iterator[str]:
    """Every key of `config.yaml`, by its dotted name."""
    yield f"## `config.yaml`\n\n{summary(schema.Settings)}\n\nUnknown keys and wrong types are errors with file and line.\n"
    yield table(rows(schema.Settings))
    for cls in nested(schema.Settings):
        yield f"### {cls.__name__}\n\n{summary(cls)}\n\n{table(rows(cls))}"


def nested(*classes: type[Struct]) -> list[type[Struct]]:
    """The structs these hold in their fields, each once, in the order of their first use."""
    found: dict[type[Struct], None] = {}
    for cls in classes:
        for field in fields(cls):
            found |= dict.fromkeys(structs_in(field.type))
    return list(found)


def structs_in(kind: inspect.Type) -> Iterator[type[Struct]]:
    """The structs a type is made of."""
    match kind:
        case inspect.StructType(cls=cls):
            yield cls
        case inspect.UnionType(types=types):
            for part in types:
                yield from structs_in(part)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            yield from structs_in(item)
        case inspect.DictType(value_type=value):
            yield from structs_in(value)


def fields(cls: type[Struct]) -> tuple[inspect.Field, ...]:
    """The fields of a struct, as msgspec sees them."""
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    return info.fields


Row = tuple[str, str, str, str]


def rows(cls: type[Struct], *, only: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Iterator[Row]:
    """Name, type, default and meaning of each field; `type` stands where the log has it."""
    comments = {found["name"]: found["text"] for found in COMMENT.finditer(source.getsource(cls))}
    for field in fields(cls):
        if field.name in without or (only and field.name not in only):
            continue
        yield field.encode_name, words(field.type), default(field), comments.get(field.name, "")
        if only and field.name == "ts":
            yield "type", "text", "required", "one of those below, or one of the future"


def table(lines: Iterable[Row]) -> str:
    """A Markdown table; a `|` inside a cell is escaped, and there is no column of meanings where none is told."""
    body = list(lines)
    width = 4 if any(row[3] for row in body) else 3
    cells = [row[:width] for row in (("field", "type", "default", "meaning"), ("---",) * 4, *body)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells) + "\n"


def words(kind: inspect.Type) -> str:  # noqa: PLR0911, PLR0912, C901 - one line per kind of type
    """A type and its range, in words."""
    match kind:
        case inspect.UnionType(types=types):
            return " or ".join(words(part) for part in types if not isinstance(part, inspect.NoneType))
        case inspect.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in values)
        case inspect.StrType(pattern=r"\S"):
            return "text, not blank"
        case inspect.StrType(min_length=1):
            return "text, not empty"
        case inspect.StrType(pattern=pattern):
            return f"text like `{pattern}`" if pattern else "text"
        case inspect.IntType(ge=least, le=most):
            return f"integer{limits(least, most)}"
        case inspect.FloatType(ge=least, le=most):
            return f"number{limits(least, most)}"
        case inspect.BoolType():
            return "true or false"
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return f"list of {words(item)}"
        case inspect.TupleType(item_types=items):
            return " and ".join(words(item) for item in items)
        case inspect.DictType(value_type=inspect.AnyType()):
            return "object"
        case inspect.DictType(key_type=key, value_type=value):
            return f"object: {words(key)} -> {words(value)}"
        case inspect.StructType(cls=cls):
            return f"[{cls.__name__}](#{cls.__name__.lower()})"
    return "anything"


def limits(least: float | None, most: float | None) -> str:
    """Say a range as `, 1-5` or `, at least 0`; nothing where there is none."""
    if least is not None and most is not None:
        return ", 64 bits" if most > 1 << 53 else f", {least}–{most}"
    return f", at least {least}" if least is not None else ""


def default(field: inspect.Field) -> str:
    """What a missing field stands for."""
    if field.default is not NODEFAULT:
        value = field.default
    elif field.default_factory is not NODEFAULT:
        value = field.default_factory()
    else:
        return "required"
    if value is None or value == "":
        return "–"
    return "its defaults" if isinstance(value, Struct) else f"`{msgspec.json.encode(value).decode()}`"


def summary(cls: type[Struct]) -> str:
    """The docstring of a struct, a line per paragraph."""
    paragraphs = (source.getdoc(cls) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


VERBS_HEAD = """\
# Verbs

Made by `make docs` from `cli/verbs/`; change those, not this page. `eventlog help VERB` prints the same.

Every verb takes `--help`, and all but `completion`, `help` and `plugin build` take `--store DIR`, the store [default:
`$EVENTLOG_HOME`, else `~/.eventlog`]. `eventlog` alone shows where the project stands; on an empty store, the steps to a
working one. [README](../README.md#the-next-day) shows the verbs at work. Exit codes: 0 done, 1 a check found something, 2 usage, 3 could not
write, 4 damaged data, 130 interrupted. `--json` prints one indented document; `why`, which has one for each thing it
explains, prints a line for each.
"""


def verbs_page() -> str:
    """The page of verbs: a table for each topic, then a section for each verb."""
    root = VerbGroup()
    # click remembers the help option of a command from its first context, here -h too
    context = click.Context(root, info_name="eventlog", **root.context_settings)
    parts = [VERBS_HEAD]
    for topic in dict.fromkeys(verb.topic for verb in VERBS.values()):
        lines = [
            f"| [`{name}`](#eventlog-{name}) | {verb.summary} |" for name, verb in VERBS.items() if verb.topic == topic
        ]
        parts.append("\n".join([f"## {topic}\n", "| verb | does |", "| --- | --- |", *lines]) + "\n")
        for name, verb in VERBS.items():
            command = root.get_command(context, name)
            if verb.topic == topic and command:
                parts += sections(click.Context(command, info_name=name, parent=context), "###")
    return "\n".join(parts)


def sections(context: click.Context, marks: str) -> Iterator[str]:
    """The section of a command, then those of its subcommands."""
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"{marks} `{context.command_path}`\n\n```text\n{usage}\n```\n"
    yield paragraphs(source.cleandoc(command.help or ""))
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    own = [record for record in records if record[1] and not record[0].startswith(("--store", "--help", "-h"))]
    if own:
        rows_of = [
            f"| `{names.replace('|', chr(92) + '|')}` | {text.replace('|', chr(92) + '|')} |" for names, text in own
        ]
        yield "\n".join(["| option | meaning |", "| --- | --- |", *rows_of]) + "\n"
    if command.epilog:
        yield "```text\n" + source.cleandoc(command.epilog.partition("Examples:\n")[2]) + "\n```\n"
    if isinstance(command, click.Group):
        for name, sub in command.commands.items():
            yield from sections(click.Context(sub, info_name=name, parent=context), f"{marks}#")


def paragraphs(text: str) -> str:
    """A help text as Markdown: placeholders such as <id> are not tags."""
    return text.replace("<", "&lt;") + "\n"


PAGES = {PAGE: page, VERBS_PAGE: verbs_page}

if __name__ == "__main__":
    for path, make in PAGES.items():
        path.write_text(make(), encoding="utf-8")
