"""Batches with a name: sent again after a kill, only what is missing is added.

Events without a time of their own get it when they are stored, so it cannot tell that they are there already; but the
random part of their ids is derived from the batch's name and what they say. Equal events of one batch are numbered.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable

from eventlog.format import codec, ids
from eventlog.format.events import Event
from eventlog.log import days
from eventlog.log.days import Day

_TAIL = re.compile(rb'"id":"[0-9a-f]{8}-[0-9a-f]{4}(-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"')


def keys(name: str, events: Iterable[Event]) -> list[str]:
    """Make the keys from which the ids of a batch's events are derived, in the order given."""
    equal: Counter[str] = Counter()
    found = []
    for event in events:
        said = codec.content_of(event)
        found.append(f"batch\n{name}\n{equal[said]}\n{said}")
        equal[said] += 1
    return found


def stored(where: Iterable[Day], wanted: Collection[str]) -> dict[str, Event]:
    """Find the events of these keys that those days have, by key; only days that mention one are decoded."""
    by_tail = {ids.derived_tail(key): key for key in wanted}
    tails = {tail.encode() for tail in by_tail}
    found: dict[str, Event] = {}
    for day in where:
        if any(not tails.isdisjoint(_TAIL.findall(days.read(file) or b"")) for file in day.files):
            told = (event for event in days.load(day)[0] if event.id[ids.STAMP :] in by_tail)
            found |= {by_tail[event.id[ids.STAMP :]]: event for event in told}
    return found
