"""Conclusions of conversations: one topic, one summary, its decisions and open ends; pure.

The summary is, in this order: the newest of the whole session that the agent wrote; its stage summaries, joined; the
one drawn from the transcript; the facts that matter most, of equals the first. What a program composed never beats what
an agent wrote. A conversation of which nothing but a topic is drawn has that, and no summary.

Decisions are those of all summaries, whenever they were saved: only a withdrawal takes one away. To-dos are those of
the newest save that names any, less what later saves call done.

Imported inside agents' hooks: standard library only.
"""

import sys
from _operator import attrgetter

from eventlog.fast.copies import Values, replace
from eventlog.format import AGENT, PRE_COMPACTION, SESSION_END, STOP_FALLBACK
from eventlog.format.text import cut, one_line, statement_line, states_nothing
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.current.distinct_facts import DistinctFact, distinct_facts
from eventlog.projections.current.standing import (
    WHOLE,
    called_done,
    counting_saves,
    current_saves,
    likeness,
    only_names,
    open_todos,
    same_todo,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from eventlog.format.events import StageSummary
    from eventlog.format.marks import RejectedStatements
    from eventlog.projections.current.fact_scopes import Statement

TOPIC_CHARS = 100
SUMMARY_CHARS = 500
_TOPIC_OF_TEXT = 50
_FACTS_IN_SUMMARY = 5
_BY_ITSELF = "layer1_rules"
_SOURCES = {
    None: _BY_ITSELF,
    AGENT: _BY_ITSELF,
    PRE_COMPACTION: "layer2_precompact",
    STOP_FALLBACK: "layer4_stop",
}
COMPOSED = "layer3_auto"
NONE = "none"


class Mention:
    """An event with a statement, and its wording; `same` is the `likeness` of that. It has nothing of a fact's own."""

    key: str | None = None
    instead_of: "tuple[bytes, ...]" = ()

    __slots__ = ("after", "id", "same", "text", "ts")

    def __init__(self, text: str, ts: str, id: str, same: bytes, after: str | None = None) -> None:  # noqa: A002
        self.text = text
        self.ts = ts
        self.id = id
        self.same = same
        self.after = after


class SourcedText:
    """A text, and every event of the conversation with that text, oldest first; of a fact its statements."""

    __slots__ = ("mentions", "text")

    def __init__(self, text: str, mentions: "tuple[Mention | Statement, ...]") -> None:
        self.text = text
        self.mentions = mentions

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the ids of the events."""
        return tuple([mention.id for mention in self.mentions])

    @property
    def same(self) -> bytes:
        """Return what all its wordings have in common."""
        return self.mentions[0].same


class Conclusion(Values):
    """The conclusion of a conversation; `source` `none` and empty texts where nothing was saved.

    `parts` make up the summary, `joint` stands between them, and `more` counts the parts that are left out.
    """

    topic: str = ""
    parts: tuple[SourcedText, ...] = ()
    joint: str = ""
    more: int = 0
    decisions: tuple[SourcedText, ...] = ()
    todos: tuple[SourcedText, ...] = ()
    source: str = NONE
    automatic: bool = False
    saved_at: str = ""

    @property
    def summary(self) -> str:
        """Join the parts into one text, and how many more there are."""
        return self.summary_within(sys.maxsize)

    def without(self, done: "Mapping[bytes, str]") -> "Conclusion":
        """Leave out the to-dos that a save has called done since they were last mentioned."""
        left = [todo for todo in self.todos if done.get(todo.same, "") <= counts_at(todo.mentions[-1])]
        return replace(self, todos=tuple(left))

    def summary_within(self, limit: int) -> str:
        """Cut the summary to so many characters; leave the mark that counts the rest."""
        rest = f"{self.joint}… (+{self.more})" if self.more else ""
        return cut(self.joint.join(part.text for part in self.parts), limit - len(rest)) + rest


def conclusion_of(
    summaries: "Iterable[StageSummary]", facts: "Iterable[tuple[str, Statement]]", withdrawn: "RejectedStatements"
) -> Conclusion:
    """Conclude from summaries, and from facts (subject and statement) where no summary has a text."""
    in_order = counting_saves(sorted(summaries, key=order))
    named = [summary for summary in map(withdrawn.cleared, in_order) if summary.summary or one_line(summary.topic)]
    telling = [summary for summary in named if summary.summary and not only_names(summary)]
    conclusion = _from_summaries(telling) if telling else _from_facts(facts)
    if conclusion.source == NONE and named:
        conclusion = Conclusion(_topic(named[-1]))
    if not in_order:
        return conclusion
    decisions = mentions(in_order, _decisions)
    return replace(
        conclusion,
        decisions=_allowed(_sourced(_first(decisions), decisions), withdrawn),
        todos=_allowed(_open(in_order), withdrawn),
    )


def left_open(
    saves: "Mapping[str, Sequence[StageSummary]]", withdrawn: "RejectedStatements"
) -> "list[tuple[str, SourcedText]]":
    """List what the conversations of a project left to be done, each with its to-do, those that saved last first.

    A to-do is done once a later save calls it so, of whichever conversation.
    """
    naming = {name: some for name, some in saves.items() if any(save.todos or save.done for save in some)}
    last_saves = {name: max(map(counts_at, some)) for name, some in naming.items()}
    done = called_done(save for some in naming.values() for save in some)
    found: dict[bytes, tuple[str, SourcedText]] = {}
    for name in sorted(last_saves, key=lambda name: (last_saves[name], name), reverse=True):
        for todo in conclusion_of(naming[name], (), withdrawn).without(done).todos:
            found.setdefault(todo.same, (name, todo))
    return list(found.values())


def _allowed(texts: tuple[SourcedText, ...], withdrawn: "RejectedStatements") -> tuple[SourcedText, ...]:
    if not withdrawn.statements:
        return texts
    return tuple(text for text in texts if not withdrawn.rejects(text.text))


def _from_summaries(summaries: "Sequence[StageSummary]") -> Conclusion:
    """Return topic, summary and source, of at least one summary."""
    current = current_saves(summaries)
    newest = current[-1]
    if newest.layer == SESSION_END:
        return _newest(newest, summaries, COMPOSED, automatic=True)
    if newest.scope == WHOLE:
        return _newest(newest, summaries, _SOURCES[newest.layer], automatic=False)
    return _joined(current, summaries)


def _newest(newest: "StageSummary", summaries: "Sequence[StageSummary]", source: str, *, automatic: bool) -> Conclusion:
    """Conclude from the last of several revisions; a text that other summaries share has them as sources, too."""
    wordings = mentions(summaries, _summary)
    parts = _sourced([mention for mention in wordings if mention.id == newest.id], wordings)
    return Conclusion(_topic(newest), parts, source=source, automatic=automatic, saved_at=newest.ts)


def _joined(stages: "Sequence[StageSummary]", summaries: "Sequence[StageSummary]") -> Conclusion:
    of_stages, layers = {stage.id for stage in stages}, {stage.layer for stage in stages}
    # the net that saved them: the one that had to ask for any, else the end of the session
    net = next((_SOURCES[layer] for layer in (PRE_COMPACTION, STOP_FALLBACK) if layer in layers), COMPOSED)
    wordings = mentions(summaries, _summary)
    return Conclusion(
        topic=_topic(stages[0]),
        parts=_sourced(_first(mention for mention in wordings if mention.id in of_stages), wordings),
        joint=" → ",
        source=net,
        automatic=True,
        saved_at=stages[-1].ts,
    )


def _from_facts(facts: "Iterable[tuple[str, Statement]]") -> Conclusion:
    stated = list(facts)
    groups = sorted(_known(stated), key=lambda fact: (-fact.importance, order(fact.first)))
    if not groups:
        return Conclusion()
    return Conclusion(
        topic=cut(groups[0].first.text, _TOPIC_OF_TEXT, end=""),
        parts=tuple(SourcedText(fact.first.text, fact.statements) for fact in groups[:_FACTS_IN_SUMMARY]),
        joint="; ",
        more=max(0, len(groups) - _FACTS_IN_SUMMARY),
        source=COMPOSED,
        automatic=True,
        saved_at=max(statement.ts for _, statement in stated),
    )


def _known(stated: "Iterable[tuple[str, Statement]]") -> "Iterator[DistinctFact]":
    """Yield distinct facts, each once and as last worded, of every subject."""
    by_subject: dict[str, list[Statement]] = {}
    for subject, statement in stated:
        if statement.text:
            by_subject.setdefault(subject, []).append(statement)
    for statements in by_subject.values():
        yield from distinct_facts(statements)


def _open(summaries: "Sequence[StageSummary]") -> tuple[SourcedText, ...]:
    """List the to-dos that are left; a list drawn from the transcript counts where no agent made any."""
    counting, remaining = open_todos(summaries)
    if counting is None:
        return ()
    wordings = mentions(summaries, _todos, same_todo)
    newest = {mention.same: mention for mention in wordings if mention.id == counting.id and mention.same in remaining}
    return _sourced(newest.values(), wordings)


def _topic(summary: "StageSummary") -> str:
    return cut(one_line(summary.topic) or cut(statement_line(summary.summary), _TOPIC_OF_TEXT, end=""), TOPIC_CHARS)


_decisions, _todos = attrgetter("decisions"), attrgetter("todos")


def _summary(summary: "StageSummary") -> list[str]:
    return [summary.summary]


def mentions(
    summaries: "Sequence[StageSummary]",
    texts: "Callable[[StageSummary], list[str]]",
    same: "Callable[[str], bytes]" = likeness,
) -> list[Mention]:
    """List these texts of the summaries in order, each with its event."""
    return [
        Mention(text, summary.ts, summary.id, same(text), summary.after)
        for summary in summaries
        for text in map(statement_line, texts(summary))
        if not states_nothing(text)
    ]


def _first(mentions: "Iterable[Mention]") -> "Iterable[Mention]":
    """Collect every distinct text from its first summary."""
    found: dict[bytes, Mention] = {}
    for mention in mentions:
        found.setdefault(mention.same, mention)
    return found.values()


def _sourced(own: "Iterable[Mention]", mentions: "Iterable[Mention]") -> tuple[SourcedText, ...]:
    """Return those texts as they stand, each with all its events."""
    found: dict[bytes, dict[str, Mention]] = {}
    for mention in mentions:
        found.setdefault(mention.same, {}).setdefault(mention.id, mention)
    return tuple([SourcedText(mention.text, tuple(found[mention.same].values())) for mention in own])
