"""The figures of `stats` for people: whether memory worked in the last weeks."""

from collections.abc import Sequence
from datetime import date, timedelta

from eventlog.cli.output import beside, count, marked, print_line, styled
from eventlog.projections.current.recalls import RecallCount
from eventlog.projections.views.stats import Week

_BARS = "▁▂▃▄▅▆▇█"
_WEEKS = 12  # shown
_NETS = {
    "1": "by the agents themselves",
    "2": "before a compaction",
    "4": "when asked",
}

_STAGES, _DRAWN = "as facts or stages", "by a program, from the transcript"


def show_weeks(found: Sequence[Week], today: str) -> None:
    """Print whether memory worked in the newest week, and the course of the weeks before."""
    *weeks, total = found
    newest = weeks[-1]
    print_line(styled(_span(newest, today), bold=True))
    for line in [*_verdict(newest), *_recall(newest.recall), *_course(weeks[-_WEEKS:]), *_in_all(weeks, total)]:
        print_line(line)


def _span(week: Week, today: str) -> str:
    monday = date.fromisoformat(week.week)
    past = (date.fromisoformat(today) - monday).days
    named = {0: "this week", 1: "last week"}.get(past // 7, "the newest week")
    sunday = monday + timedelta(days=6)
    return f"{named} · {monday.day} {monday:%b} – {sunday.day} {sunday:%b} {sunday.year}"


def _verdict(week: Week) -> list[str]:
    """Tell whether anything was lost, then by which nets the rest was saved."""
    if not week.saved and not week.unsaved:
        return [*beside(f"{marked('·')} ", "nothing was worth saving: sessions of a turn or two"), *_cost(week)]
    lost = f"{count(week.unsaved, 'session')} of {week.sessions} saved nothing"
    kept = f"all {count(week.saved, 'session')} saved" if week.saved > 1 else f"{count(week.saved, 'session')} saved"
    line = [*beside(f"{marked('!')} ", lost)] if week.unsaved else beside(f"{marked('✓')} ", f"{kept}, nothing is lost")
    nets = [f"{week.layers[net]} {_NETS[net]}" for net in _NETS if week.layers[net]]
    composed = {_STAGES: week.layers["3"] - week.drawn, _DRAWN: week.drawn}
    nets += [f"{number} {how}" for how, number in composed.items() if number]
    line += beside("  saved    ", " · ".join(nets) or "nothing yet")
    return [*line, *_cost(week)]


def _cost(week: Week) -> list[str]:
    return beside("  cost     ", count(week.asked, "extra request") if week.asked else "no extra request")


def _recall(found: RecallCount) -> list[str]:
    """Tell what was told with prompts and before files, nothing where nobody asked."""
    if not (found.fired or found.files):
        return beside("  recall   ", f"silent with {count(found.silent, 'prompt')}") if found.silent else []
    prompts = f"with {count(found.fired, 'prompt')}" if found.fired else ""
    files = f"before {count(found.files, 'file')}" if found.files else ""
    told = f"{count(found.lines, 'line')} {' and '.join(filter(None, (prompts, files)))}"
    silent = [f"silent with {count(found.silent, 'other prompt')}"] if found.silent else []
    return beside("  recall   ", " · ".join([told, f"{found.used} later used", *silent]))


def _course(weeks: Sequence[Week]) -> list[str]:
    if len(weeks) < 2:  # noqa: PLR2004 - there is no course of one week
        return []
    most = max(week.sessions for week in weeks) or 1
    bars = "".join(_BARS[round(week.sessions / most * (len(_BARS) - 1))] for week in weeks)
    return beside(f"  sessions {bars}  ", " ".join(str(week.sessions) for week in weeks))


def _in_all(weeks: Sequence[Week], total: Week) -> list[str]:
    share = "" if total.coverage is None else f" · {total.coverage:.0%} of those worth saving saved"
    trivial = f" · {count(total.trivial, 'trivial one', 'trivial ones')}" if total.trivial else ""
    spared = f" · {count(total.duplicates_avoided, 'repetition')} not written" if total.duplicates_avoided else ""
    told = f"{count(total.sessions, 'session')} in {count(len(weeks), 'week')}{share}{trivial}{spared}"
    return [*beside("  in all   ", told), styled("every figure: eventlog stats --nets", dim=True)]
