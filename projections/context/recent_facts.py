"""Recent facts: near in time many, farther away few; pure.

Each fact once, as last stated. Filters come before limits, and within a day the newest come first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime

from eventlog.format.events import order
from eventlog.format.timestamps import to_ms
from eventlog.projections.context.agent_context import MemoryEntry
from eventlog.projections.current.conversations import Conversations
from eventlog.projections.current.distinct_facts import DistinctFact, distinct_facts, of_fact
from eventlog.projections.current.told import Local
from eventlog.settings.schema import ContextSettings

_DAY_MS = 86_400_000


def recent_facts(state: Conversations, now: str, settings: ContextSettings, local: Local) -> list[DistinctFact]:
    """List the facts to tell of, newest first."""
    newest_first = sorted(_current(state), key=lambda fact: order(fact.statements[-1]), reverse=True)
    return list(_decay(newest_first, now, settings, local))[: settings.facts]


def as_entries(groups: Iterable[DistinctFact], local: Local) -> list[MemoryEntry]:
    """Convert facts to entries, for programs."""
    return [_entry(fact, local) for fact in groups]


def _current(state: Conversations) -> Iterator[DistinctFact]:
    """Yield what is neither withdrawn nor replaced under its key, each once."""
    withdrawn = state.withdrawn()
    facts = [fact for conversation in state.by_id.values() for fact in conversation.facts if not withdrawn.hides(fact)]
    for scope in ("user", "project"):
        yield from distinct_facts(of_fact(fact) for fact in facts if fact.effective_scope == scope)


def _decay(
    newest_first: Iterable[DistinctFact], now: str, settings: ContextSettings, local: Local
) -> Iterator[DistinctFact]:
    told: Counter[str] = Counter()
    for fact in newest_first:
        age = (to_ms(now) - to_ms(fact.last_seen)) / _DAY_MS
        day = local(fact.last_seen)[:10]
        if age < settings.days_full:
            yield fact
        elif age < settings.days_partial:
            told[day] += 1
            if told[day] <= settings.partial_per_day:
                yield fact
        elif age < settings.days_max and fact.confidence >= settings.min_confidence:
            yield fact


def _entry(fact: DistinctFact, local: Local) -> MemoryEntry:
    newest = fact.statements[-1]
    return MemoryEntry(
        id=newest.id,
        content=newest.text,
        source_date=date.fromisoformat(local(newest.ts)[:10]),
        importance=fact.importance,
        category=newest.category,
        created_at=datetime.fromisoformat(fact.first.ts),
        updated_at=datetime.fromisoformat(newest.ts),
    )
