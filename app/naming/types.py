"""Which types of events are meant."""

from collections.abc import Iterable

from eventlog.app.naming.agents import words
from eventlog.app.naming.known_names import known_names
from eventlog.app.naming.nearest import did_you_mean
from eventlog.format.errors import BadRequest
from eventlog.format.events import TYPES
from eventlog.log.event_log import EventLog

_NEARLY = 0.75  # "fcat" is "fact", "artifact" is not


def types_meant(log: EventLog, said: Iterable[str]) -> tuple[str, ...]:
    """Split the names of types; raises BadRequest for one that is neither ours nor in the log."""
    wanted = tuple(dict.fromkeys(words(said)))
    strangers = [name for name in wanted if name not in TYPES]
    if strangers:
        known = known_names(log).types
        for name in strangers:
            if name not in known:
                raise BadRequest(f"no event type {name!r}", hint=did_you_mean(name, [*known, *TYPES]))
    return wanted


def refuse_misspelt(name: str) -> None:
    """Refuse a type that is nearly one of ours; raises BadRequest. Others are of other programs, or of the future."""
    from difflib import get_close_matches

    if name not in TYPES and (near := get_close_matches(name.lower(), TYPES, cutoff=_NEARLY)):
        hint = f"did you mean {near[0]}? a type of your own goes through --stdin"
        raise BadRequest(f"no event type {name!r}; nothing was stored", hint=hint)
