"""Search facts, summaries and past conversations: `eventlog search`, `eventlog recall`."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from eventlog.app.ask.query import why_empty
from eventlog.app.open_store import OpenStore
from eventlog.app.search.explain import Candidate, Explanation, explain
from eventlog.app.search.search import SearchAnswer, SearchHit, SearchQuery, last_word, search
from eventlog.cli import options
from eventlog.cli.progress import phase
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import Answer, count, hang, marked, print_error, show_lines, styled, table
from eventlog.format.text import cut, last_mention, one_line, project_name
from eventlog.projections.search.words import tokens
from eventlog.store import Store

_SHOWN = 10


def _asked(command: Callable[..., object]) -> Callable[..., object]:
    """Pass a command its words, and the options that narrow a search, as one value, `query`."""

    @wraps(command)
    def call(
        *,
        words: tuple[str, ...],
        project: str | None,
        everywhere: bool,
        types: tuple[str, ...],
        since: str | None,
        **others: Any,
    ) -> object:
        query = SearchQuery(" ".join(words), project or "", everywhere, types, since or "")
        return command(query=query, **others)

    for option in (
        options.shared("since"),
        options.shared("types"),
        click.option("--all-projects", "everywhere", is_flag=True, help="Search every project."),
        options.current_project,
        click.argument("words", nargs=-1, required=True, metavar="QUERY"),
    ):
        call = option(call)
    return call


@options.verb(
    "eventlog search stripe webhook twice",
    "eventlog search 支付回调 重复",
    "eventlog search CONN_MAX --project shop --since 30d",
    "eventlog search retention --all-projects --type fact --json",
)
@_asked
@click.option("--limit", type=options.Number(), default=_SHOWN, show_default=True, help="Print at most this many.")
def _search_command(query: SearchQuery, limit: int, store: Store) -> Answer:
    """Search facts, summaries and past conversations, best first.

    Matches words in any order; the last word may be a beginning. Covers this project and the user, or every project
    with --all-projects. Leaves out retracted and superseded facts.
    """
    return _answer(store, query._replace(limit=limit))


def _answer(store: Store, query: SearchQuery) -> Answer:
    """Search, and report the reason for an empty answer."""
    opened, display = options.open_store(store), Display(store)
    with phase("searching memory"):
        found = search(opened, query)
    if not found.hits:
        print_error(*_why_empty(opened, query, found))

    def show() -> None:
        if found.hits and display.is_for_people:
            show_lines(_hit_lines(found.hits, query.text, display))
        elif found.hits:
            table(map(_row, found.hits), id=0, time=0, type=0, project=0, score=0, text=0)

    return Answer([hit._asdict() for hit in found.hits], show)


def _why_empty(opened: OpenStore, query: SearchQuery, found: SearchAnswer) -> tuple[str, str]:
    def fits(other: Mapping[str, Any]) -> bool:
        return bool(search(opened, query._replace(types=(), since="")._replace(**other)).hits)

    conditions = {"types": query.types, "since": query.since}
    what, without = why_empty(opened.log, "answer", conditions, fits)
    if not opened.log.days():
        return what, without
    where = f" in {Path(query.project).name or os.sep} or about you" if query.project else " about you"
    where = "" if query.everywhere else where
    hints = [f"{count(found.elsewhere, 'answer')} in other projects: --all-projects"] if found.elsewhere else []
    hints += [without] if without and any(conditions.values()) else []
    near = [word for word in dict.fromkeys(found.near) if word not in query.text.casefold().split()]
    hints += [f"did you mean: {', '.join(near)}"] if near else []
    if not tokens(query.text):
        hints += [f"it has only common words: eventlog query --grep {shlex.quote(query.text)}"]
    return f"no match{where} for: {query.text}", "\n".join(hints)


_CHARS = 300
_SILENCES = {
    "off": "silent: recall is off (recall: {prompt: false})",
    "about nothing": "silent: the prompt has only common words",
    "nothing known": "silent: no fact of this project or about you shares enough words with the prompt",
    "below the gate": "silent: the candidates share too little with the prompt",
    "nothing new": "silent: the session already has it",
    "elsewhere": "silent: the fact belongs to another project",
    "withdrawn": "silent: the fact was retracted",
}


@options.verb(
    "eventlog recall stripe webhook twice",
    'eventlog recall --explain "how do we verify stripe webhooks?"',
    'eventlog recall --explain "how do we verify stripe webhooks?" --session last --json',
)
@click.option(
    "--explain",
    "explains",
    is_flag=True,
    help="Treat QUERY as a prompt: show what a hook would recall with it, and why.",
)
@options.session_to("With --explain: a conversation; recall repeats nothing to it.")
@_asked
@click.option("--limit", type=options.Number(), help="Print at most this many [default: 10].")
def _recall_command(explains: bool, session: str | None, query: SearchQuery, limit: int | None, store: Store) -> Answer:
    """Search as `eventlog search` does; with --explain, show what a hook would recall with a prompt, and why.

    --explain prints the words that count, the weight a fact needs, and each candidate with its weight and verdict:
    told, below the gate, far below the first, no line left, a repetition of one above, told before in this session,
    withdrawn, or of another project (elsewhere).
    """
    if not explains:
        if session is not None:
            raise click.UsageError("--session goes with --explain")
        return _answer(store, query._replace(limit=limit or _SHOWN))
    if query.everywhere or query.types or query.since or limit:
        raise click.UsageError("--explain asks as a hook does: it takes no --all-projects, --type, --since or --limit")
    opened = options.open_store(store)
    with phase("searching memory"):
        found = explain(opened, query.text, query.project, session or "")
    value = {**found._asdict(), "candidates": [candidate._asdict() for candidate in found.candidates]}
    return Answer(value, lambda: show_lines(_explanation_lines(found, Display(store))))


def _explanation_lines(found: Explanation, display: Display) -> Iterator[str]:
    headline = f"speaks: {count(len(found.shown), 'line')} of at most {found.lines}"
    yield styled(_SILENCES[found.silence] if found.silence else headline, bold=True)
    if found.words:
        yield from hang("about  ", one_line(", ".join(found.words)))
        yield f"need   {found.need:.1f}"
    for candidate in found.candidates:
        yield from _candidate_lines(candidate, display)


def _candidate_lines(candidate: Candidate, display: Display) -> Iterator[str]:
    place = f" ({project_name(candidate.project)})" if candidate.verdict == "elsewhere" and candidate.project else ""
    mark = marked("✓" if candidate.verdict == "told" else "·")
    yield from hang(
        f"{mark} {candidate.score:4.1f}  {display.id(candidate.id)}  {candidate.verdict}{place}  ",
        cut(candidate.text, _CHARS),
    )


_LONGEST = 300  # characters of a text
_WORD = re.compile(r"[\w./:@+#-]+")


def _hit_lines(hits: Iterable[SearchHit], query: str, display: Display) -> Iterator[str]:
    terms, beginning = frozenset(tokens(query)), last_word(query)
    for hit in hits:
        place = project_name(hit.project) if hit.project else "about you"
        marks = last_mention("", hit.times, is_doubtful=hit.is_doubtful)
        where = " · ".join([f"{display.moment(hit.ts)}{marks}", one_line(hit.kind), one_line(place)])
        yield f"{styled(display.id(hit.id), fg='cyan')}  {styled(where, dim=True)}"
        yield from (_highlighted(line, terms, beginning) for line in hang("  ", one_line(cut(hit.text, _LONGEST))))


def _highlighted(text: str, terms: frozenset[str], beginning: str) -> str:
    """Mark the words of the query in bold, in any form, and those with its last word as a beginning."""

    def word(found: re.Match[str]) -> str:
        text = found[0]
        parts = tokens(text)
        if text.isascii():
            hit = not terms.isdisjoint(parts) or (beginning and text.casefold().startswith(beginning))
            return styled(text, bold=True) if hit else text
        return _han(text, [part for part in parts if part in terms])

    return _WORD.sub(word, text)


def _han(run_text: str, parts: Iterable[str]) -> str:
    """Mark parts of a run of Han characters in bold; parts may overlap."""
    lower = run_text.casefold()
    places = ((found.start(), part) for part in parts for found in re.finditer(f"(?={re.escape(part)})", lower))
    bold = {at + offset for at, part in places for offset in range(len(part))}
    runs = re.finditer("1+|0+", "".join("01"[at in bold] for at in range(len(run_text))))
    return "".join(
        styled(run_text[run.start() : run.end()], bold=True) if run[0][0] == "1" else run_text[run.start() : run.end()]
        for run in runs
    )


def _row(hit: SearchHit) -> tuple[str, ...]:
    return hit.id, hit.ts.replace("T", " "), hit.type, hit.project or "", f"{hit.score:.2f}", hit.text
