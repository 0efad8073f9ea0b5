"""`eventlog stats`."""

from typing import Any

import click
from msgspec import structs, to_builtins

from eventlog.app.ask.stats import stats
from eventlog.cli import options
from eventlog.cli.output import count, emit_pretty, is_terminal, say, table, width
from eventlog.cli.progress import phases
from eventlog.cli.show.stats import show_weeks
from eventlog.projections.views.stats import Week
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog stats", "eventlog stats --since 'last month'", "eventlog stats --since 2026-02-01 --json"
    )
)
@options.since
@options.until
@click.option("--nets", is_flag=True, help="On a terminal: every figure of every week, by net.")
@options.as_json
@options.store
def command(since: str | None, until: str | None, nets: bool, as_json: bool, store: Store) -> None:
    """Show how well memory is kept, by week: sessions saved by each net, extra requests, coverage.

    Nets: 1 the agent by itself, 2 before a compaction, 3 put together by a program, of facts and stages or at the end
    from the transcript (`drawn` in --json), 4 asked at a turn's end (an extra request). The count is that of `eventlog
    sessions`. Coverage leaves out trivial sessions.

    Recall: prompts with which lines were told (recalled) and with which none were (silent), also where it was off, of
    agents whose hook may answer one; files before which lines were told; the lines. A line counts as later used where
    its session afterwards saved a fact or a summary that names an entity, a key or a file the line names: a sign, no
    proof.
    """
    opened = options.open_store(store)
    with phases() as phase:
        found = stats(opened, since or "", until or "~", phase("reading days"))
    if as_json:
        emit_pretty([_as_dict(week) for week in found])
    elif len(found) == 1:
        say("no sessions: agents' hooks tell of them (eventlog install, eventlog doctor), and so does eventlog fact")
    elif not is_terminal():
        table([_COLUMNS, *map(_row, found)], header=False, **dict.fromkeys(_COLUMNS, 0))
    elif nets:
        _side_by_side(found)
    else:
        show_weeks(found, opened.machine.now()[:10])


_COLUMNS = (
    "week", "sessions", "agent", "compaction", "program", "asked", "unsaved", "trivial",
    "fallback", "automatic", "coverage", "duplicates", "recalled", "silent", "files", "lines", "used",
)  # fmt: skip


def _side_by_side(found: list[Week]) -> None:
    """On a terminal a column for each of the newest weeks that fit beside each other."""
    room = max(2, (width() - _LABEL) // _COLUMN)
    shown = [_row(week) for week in found[-room:]]
    names, *figures = zip(_COLUMNS, *shown, strict=True)
    table(figures, header=False, **dict.fromkeys(names, 0))
    if earlier := len(found) - len(shown):
        say(f"{count(earlier, 'earlier week')}: --until, or --json for all")


_LABEL, _COLUMN = 15, 13  # columns of the terminal


def _row(week: Week) -> tuple[str, ...]:
    layers = [f"{count} ({_percent(week.shares[layer])})" for layer, count in week.layers.items()]
    rates = map(_percent, (week.fallback_rate, week.automatic_share, week.coverage))
    counts, recalls = (week.unsaved, week.trivial), structs.astuple(week.recall)
    last = map(str, (week.duplicates_avoided, *recalls))
    return week.week, str(week.sessions), *layers, *map(str, counts), *rates, *last


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _as_dict(week: Week) -> dict[str, Any]:
    derived = {
        "saved": week.saved,
        "shares": week.shares,
        "fallback_rate": week.fallback_rate,
        "automatic_share": week.automatic_share,
        "coverage": week.coverage,
        "recall": structs.asdict(week.recall),
    }
    return {**to_builtins(week), **derived}
