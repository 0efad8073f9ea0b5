"""Why an answer is empty: there is no store, nothing has happened in it, or nothing fits; and what is near."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from eventlog.log import days
from eventlog.log.event_log import EventLog

_INSTALL = "eventlog install, with the name of your agent, lets its hooks tell of every session"
_MATCHED = {"grep", "regex"}  # alone, they say no more than that there is something else
Fits = Callable[[Mapping[str, object]], bool]


class Emptiness(NamedTuple):
    """The reason in one sentence, and what to do; "" where there is nothing to do."""

    reason: str
    hint: str = ""


def why_empty(log: EventLog, noun: str, asked: Mapping[str, object], fits: Fits | None = None) -> Emptiness:
    """Tell why nothing was found for these conditions, by the words a user gave them in.

    `fits` tells whether there is anything for other conditions: what is near is looked for with it.
    """
    if bad := days.unreadable(log.store.log):
        what = f"{bad[0].file}: {bad[0].reason}" + (f"; and {len(bad) - 1:,} files more" if len(bad) > 1 else "")
        return Emptiness(f"part of the log cannot be read: {what}", "eventlog doctor tells what to do")
    if not log.days():
        return Emptiness(f"nothing has happened yet in {log.store.root}", _INSTALL)
    given = {name: value for name, value in asked.items() if value}
    if not given:
        return Emptiness(f"no {noun} yet", _INSTALL)
    near = list(_near(given, fits)) if fits else []
    hint = f"there are some {' or '.join(near)}" if near else ""
    return Emptiness(f"no {noun} fits {_words(given)}", hint)


def _near(given: Mapping[str, object], fits: Fits) -> Iterator[str]:
    """Name the conditions without which something fits, and the words that occur alone."""
    for name, value in given.items() if len(given) > 1 or not _MATCHED & given.keys() else ():
        if fits({**given, name: None}):
            yield f"without {_words({name: value})}"
    words = str(given.get("grep") or "").split()
    for word in words if len(words) > 1 else ():
        if fits({**given, "grep": word}):
            yield f"with {_words({'grep': word})}"


def _words(given: Mapping[str, object]) -> str:
    return " ".join(f"--{name} {_said(value)}" for name, value in given.items())


def _said(value: object) -> str:
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return repr(text) if " " in text else text
