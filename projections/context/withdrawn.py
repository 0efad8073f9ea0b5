"""What has been withdrawn since a knowledge file was rendered, and must not be told from it any more.

The next replay takes it out of the file. Until then its lines are known by their words: those of the events withdrawn
after the file's time, which are found by their ids, or by the conversation that is withdrawn as a whole.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from eventlog.duplicates import home_of
from eventlog.events import Event, Fact, Retraction, StageSummary
from eventlog.log import EventLog
from eventlog.projections.context.window import events_of, mentioning
from eventlog.projections.markdown_file import stamped_at
from eventlog.retractions import Withdrawn
from eventlog.text import one_line, same_text

_BULLET = re.compile(r"- \[\d{4}-\d\d-\d\d\] (?P<said>.+)")


def without_withdrawn(text: str, log: EventLog, retractions: Collection[Retraction], standing: Iterable[Event]) -> str:
    """The text of a rendered file, less the bullets that only say what was withdrawn later.

    `standing` are events that still say something: what they repeat stays.
    """
    stamp = stamped_at(text.encode()) or ""
    later = [one for one in retractions if one.ts > stamp]
    if not later:
        return text
    withdrawn = Withdrawn(retractions)
    gone = {said for event in _targets(log, later) if withdrawn.hides(event) for said in _words(event)}
    gone -= {said for event in standing if not withdrawn.hides(event) for said in _words(event)}
    return "\n".join(line for line in text.split("\n") if not _says_any(line, gone))


def _says_any(line: str, gone: Collection[str]) -> bool:
    match = _BULLET.fullmatch(line)
    return match is not None and same_text(match["said"]) in gone


def _targets(log: EventLog, retractions: Iterable[Retraction]) -> Iterator[Event]:
    """Only the days the ids name are looked at, and of those only lines that mention one."""
    by_day: dict[str, list[bytes]] = {}
    for one in retractions:
        if one.conversation:
            yield from events_of(log, one.conversation)
        elif one.target:
            by_day.setdefault(home_of(one.target), []).append(one.target.encode())
    for date, targets in by_day.items():
        yield from mentioning(log, date, targets)


def _words(event: Event) -> list[str]:
    """What a knowledge file would say of it."""
    match event:
        case Fact():
            said = [event.content]
        case StageSummary():
            said = event.decisions
        case _:
            said = []
    return [same_text(one_line(one)) for one in said]
