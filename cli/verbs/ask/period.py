"""Show a day or a week in 25 lines: `eventlog today`, `week`, `on`."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest

import click
from msgspec import to_builtins

from eventlog.app.ask.period import Period, PeriodItem, period
from eventlog.app.naming.moments import moment, zone_of
from eventlog.app.open_store import OpenStore
from eventlog.cli import options
from eventlog.cli.progress import phase
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import Answer, fit, is_terminal, print_lines, styled, width
from eventlog.format.errors import BadRequest
from eventlog.format.text import last_mention, one_line, project_name
from eventlog.hosts import ROOMS
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.store import Store

_LINES = 25
_WORD = 9  # cells of a section's name


@options.verb("eventlog today", "eventlog today --all-projects")
@options.scope
def _today_command(project: str | None, store: Store) -> Answer:
    """Show what was done, decided, learned, changed and dropped since midnight, and what is open."""
    return _of_day(options.open_store(store), "today", project)


@options.verb("eventlog week", "eventlog week --since monday", "eventlog week --project shop")
@options.scope
@click.option(
    "--since", type=options.TimeParam(end=False), default="7d", show_default=True, help="Start of the time shown."
)
def _week_command(project: str | None, since: str, store: Store) -> Answer:
    """Show what was done, decided, learned, changed and dropped in the last seven days, and what is open."""
    return _between(options.open_store(store), since, EVERYTHING, project)


@options.verb("eventlog on tuesday", "eventlog on 2026-02-20", "eventlog on 'last week'")
@click.argument("date")
@options.scope
def _on_command(date: str, project: str | None, store: Store) -> Answer:
    """Show what was done, decided, learned, changed and dropped on a day, and what was open at its end."""
    return _of_day(options.open_store(store), date, project)


def _of_day(opened: OpenStore, text: str, project: str | None) -> Answer:
    now, zone = opened.machine.now(), zone_of(opened.store)
    first, last = (moment(text, now, zone, end=end) for end in (False, True))
    return _between(opened, first, EVERYTHING if last >= now else last, project)


def _between(opened: OpenStore, since: str, until: str, project: str | None) -> Answer:
    now = opened.machine.now()
    if since > now:
        raise BadRequest("that time has not come yet", hint="name one that has begun")
    with phase("comparing two times"):
        found = period(opened, since, until, project)
    value = {**to_builtins(found), "until": now if until == EVERYTHING else until}
    return Answer(value, lambda: print_lines(_lines(found, Display(opened.store), now)))


def _lines(found: Period, display: Display, now: str) -> Iterator[str]:
    """Yield at most 25 lines: a head, and each section's share of the others."""
    until = now if found.until == EVERYTHING else found.until
    days = dict.fromkeys((display.day(found.since), display.day(until)))
    where = one_line(project_name(found.project)) if found.project else "all projects"
    yield f"{styled(where, bold=True)}  {' – '.join(days)}"
    learned = [item for item in found.changed if not item.was]
    changed = [item for item in found.changed if item.was]
    sections = {"done": found.done, "decided": found.decided, "learned": learned, "changed": changed}
    sections |= {"dropped": found.dropped, "open": found.open}
    shares = _shares({name: len(items) for name, items in sections.items()}, _LINES - 1)
    if not any(shares.values()):
        yield "nothing was said or done; eventlog week --since 30d looks further back"
    for name, items in sections.items():
        shown = [_text_of(name, item, found, display) for item in items[: shares[name]]]
        if 0 < shares[name] < len(items):
            shown[-1] = f"and {len(items) - shares[name] + 1} more: --json shows all"
        for word, text in zip_longest([name][: len(shown)], shown, fillvalue=""):
            line = f"{word:<{_WORD}}{one_line(text)}"
            yield fit(line, width()) if is_terminal() else line


def _shares(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """Split the lines among the sections in turn, decisions first."""
    shares = dict.fromkeys(wanted, 0)
    turns = ["decided", "decided", "done", "learned", "changed", "open", "dropped"]
    while room and any(shares[name] < wanted[name] for name in turns):
        for name in turns:
            if room and shares[name] < wanted[name]:
                shares[name] += 1
                room -= 1
    return shares


def _text_of(section: str, item: PeriodItem, found: Period, display: Display) -> str:
    """Format an item as its section has it, with the project where all are shown."""
    place = "" if found.project else f"{project_name(item.project) if item.project else 'you'}: "
    if section == "done":
        return f"{place}{item.text} – {ROOMS.get(item.agent, item.agent) or 'done'}, {display.moment(item.ts)}"
    if section == "open":
        return f"{place}{item.text}"
    was = f" (was: {item.was})" if item.was else ""
    return f"{place}{item.text}{was}{last_mention('', item.times, is_doubtful=False)}"
