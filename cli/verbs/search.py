"""`eventlog search`."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from eventlog.app.ask.empty_reason import why_empty
from eventlog.app.search.search import SearchAnswer, SearchQuery, search
from eventlog.cli import options
from eventlog.cli.output import complain, count, emit_pretty
from eventlog.cli.progress import phases
from eventlog.cli.show.display import Shown
from eventlog.cli.show.highlight import show_hits
from eventlog.log.event_log import EventLog
from eventlog.store import Store

_SHOWN = 10


@click.command(
    epilog=options.examples(
        "eventlog search stripe webhook twice",
        "eventlog search 支付回调 重复",
        "eventlog search CONN_MAX --project shop --since 30d",
        "eventlog search retention --all-projects --type fact --json",
    )
)
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@options.here
@click.option("--all-projects", "everywhere", is_flag=True, help="Search every project.")
@options.types
@options.since
@click.option("--limit", type=click.IntRange(min=1), default=_SHOWN, show_default=True, help="At most so many.")
@options.as_json
@options.store
def command(
    words: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    types: tuple[str, ...],
    since: str | None,
    limit: int,
    as_json: bool,
    store: Store,
) -> None:
    """Search what is known: facts, summaries and past conversations, best first.

    Words in any order; the last one may be a beginning. Of this project and about the user, unless --all-projects.
    What was withdrawn or replaced is not found.
    """
    answer(store, words, project, everywhere, types, since, limit, as_json=as_json)


def answer(
    store: Store,
    words: Sequence[str],
    project: str | None,
    everywhere: bool,
    types: tuple[str, ...],
    since: str | None,
    limit: int | None,
    *,
    as_json: bool,
) -> None:
    """Print what answers a query, or why nothing does."""
    opened = options.open_store(store)
    query = SearchQuery(" ".join(words), project or "", everywhere, types, since or "", limit or _SHOWN)
    with phases() as phase:
        phase("looking through what is known")
        found = search(opened, query)
    if as_json:
        emit_pretty(found.hits)
    elif found.hits:
        show_hits(found.hits, query.text, Shown(store))
    if not found.hits:
        complain(*_why_empty(opened.log, query, found))


def _why_empty(log: EventLog, query: SearchQuery, found: SearchAnswer) -> tuple[str, str]:
    asked = {"type": query.types, "since": query.since}
    if not log.days() or any(asked.values()):
        return why_empty(log, "answer", asked)
    where = "" if query.everywhere else f" in {Path(query.project).name or os.sep} or about you"
    hints = [f"{count(found.elsewhere, 'answer')} in other projects: --all-projects"] if found.elsewhere else []
    hints += [f"known words that begin alike: {', '.join(dict.fromkeys(found.near))}"] if found.near else []
    return f"nothing known{where} has any of these words: {query.text}", "\n".join(hints)
