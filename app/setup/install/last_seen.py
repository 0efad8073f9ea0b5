"""When each agent's hooks last called here: as they noted, else by the newest start of a session in the log.

An import, an appended event or another machine's log is no call of a hook.
"""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from eventlog.format import timestamps
from eventlog.log import days
from eventlog.store import Store
from eventlog.store.index_lookup import last_lines_with
from eventlog.store.replica import replica_of

_DAYS = 60  # looked back


class _EventHead(msgspec.Struct):
    ts: str
    type: str
    agent: str | None = None
    replica: str | None = None


_decoder = msgspec.json.Decoder(_EventHead)


def last_seen(store: Store, agents: Collection[str]) -> dict[str, str]:
    """Map agents to the time of the last call of their hooks on this machine; those not heard of are missing."""
    noted = {agent: called for agent in agents if (called := _last_call(store, agent))}
    return _started(store, [agent for agent in agents if agent not in noted]) | noted


def _last_call(store: Store, agent: str) -> str:
    """Read when a hook of the agent last noted its call; "" where none did."""
    try:
        return timestamps.from_ns(Path(store.cached("heard", agent)).stat().st_mtime_ns)
    except OSError:
        return ""


def _started(store: Store, agents: Collection[str]) -> dict[str, str]:
    """Find the newest start of a session that a hook of this store has told of: it names the store."""
    replica = replica_of(store)
    found: dict[str, str] = {}
    for day in reversed(days.list_days(store.log)[-_DAYS:] if replica and agents else []):
        for file in day.files:
            for agent in agents:
                found[agent] = max(found.get(agent, ""), _last_in(file, agent, replica))
        if all(found.get(agent) for agent in agents):
            break
    return {agent: ts for agent, ts in found.items() if ts}


def _last_in(file: str, agent: str, replica: str) -> str:
    """Find the time of the file's last such line; "" where there is none."""
    data = days.read(file) or b""
    named = f'"agent":"{agent}"'.encode()
    for start, end in last_lines_with(data, named):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            line = _decoder.decode(data[start:end])
            if (line.type, line.agent, line.replica) == ("session_start", agent, replica):
                return line.ts
    return ""
