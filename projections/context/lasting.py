"""How long a context stays what it is: until when, if nothing is said and no file is changed.

What is told depends on how old things are, in days, and on which day it is where the user lives.
"""

from collections.abc import Iterator
from typing import NamedTuple

from eventlog.format import timestamps
from eventlog.projections.context import context_files, loaded_by_host
from eventlog.projections.context.agent_context import FileLoadResult
from eventlog.projections.context.listener import spans
from eventlog.projections.context.sources import ContextSources

_DAY_MS = 86_400_000
_STEP_MS = 900_000  # midnights of all time zones are at quarters of an hour
_LONGEST_DAY_MS = 26 * 3_600_000


class Lasting(NamedTuple):
    """Until when a context stays the same, whose next word may end it, and which files were looked for.

    `there` are those that were read, `missing` those that a real start makes, unless somebody has removed them.
    """

    until: str
    heard: list[str]
    files: list[str]
    there: list[str]
    missing: list[str]


def lasting(parts: ContextSources) -> Lasting | None:
    """Tell how long a context lasts; None where a file could not be read, or was read for the first session only."""
    if parts.request.bootstrap or not all(map(_is_settled, parts.results)):
        return None
    now = timestamps.to_ms(parts.request.now)
    days = spans(parts.settings.context)
    ends = (timestamps.to_ms(ts) + span * _DAY_MS for ts in _told_times(parts) for span in days)
    end = min((end for end in ends if end > now), default=now + _LONGEST_DAY_MS)
    return Lasting(
        until=timestamps.from_ns(min(end, _end_of_day(parts, now)) * 1_000_000),
        heard=sorted({*parts.lately.by_id, *parts.strays}),
        files=sorted(set(_looked_for(parts))),
        there=[
            *(file.path for file, result in parts.loaded if result.content is not None),
            *(file.path for file in parts.rendered),
        ],
        missing=[
            file.path
            for file, result in parts.loaded
            if result.content is None and file.default_template is not None and parts.settings.context.templates
        ],
    )


def _is_settled(result: FileLoadResult) -> bool:
    return not (result.error or result.from_cache or result.is_default)


def _looked_for(parts: ContextSources) -> Iterator[str]:
    """Yield every path that was looked at, whether or not anything is there."""
    request, knowledge = parts.request, parts.store.knowledge
    yield from context_files.looked_for(parts.settings, parts.store, request)
    if request.agent:
        yield from loaded_by_host.looked_for(request.agent, request.project, request.home)
    yield from (file.path for file in parts.rendered)
    yield from (f"{knowledge}/{request.folder}INDEX.md", f"{knowledge}/sessions", f"{knowledge}/projects.jsonl")
    yield from (parts.store.replica, parts.store.config)
    if request.work.branch or request.work.files:
        yield parts.store.cached("search.sqlite")


def _told_times(parts: ContextSources) -> Iterator[str]:
    for conversation in parts.lately.by_id.values():
        yield from (event.ts for event in (*conversation.facts, *conversation.summaries))
    yield from (event.ts for event in parts.lately.retractions)
    yield from (file.as_of for file in parts.known() if file.as_of)


def _end_of_day(parts: ContextSources, now: int) -> int:
    """Find when the user's day is over, to a quarter of an hour."""
    today = parts.local(parts.request.now)[:10]
    quarters = range(now - now % _STEP_MS + _STEP_MS, now + _LONGEST_DAY_MS, _STEP_MS)
    return next((ms for ms in quarters if parts.local(timestamps.from_ns(ms * 1_000_000))[:10] != today), now)
