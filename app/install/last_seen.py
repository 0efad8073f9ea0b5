"""When each agent's hooks last arrived, from the newest day files back."""

from collections.abc import Collection
from contextlib import suppress

import msgspec

from eventlog import days
from eventlog.linescan import last_lines_with

_DAYS = 60  # looked back
_ARRIVALS = ("session_start", "turn_end", "save_requested", "session_end", "host_event")


class _EventHead(msgspec.Struct):
    ts: str
    type: str
    agent: str | None = None


_decoder = msgspec.json.Decoder(_EventHead)


def last_seen(log_dir: str, agents: Collection[str]) -> dict[str, str]:
    """Map agents to the time of the newest event only a hook can have sent; agents not heard of are missing."""
    found: dict[str, str] = {}
    for day in reversed(days.list_days(log_dir)[-_DAYS:]):
        for file in day.files:
            for agent in agents:
                found[agent] = max(found.get(agent, ""), _last_in(file, agent))
        if all(found.get(agent) for agent in agents):
            break
    return {agent: ts for agent, ts in found.items() if ts}


def _last_in(file: str, agent: str) -> str:
    """Find the time of the file's last such line; "" where there is none."""
    data = days.read(file) or b""
    named = f'"agent":"{agent}"'.encode()
    for start, end in last_lines_with(data, named):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            line = _decoder.decode(data[start:end])
            if line.type in _ARRIVALS and line.agent == agent:
                return line.ts
    return ""
