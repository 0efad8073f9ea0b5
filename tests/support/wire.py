"""The log as one release writes it, kept for ever: `python -m tests.support.wire`, when a release is made.

It uses nothing but what every release has (`EventLog`, `events.KNOWN`, `codec.from_fields`), so that an old one can be
asked as well: `PYTHONPATH=<its tree> python <this file> VERSION DIRECTORY`.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

from msgspec import NODEFAULT, inspect

from eventlog.format import codec
from eventlog.format.errors import InvalidEvent
from eventlog.format.events import COMMON, KNOWN, Event
from eventlog.log.event_log import EventLog

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "fixtures" / "wire"

Fields = dict[str, Any]

TEXT = 'two lines\n"quoted" \\ 中文 – é 😀 \u2028'
ID = "019c7b2e-93f2-7f01-8e5b-0a1b2c3d4e5f"
KEY = {"path": "user", "heading": "Interests", "level": 3}
BY_NAME = {
    "content": TEXT, "summary": TEXT, "reason": TEXT, "path": "/home/ada/USER.md", "heading": "Interests",
    "target": ID, "operation": "update",
}  # fmt: skip
COMMON_FIELDS = {"project": "/home/ada/shop", "agent": "claude-code", "subagent": "helper-1", "layer": 2}
FUTURE: list[Fields] = [
    {"type": "dream", "content": TEXT, "depth": 3},
    {"type": "fact", "content": "of a later version", "v": 7, "text": "renamed"},
    {"type": "fact", "content": "with a field of the future", "mood": {"calm": [1, 2.5, None, True]}},
]


def sample(kind: inspect.Type, name: str) -> Any:  # noqa: PLR0911 - one line per kind of type
    """A value of a field's type that is not its default."""
    match kind:
        case inspect.UnionType(types=types):
            return sample(next(part for part in types if not isinstance(part, inspect.NoneType)), name)
        case inspect.LiteralType(values=values):
            return BY_NAME.get(name, values[-1])
        case inspect.StrType():
            return BY_NAME.get(name, f"a {name.replace('_', ' ')}")
        case inspect.IntType(ge=least):
            return max(least or 0, 1) + 1
        case inspect.FloatType():
            return 0.25
        case inspect.BoolType():
            return True
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [sample(item, name), sample(item, f"second {name}")]
        case inspect.DictType():
            return {"中文": [1, {"deep": None}], "": TEXT}
        case inspect.StructType(fields=fields):
            return KEY if name == "key" else {part.name: sample(part.type, part.name) for part in fields}
    return TEXT


def shapes(cls: type[Event]) -> list[Fields]:
    """The fields of an event of this type: with all that it may have, and with only what it must have.

    Where fields exclude each other, all but one of them, in turn, and each alone.
    """
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    own = [part for part in info.fields if part.name not in (*COMMON, "extra")]
    whole = {part.name: sample(part.type, part.name) for part in own}
    must = {part.name for part in own if part.default is NODEFAULT and part.default_factory is NODEFAULT}
    chosen = [set(whole), must, *(set(whole) - {name} for name in whole), *(must | {name} for name in whole)]
    made = [{"type": info.tag, **{name: whole[name] for name in whole if name in names}} for names in chosen]
    return [shape for shape in made if is_accepted(shape)][: 2 if is_accepted(made[0]) else None]


def is_accepted(shape: Fields) -> bool:
    try:
        codec.from_fields({"conversation_id": "c", **shape})
    except InvalidEvent:
        return False
    return True


def events() -> list[Fields]:
    """Events of every type, over two days; every fourth one has all common fields."""
    found = [shape for cls in KNOWN for shape in shapes(cls)] + FUTURE
    return [
        {"conversation_id": f"c-{number % 3}", "ts": f"2026-02-2{number % 2}T12:00:{number:02d}.123456Z"}
        | (COMMON_FIELDS if number % 4 == 0 else {})
        | shape
        for number, shape in enumerate(found)
    ]


def write(directory: Path) -> None:
    """Let this tree's `EventLog` write its log below `directory`; raises FileExistsError where there is one."""
    (directory / "log").mkdir(parents=True)
    EventLog(directory, fsync=False).put([codec.from_fields(fields) for fields in events()])


def main(argv: list[str]) -> None:
    version = argv[0] if argv else tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    directory = (Path(argv[1]) if argv[1:] else FIXTURES) / version
    write(directory)
    sys.stdout.write(f"{directory}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
