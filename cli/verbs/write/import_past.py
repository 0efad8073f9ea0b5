"""`eventlog import`."""

import sys
from pathlib import Path

import click

from eventlog.app.importing.import_past import import_past, sources
from eventlog.app.importing.source import ImportRequest
from eventlog.app.importing.writer import ImportFilter, ImportResult
from eventlog.app.machine import Machine
from eventlog.cli import EXIT_DAMAGED, options
from eventlog.cli.options import HostChoice
from eventlog.cli.progress import phases
from eventlog.cli.terminal import count, emit, say, table
from eventlog.cli.verbs.write.recording import is_switched_off
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog import claude --dry-run",
        "eventlog import codex --since 2026-01-01",
        "eventlog import gemini ~/backup/.gemini --project shop",
        "eventlog import bullets CLAUDE.md",
        "eventlog import wake-memory",
    )
)
@click.argument("source", type=HostChoice(list(sources())))
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Count what would be added, day by day; nothing is written.")
@options.since
@options.projects
@options.store
def import_command(
    source: str, path: Path | None, dry_run: bool, since: str | None, project: str | None, store: Store
) -> int | None:
    """Bring in past conversations, and what other programs remember, to the days it happened.

    PATH is a file or a folder; without one, what the source keeps in its own place. The sources are transcripts of
    hosts; `bullets` of an instruction file; the memory skill's `daily` notes and summaries; plan entries of
    `last-word`; the stores of `projectmem` and `wake-memory` in this project. Any number of times, interrupted
    anywhere, each thing is added once; what hooks recorded of a conversation is not said again. Of each conversation
    its start, its end, an automatic summary and a text to search by are added. One whose last word is less than an
    hour old may go on: it is left for later, unless its file is named. Exits with 4 where anything could not be read;
    the rest is imported.
    """
    machine = Machine.here()
    if is_switched_off(machine, None):
        return None
    opened = options.open_store(store)
    with phases() as phase:
        phase("reading what is kept")
        request = ImportRequest(path and path.absolute(), Path.cwd(), machine, store, opened.settings, phase)
        done = import_past(opened.log, source, request, ImportFilter(since or "", project), dry_run=dry_run)
    _print_import(source, done, dry_run=dry_run)
    return EXIT_DAMAGED if done.damage else 0


def _print_import(source: str, done: ImportResult, *, dry_run: bool) -> None:
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
