"""What a conversation came to: one topic, one summary, its decisions and open ends; pure.

In this order: the newest summary of the whole session that the agent wrote; its stage summaries, joined; the summary
drawn from the transcript; the first facts. What a program composed never beats what an agent wrote.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from eventlog.events import Fact, StageSummary
from eventlog.projections.conversations import Conversation
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


class Said(NamedTuple):
    """A text, when it was first said, and the events that say it."""

    text: str
    ts: str
    events: tuple[str, ...]


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


def _newest(summaries: Sequence[StageSummary], source: str, *, automatic: bool) -> Conclusion:
    """The last of several revisions; a text that earlier revisions share is theirs as well."""
    newest = summaries[-1]
    return Conclusion(
        topic=_topic(newest),
        parts=_of([newest.summary], _collect(summaries, lambda one: [one.summary])),
        decisions=_of(newest.decisions, _collect(summaries, lambda one: one.decisions)),
        todos=_of(newest.todos, _collect(summaries, lambda one: one.todos)),
        source=source,
        automatic=automatic,
        saved_at=newest.ts,
    )


def _joined(stages: Sequence[StageSummary]) -> Conclusion:
    return Conclusion(
        topic=_topic(stages[0]),
        parts=_collect(stages, lambda one: [one.summary]),
        joint=" → ",
        decisions=_collect(stages, lambda one: one.decisions),
        todos=_collect(stages, lambda one: one.todos),
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
        topic=said[0].text[:_TOPIC_OF_TEXT],
        parts=said,
        joint="; ",
        source="layer3_auto",
        automatic=True,
        saved_at=facts[-1].ts,
    )


def _topic(summary: StageSummary) -> str:
    return cut(one_line(summary.topic) or _clean(summary.summary)[:_TOPIC_OF_TEXT], TOPIC_CHARS)


def _clean(text: str) -> str:
    return one_line(text).removeprefix(_STAGE_PREFIX).strip()


def _collect(events: Sequence[_Event], texts: Callable[[_Event], list[str]]) -> tuple[Said, ...]:
    """Every distinct text of the events, in the order first said."""
    found: dict[str, Said] = {}
    for event in events:
        for text in filter(None, map(_clean, texts(event))):
            known = found.setdefault(same_text(text), Said(text, event.ts, ()))
            if event.id not in known.events:
                found[same_text(text)] = known._replace(events=(*known.events, event.id))
    return tuple(found.values())


def _of(texts: Iterable[str], said: Iterable[Said]) -> tuple[Said, ...]:
    """Those texts as they stand, each with all the events that said it."""
    known = {same_text(one.text): one for one in said}
    wanted = {same_text(text): text for text in map(_clean, texts) if text}
    return tuple(known[key]._replace(text=text) for key, text in wanted.items())
