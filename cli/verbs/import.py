"""`eventlog import`."""

from pathlib import Path

import click

from eventlog.app.importing.import_past import import_past, sources
from eventlog.app.importing.source import ImportRequest
from eventlog.app.importing.writer import ImportFilter
from eventlog.app.machine import Machine
from eventlog.cli import EXIT_DAMAGED, options, show_import
from eventlog.cli.choices import HostChoice
from eventlog.cli.progress import phases
from eventlog.cli.recording import is_switched_off
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
def command(
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
    show_import.tell(source, done, dry_run=dry_run)
    return EXIT_DAMAGED if done.damage else 0
