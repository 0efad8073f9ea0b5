"""The names the log knows: its projects, agents and types, read off every line in one pass."""

from contextlib import suppress
from typing import NamedTuple

import msgspec

from eventlog.fast.fastjson import BOM
from eventlog.log import days
from eventlog.log.event_log import EventLog


class _Names(msgspec.Struct):
    conversation_id: str
    type: str
    project: str | None = None
    agent: str | None = None


class KnownNames(NamedTuple):
    """Projects by path and agents, each with its conversations; types with the number of their lines."""

    projects: dict[str, set[str]]
    agents: dict[str, set[str]]
    types: dict[str, int]


_decoder = msgspec.json.Decoder(_Names)


def known_names(log: EventLog) -> KnownNames:
    """Read the names of all events, those of the newest day last; a damaged line or file has none."""
    known = KnownNames({}, {}, {})
    for day in log.days():
        for file in day.files:
            for names in _read(days.read(file) or b""):
                known.types[names.type] = known.types.get(names.type, 0) + 1
                if names.project:
                    known.projects.setdefault(names.project, set()).add(names.conversation_id)
                if names.agent:
                    known.agents.setdefault(names.agent, set()).add(names.conversation_id)
    return known


def _read(data: bytes) -> list[_Names]:
    """Decode a file in one call; where that fails, line by line."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decoder.decode_lines(data)
    found = []
    for line in data.removeprefix(BOM).split(b"\n"):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            found.append(_decoder.decode(line))
    return found
