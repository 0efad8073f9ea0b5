"""Recent facts: near in time many, farther away few; pure.

Each fact once, as last stated. Filters come before limits, and within a day the newest come first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime

from eventlog.projections.context.agent_context import MemoryEntry
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.statements import DistinctFact, distinct_facts, of_fact
from eventlog.projections.views.daily_notes import Local
from eventlog.settings.schema import ContextSettings
from eventlog.timestamps import to_ms

_DAY_MS = 86_400_000


def recent_facts(state: Conversations, now: str, settings: ContextSettings, local: Local) -> list[DistinctFact]:
    """The facts to tell of, newest first."""
    newest_first = sorted(_current(state), key=lambda one: (one.last_seen, one.statements[-1].id), reverse=True)
    return list(_decay(newest_first, now, settings, local))[: settings.facts]


def as_entries(groups: Iterable[DistinctFact], local: Local) -> list[MemoryEntry]:
    """The same for programs."""
    return [_entry(one, local) for one in groups]


def _current(state: Conversations) -> Iterator[DistinctFact]:
    """What is not withdrawn, not replaced under its key, and said only once."""
    withdrawn = state.withdrawn()
    facts = [fact for one in state.by_id.values() for fact in one.facts if not withdrawn.hides(fact)]
    for reach in ("user", "project"):
        yield from distinct_facts(of_fact(fact) for fact in facts if fact.effective_scope == reach)


def _decay(
    newest_first: Iterable[DistinctFact], now: str, settings: ContextSettings, local: Local
) -> Iterator[DistinctFact]:
    told: Counter[str] = Counter()
    for one in newest_first:
        age = (to_ms(now) - to_ms(one.last_seen)) / _DAY_MS
        day = local(one.last_seen)[:10]
        if age < settings.days_full:
            yield one
        elif age < settings.days_partial:
            told[day] += 1
            if told[day] <= settings.partial_per_day:
                yield one
        elif age < settings.days_max and one.confidence >= settings.min_confidence:
            yield one


def _entry(one: DistinctFact, local: Local) -> MemoryEntry:
    newest = one.statements[-1]
    return MemoryEntry(
        id=newest.id,
        content=newest.text,
        source_date=date.fromisoformat(local(newest.ts)[:10]),
        importance=one.importance,
        category=newest.category,
        created_at=datetime.fromisoformat(one.first.ts),
        updated_at=datetime.fromisoformat(newest.ts),
    )
