"""Recall, counted: the prompts that got lines, and the lines that the conversation later used.

A line counts as later used where the conversation, after it was told, saved a fact or a summary that names one of the
things the line names: an entity, a key, a file. That is a sign and no proof.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import Struct

from eventlog.format.events import ContextInjected, Fact, StageSummary
from eventlog.format.marks import line_marks_in
from eventlog.format.timestamps import order
from eventlog.projections.current.fact_scopes import RowSource
from eventlog.projections.search.findable import things_named


class RecallCount(Struct, array_like=True, gc=False):
    """The counts of prompts with lines and without, of files with lines, of the lines, and of those later used."""

    fired: int = 0
    silent: int = 0
    files: int = 0
    lines: int = 0
    used: int = 0

    def add(self, other: "RecallCount") -> None:
        """Add another count."""
        self.fired += other.fired
        self.silent += other.silent
        self.files += other.files
        self.lines += other.lines
        self.used += other.used


def recalls_of(source: RowSource) -> RecallCount | None:
    """Count the recalls of a conversation, None where no prompt asked.

    A withdrawn receipt neither fired, nor was its prompt told nothing.
    """
    conversation = source.conversation
    if not (conversation.prompts or conversation.recalled):
        return None
    valid = [receipt for receipt in conversation.recalled if not source.withdrawn.hides(receipt)]
    return RecallCount(
        fired=sum(map(_is_with_prompt, valid)),
        silent=max(0, conversation.prompts - sum(map(_is_with_prompt, conversation.recalled))),
        files=sum(receipt.trigger == "file" for receipt in valid),
        lines=sum(len(receipt.sources) for receipt in valid),
        used=sum(_used(valid, source)),
    )


def _is_with_prompt(receipt: ContextInjected) -> bool:
    return receipt.trigger == "prompt" and not receipt.failure


def _used(receipts: Sequence[ContextInjected], source: RowSource) -> Iterator[int]:
    """Yield how many lines of each receipt were used."""
    if not receipts:
        return
    saved = list(_saved(source))
    for receipt in receipts:
        later = set(chain.from_iterable(things for when, things in saved if when > order(receipt)))
        named = (about for _, about in zip(receipt.sources, receipt.about, strict=False))  # receipts of old have none
        yield sum(not later.isdisjoint(line_marks_in(about)) for about in named)


def _saved(source: RowSource) -> Iterator[tuple[tuple[str, str], set[str]]]:
    """Yield when the conversation saved something, and the marks of the things that names."""
    facts = [fact for fact in source.conversation.facts if fact.id in source.stated]
    summaries = map(source.withdrawn.cleared, source.summaries)
    both: list[Fact | StageSummary] = [*facts, *summaries]
    for saved in both:
        yield order(saved), things_saved(saved)


def things_saved(saved: Fact | StageSummary) -> set[str]:
    """Return the marks of the things that a fact or a summary names."""
    if isinstance(saved, Fact):
        return line_marks_in(things_named(saved.entities, saved.key, saved.content))
    words = (saved.topic, saved.summary, *saved.decisions, *saved.todos, *saved.done)
    return line_marks_in(things_named((), None, "\n".join(words)))
