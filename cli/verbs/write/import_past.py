"""Import past conversations and the memory of other programs: `eventlog import`."""

import sys
from pathlib import Path

import click

from eventlog.app.importing.import_past import ImportResult, import_exported, import_past, sources
from eventlog.app.importing.source import ImportRequest
from eventlog.app.naming.projects import project_meant
from eventlog.app.open_store import Machine
from eventlog.cli import EXIT_DAMAGED, options
from eventlog.cli.progress import phase
from eventlog.cli.suggestions import HostChoice
from eventlog.cli.terminal import count, emit, print_error, print_lines, say, table
from eventlog.cli.verbs.write.recording import is_switched_off
from eventlog.format.errors import BadRequest
from eventlog.log.event_log import EventLog
from eventlog.store import Store

_EXPORTED = "eventlog"  # what `eventlog export` wrote


def _project_named(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Find a project of the log, else take the name as transcripts may have it."""
    if not value or ctx.resilient_parsing:
        return None
    log = EventLog(ctx.params["store"])
    return project_meant(log, value, cwd=str(Path.cwd()), home=Machine.here().home, or_new=True)


@options.verb(
    "eventlog import claude --dry-run",
    "eventlog import codex --since 2026-01-01",
    "eventlog import gemini ~/backup/.gemini --project shop",
    "eventlog import bullets CLAUDE.md",
    "eventlog import wake-memory",
    "eventlog import eventlog log.jsonl",
)
@click.argument("source", metavar="SOURCE", type=HostChoice([*sources(), _EXPORTED]))
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Count new events per day; write nothing.")
@options.project_by(_project_named, "Only this project: its name, or part of its path.")
def _import_command(
    source: str, path: Path | None, dry_run: bool, since: str | None, project: str | None, store: Store
) -> int | None:
    """Import past conversations, and the memory of other programs, under their own dates.

    PATH is a file or a folder [default: where the source keeps its files]. Sources are transcripts of `claude`,
    `codex`, `copilot`, `cline`, `cursor`, `droid`, `gemini` and `qwen`; `bullets` of an instruction file; the memory
    skill's `daily` notes and summaries; plan entries of `last-word`; the stores of `projectmem` and `wake-memory` in
    this project; `eventlog`, a file of `eventlog export`, with your decisions.

    Adds everything once, however often you run or interrupt it, and repeats nothing that hooks recorded. Adds the
    start, the end, an automatic summary and a searchable text of each conversation; replaces those that an earlier
    program drew less well. Skips conversations active within the last hour, unless you name the file. Exits with 4 if
    anything could not be read, and imports the rest.
    """
    machine = Machine.here()
    if is_switched_off(machine, None):
        return None
    opened = options.open_store(store)
    if source == _EXPORTED and (since or project):
        raise click.UsageError("a file of `eventlog export` is read whole: it takes no --since or --project")
    place = path and path.absolute()
    request = ImportRequest(place, Path.cwd(), machine, store, opened.settings, since or "", project)
    with phase("reading files"):
        if source == _EXPORTED:
            done = _exported(opened.log, request, dry_run=dry_run)
        else:
            done = import_past(opened.log, source, request, dry_run=dry_run)
    if project and not (done.is_any or done.damage):
        raise BadRequest(f"nothing there is of a project {project!r}", hint="name it by its path, or the end of that")
    _print_import(source, done, dry_run=dry_run)
    return EXIT_DAMAGED if done.damage else 0


def _exported(log: EventLog, request: ImportRequest, *, dry_run: bool) -> ImportResult:
    """Add the lines of an export that the log lacks, unless this is a dry run."""
    path = request.path
    if path is None or path.is_dir():
        raise click.UsageError("name the file that `eventlog export` wrote")
    with path.open("rb") as lines:
        return import_exported(log, lines, str(path), dry_run=dry_run)


def _print_import(source: str, done: ImportResult, *, dry_run: bool) -> None:
    """Print new, known and skipped events, per day for a dry run; damage on stderr."""
    for bad in done.damage:
        print_lines([f"{bad.place}: {bad.reason}"], err=True)
    new, old = sum(done.new.values()), sum(done.known.values())
    is_empty = not (done.is_any or done.damage)
    if dry_run and not is_empty:
        days = sorted({day for counted in (done.new, done.known) for day in counted})
        rows = [(source, day, str(done.new.get(day, 0)), str(done.known.get(day, 0))) for day in days]
        table(rows, source=0, day=0, new=0, known=0)
    elif not (dry_run or sys.stdout.isatty()):
        remaining = {"still_open": done.still_open, "switched_off": done.switched_off, "damaged": len(done.damage)}
        emit({"status": "ok", "new": new, "known": old, "revised": done.revised, **remaining})
    if is_empty and sys.stdout.isatty():
        say(f"{source}: nothing to import; files elsewhere? eventlog import {source} PATH")
    elif is_empty and dry_run:
        print_error(f"{source}: nothing to import", f"files elsewhere? eventlog import {source} PATH")
    elif sys.stdout.isatty():
        say(f"{source}: {count(new, 'event')} {'would be new' if dry_run else 'new'}, {old:,} already known")
        if done.revised:
            say(f"{count(done.revised, 'conversation')} {'would be ' if dry_run else ''}summed up anew")
        _left_out(done)
        if (new or done.revised) and not dry_run:
            say("`eventlog replay` adds them to the knowledge files")


def _left_out(done: ImportResult) -> None:
    if done.still_open:
        say(f"{count(done.still_open, 'conversation')} active within the last hour: import again later")
    if done.switched_off:
        say(f"{count(done.switched_off, 'conversation')} skipped: memory is switched off in their projects")
    if done.damage:
        say(f"{count(len(done.damage), 'place')} could not be read, listed above")
