"""Which agents are meant: either of an agent's names, several with commas between."""

from collections.abc import Iterable

from eventlog import hosts
from eventlog.app.naming.known_names import known_names
from eventlog.app.naming.nearest import did_you_mean
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN
from eventlog.log.event_log import EventLog

_CLI = "cli"


def agents_meant(log: EventLog, said: Iterable[str]) -> tuple[str, ...]:
    """Translate names into those of the log; raises BadRequest for one that neither hosts nor log know."""
    wanted = tuple(dict.fromkeys(map(hosts.agent_name, words(said))))
    strangers = [agent for agent in wanted if agent not in (*hosts.ROOMS, HUMAN, _CLI)]
    if strangers:
        known = known_names(log).agents
        for agent in strangers:
            if agent not in known:
                raise BadRequest(f"no agent {agent!r}", hint=did_you_mean(agent, [*known, *hosts.ROOMS.values()]))
    return wanted


def words(said: Iterable[str]) -> list[str]:
    """Split what may be given several times, or with commas between."""
    return [word for text in said for part in text.split(",") if (word := part.strip())]
