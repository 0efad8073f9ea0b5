"""Why an answer is empty: there is no store, nothing has happened in it, or nothing fits."""

from collections.abc import Mapping
from typing import NamedTuple

from eventlog.log import EventLog

_INSTALL = "eventlog install, with the name of your agent, lets its hooks tell of every session"


class Emptiness(NamedTuple):
    """The reason in one sentence, and what to do; "" where there is nothing to do."""

    reason: str
    hint: str = ""


def why_empty(log: EventLog, noun: str, asked: Mapping[str, object]) -> Emptiness:
    """Tell why nothing was found for these conditions, by the words a user gave them in."""
    if not log.days():
        return Emptiness(f"nothing has happened yet in {log.store.root}", _INSTALL)
    given = {name: value for name, value in asked.items() if value}
    if not given:
        return Emptiness(f"no {noun} yet", _INSTALL)
    words = " ".join(f"--{name} {_said(value)}" for name, value in given.items())
    alone = "" if len(given) == 1 else "each may fit alone: leave one out"
    if "grep" in given:
        alone = "--grep finds the very characters, in any case: try fewer of them"
    return Emptiness(f"no {noun} fits {words}", alone)


def _said(value: object) -> str:
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return repr(text) if " " in text else text
