"""Show weekly statistics of saving and recall: `eventlog stats`."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import click
from msgspec import structs, to_builtins

from eventlog.app.ask.query import why_empty
from eventlog.app.ask.sessions import stats
from eventlog.cli import options
from eventlog.cli.terminal import Answer, count, hang, is_terminal, marked, print_lines, say, styled, table, width
from eventlog.projections.views.stats import RecallCount, Week
from eventlog.store import Store


@options.verb("eventlog stats", "eventlog stats --since 'last month'", "eventlog stats --since 2026-02-01 --json")
@options.scope
@click.option("--nets", is_flag=True, help="On a terminal: print every figure of every week, by net.")
def _stats_command(project: str | None, since: str | None, until: str | None, nets: bool, store: Store) -> Answer:
    """Show weekly statistics of this project: sessions saved by each safety net, extra requests, coverage, recall.

    Nets: 1 the agent by itself, 2 before a compaction, 3 a program, from facts and stages or from the transcript
    (`drawn` in --json), 4 a request at a turn's end. Counts the sessions that `eventlog sessions` lists. Coverage
    leaves out trivial sessions. A week begins on Monday, in UTC.

    Planned: entries for sections of USER.md and other knowledge bases.

    Recall: prompts with recalled lines, prompts without (silent), files with recalled lines, and the lines. A line
    counts as later used if its session afterwards saved a fact or a summary with an entity, a key or a file of the
    line: a sign, not a proof.
    """
    opened = options.open_store(store)
    found = stats(opened, since or "", until or "~", project)
    is_narrow = since or until or options.is_given("project")
    if len(found) == 1 and not is_narrow:  # facts were saved here, and no session began
        found = stats(opened)
    why = why_empty(opened.log, "session", {"since": since, "until": until, "project": is_narrow and project})
    return Answer([_as_dict(week) for week in found], lambda: _show(found, opened.machine.now()[:10], why, nets=nets))


def _show(found: list[Week], today: str, why_none: Sequence[str], *, nets: bool) -> None:
    if len(found) == 1:
        say("; ".join(filter(None, why_none)))
    elif not is_terminal():
        table([_COLUMNS, *map(_row, found)], header=False, **dict.fromkeys(_COLUMNS, 0))
    elif nets:
        _side_by_side(found)
    else:
        *weeks, total = found
        head = styled(_span(weeks[-1], today), bold=True)
        print_lines([head, *_verdict(weeks[-1]), *_recall(weeks[-1].recall), *_course(weeks[-_WEEKS:])])
        print_lines(_in_all(weeks, total))


_COLUMNS = (
    "week", "sessions", "agent", "compaction", "program", "asked", "unsaved", "trivial",
    "fallback", "automatic", "coverage", "duplicates", "recalled", "silent", "files", "lines", "used", "planned",
)  # fmt: skip


def _side_by_side(found: list[Week]) -> None:
    """Print a column for each of the newest weeks that fit the terminal."""
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
    last = map(str, (week.duplicates_avoided, *recalls, week.planned))
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


_BARS = "▁▂▃▄▅▆▇█"
_WEEKS = 12  # shown
_NETS = {"1": "by the agents themselves", "2": "before a compaction", "4": "when asked"}

_STAGES, _DRAWN = "as facts or stages", "by a program, from the transcript"


def _span(week: Week, today: str) -> str:
    monday = date.fromisoformat(week.week)
    past = (date.fromisoformat(today) - monday).days
    named = {0: "this week", 1: "last week"}.get(past // 7, "the newest week")
    sunday = monday + timedelta(days=6)
    return f"{named} · {monday.day} {monday:%b} – {sunday.day} {sunday:%b} {sunday.year}"


def _verdict(week: Week) -> list[str]:
    """Report unsaved sessions, then the nets that saved the others."""
    if not week.saved and not week.unsaved:
        return [*hang(f"{marked('·')} ", "nothing to save: only sessions of a turn or two"), *_cost(week)]
    lost = f"{count(week.unsaved, 'session')} of {week.sessions} saved nothing"
    saved = f"all {count(week.saved, 'session')} saved" if week.saved > 1 else f"{count(week.saved, 'session')} saved"
    line = [*hang(f"{marked('!')} ", lost)] if week.unsaved else hang(f"{marked('✓')} ", f"{saved}, nothing is lost")
    nets = [f"{week.layers[net]} {_NETS[net]}" for net in _NETS if week.layers[net]]
    composed = {_STAGES: week.layers["3"] - week.drawn, _DRAWN: week.drawn}
    nets += [f"{number} {how}" for how, number in composed.items() if number]
    line += hang("  saved    ", " · ".join(nets) or "nothing yet")
    return [*line, *_cost(week)]


def _cost(week: Week) -> list[str]:
    return hang("  cost     ", count(week.asked, "extra request") if week.asked else "no extra request")


def _recall(found: RecallCount) -> list[str]:
    """Report the lines recalled with prompts and before files."""
    if not (found.fired or found.files):
        return hang("  recall   ", f"silent with {count(found.silent, 'prompt')}") if found.silent else []
    prompts = f"with {count(found.fired, 'prompt')}" if found.fired else ""
    files = f"before {count(found.files, 'file')}" if found.files else ""
    lines = f"{count(found.lines, 'line')} {' and '.join(filter(None, (prompts, files)))}"
    silent = [f"silent with {count(found.silent, 'other prompt')}"] if found.silent else []
    return hang("  recall   ", " · ".join([lines, f"{found.used} later used", *silent]))


def _course(weeks: Sequence[Week]) -> list[str]:
    if len(weeks) < 2:  # noqa: PLR2004 - there is no course of one week
        return []
    highest = max(week.sessions for week in weeks) or 1
    bars = "".join(_BARS[round(week.sessions / highest * (len(_BARS) - 1))] for week in weeks)
    return hang(f"  sessions {bars}  ", " ".join(str(week.sessions) for week in weeks))


def _in_all(weeks: Sequence[Week], total: Week) -> list[str]:
    share = "" if total.coverage is None else f" · {total.coverage:.0%} of those worth saving saved"
    trivial = f" · {count(total.trivial, 'trivial one', 'trivial ones')}" if total.trivial else ""
    spared = f" · {count(total.duplicates_avoided, 'repetition')} not written" if total.duplicates_avoided else ""
    planned = f" · {count(total.planned, 'section')} planned" if total.planned else ""
    totals = f"{count(total.sessions, 'session')} in {count(len(weeks), 'week')}{share}{trivial}{spared}{planned}"
    return [*hang("  in all   ", totals), styled("every figure: eventlog stats --nets", dim=True)]
