"""What a conversation came to: one topic, one summary, its decisions and open ends; pure.

In this order: the newest summary of the whole session that the agent wrote; its stage summaries, joined; the summary
drawn from the transcript; the first facts. What a program composed never beats what an agent wrote.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from eventlog.events import Fact, StageSummary
from eventlog.projections.conversations import Conversation, Conversations
from eventlog.retractions import Withdrawn
from eventlog.text import cut, one_line, same_text

_Event = TypeVar("_Event", bound=StageSummary | Fact)

TOPIC_CHARS = 100
SUMMARY_CHARS = 500
_TOPIC_OF_TEXT = 50
_FACTS_IN_SUMMARY = 5
_FROM_TRANSCRIPT = 3
_STAGE_PREFIX = "阶段摘要："
_SOURCES = {None: "layer1_rules", 1: "layer1_rules", 2: "layer2_precompact", 4: "layer4_stop"}


class Saying(NamedTuple):
    """One event that says something, and its wording."""

    text: str
    ts: str
    id: str


class Said(NamedTuple):
    """A text, and every event of the conversation that says it, oldest first."""

    text: str
    sayings: tuple[Saying, ...]

    @property
    def events(self) -> tuple[str, ...]:
        """The ids of the events."""
        return tuple(saying.id for saying in self.sayings)


class Conclusion(NamedTuple):
    """What a conversation came to; `source` `none` and empty texts where nothing was saved."""

    topic: str = ""
    parts: tuple[Said, ...] = ()  # the summary, in the order it was said
    joint: str = ""  # what stands between the parts
    decisions: tuple[Said, ...] = ()
    todos: tuple[Said, ...] = ()
    source: str = "none"
    automatic: bool = False
    saved_at: str = ""

    @property
    def summary(self) -> str:
        """The parts in one text."""
        return self.joint.join(part.text for part in self.parts)


def conclusions(state: Conversations) -> dict[str, Conclusion]:
    """The conclusion of every conversation, by its id."""
    withdrawn = state.withdrawn()
    return {one.id: conclude(one, withdrawn) for one in state.by_id.values()}


def conclude(conversation: Conversation, withdrawn: Withdrawn) -> Conclusion:
    """The conclusion of one conversation, of what has not been withdrawn."""
    summaries = [one for one in conversation.summaries if not withdrawn.hides(one)]
    summaries.sort(key=lambda one: (one.ts, one.id))
    session = agents_own(summaries, "session")
    stages = agents_own(summaries, "stage")
    transcript = [one for one in summaries if one.layer == _FROM_TRANSCRIPT]
    if session:
        return _newest(session[-1], summaries, _SOURCES[session[-1].layer], automatic=False)
    if stages:
        return _joined(stages, summaries)
    if transcript:
        return _newest(transcript[-1], summaries, "layer3_auto", automatic=True)
    return _from_facts([fact for fact in conversation.facts if not withdrawn.hides(fact)])


def agents_own(summaries: Iterable[StageSummary], scope: str) -> list[StageSummary]:
    """The summaries of that scope which an agent wrote, in the order given."""
    return [one for one in summaries if one.scope == scope and one.layer != _FROM_TRANSCRIPT]


def _newest(newest: StageSummary, summaries: Sequence[StageSummary], source: str, *, automatic: bool) -> Conclusion:
    """The last of several revisions; a text that other summaries share is theirs as well."""
    return Conclusion(
        topic=_topic(newest),
        parts=_of([newest.summary], _collect(summaries, _summary)),
        decisions=_of(newest.decisions, _collect(summaries, _decisions)),
        todos=_of(newest.todos, _collect(summaries, _todos)),
        source=source,
        automatic=automatic,
        saved_at=newest.ts,
    )


def _joined(stages: Sequence[StageSummary], summaries: Sequence[StageSummary]) -> Conclusion:
    return Conclusion(
        topic=_topic(stages[0]),
        parts=_of(_texts(stages, _summary), _collect(summaries, _summary)),
        joint=" → ",
        decisions=_of(_texts(stages, _decisions), _collect(summaries, _decisions)),
        todos=_of(_texts(stages, _todos), _collect(summaries, _todos)),
        source="layer3_auto",
        automatic=True,
        saved_at=stages[-1].ts,
    )


def _from_facts(facts: list[Fact]) -> Conclusion:
    facts.sort(key=lambda fact: (fact.ts, fact.id))
    said = _collect(facts, lambda fact: [fact.content])[:_FACTS_IN_SUMMARY]
    if not said:
        return Conclusion()
    return Conclusion(
        topic=said[0].text[:_TOPIC_OF_TEXT].rstrip(),
        parts=said,
        joint="; ",
        source="layer3_auto",
        automatic=True,
        saved_at=facts[-1].ts,
    )


def _topic(summary: StageSummary) -> str:
    return cut(one_line(summary.topic) or _clean(summary.summary)[:_TOPIC_OF_TEXT].rstrip(), TOPIC_CHARS)


def _clean(text: str) -> str:
    return one_line(text).removeprefix(_STAGE_PREFIX).strip()


def _summary(one: StageSummary) -> list[str]:
    return [one.summary]


def _decisions(one: StageSummary) -> list[str]:
    return one.decisions


def _todos(one: StageSummary) -> list[str]:
    return one.todos


def _texts(stages: Sequence[StageSummary], texts: Callable[[StageSummary], list[str]]) -> list[str]:
    return [said.text for said in _collect(stages, texts)]


def _collect(events: Sequence[_Event], texts: Callable[[_Event], list[str]]) -> tuple[Said, ...]:
    """Every distinct text of the events, in the order and the wording first said."""
    found: dict[str, dict[str, Saying]] = {}
    for event in events:
        for text in filter(None, map(_clean, texts(event))):
            found.setdefault(same_text(text), {}).setdefault(event.id, Saying(text, event.ts, event.id))
    return tuple(Said(first.text, (first, *rest)) for first, *rest in (one.values() for one in found.values()))


def _of(texts: Iterable[str], said: Iterable[Said]) -> tuple[Said, ...]:
    """Those texts as they stand, each with all the events that said it."""
    known = {same_text(one.text): one for one in said}
    wanted = {same_text(text): text for text in map(_clean, texts) if text}
    return tuple(known[key]._replace(text=text) for key, text in wanted.items())
