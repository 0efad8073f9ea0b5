"""How an import is told: on a terminal in sentences, in a pipe as JSON or tab-separated lines."""

import sys

import click

from eventlog.app.importing.writer import ImportResult
from eventlog.cli.output import count, emit, say, table


def tell(source: str, done: ImportResult, *, dry_run: bool) -> None:
    """Tell what was added, or would be day by day, and what was left out; damage on stderr."""
    for bad in done.damage:
        click.echo(f"{bad.place}: {bad.reason}", err=True)
    new, known = sum(done.new.values()), sum(done.known.values())
    if dry_run:
        _days(source, done)
    elif not sys.stdout.isatty():
        left = {"still_open": done.still_open, "switched_off": done.switched_off, "damaged": len(done.damage)}
        emit({"status": "ok", "new": new, "known": known, **left})
    if sys.stdout.isatty() and not (new or known or done.still_open or done.switched_off or done.damage):
        say(f"{source}: there is nothing to import; kept elsewhere? eventlog import {source} PATH")
    elif sys.stdout.isatty():
        say(f"{source}: {count(new, 'event')} {'would be new' if dry_run else 'new'}, {known:,} known already")
        _left_out(done)
        if new and not dry_run:
            say("`eventlog replay` brings them into the knowledge files")


def _days(source: str, done: ImportResult) -> None:
    days = sorted({day for counted in (done.new, done.known) for day in counted})
    rows = [(source, day, str(done.new.get(day, 0)), str(done.known.get(day, 0))) for day in days]
    table(rows, source=0, day=0, new=0, known=0)


def _left_out(done: ImportResult) -> None:
    if done.still_open:
        say(f"{count(done.still_open, 'conversation')} may still be going on: import again later")
    if done.switched_off:
        say(f"{count(done.switched_off, 'conversation')} of projects where memory is switched off")
    if done.damage:
        say(f"{count(len(done.damage), 'place')} could not be read, named above")
