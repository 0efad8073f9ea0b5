"""`eventlog replay`."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from eventlog import files
from eventlog.app.apply import ApplyResult
from eventlog.app.codex_export import ExportResult, export
from eventlog.app.publish import publish
from eventlog.app.rebuild import RebuildResult, rebuild
from eventlog.app.replay import replay
from eventlog.cli import options
from eventlog.cli.main import EXIT_FOUND, EXIT_NOT_WRITTEN
from eventlog.cli.progress import progress
from eventlog.cli.show_replay import report
from eventlog.projections import ALL
from eventlog.projections.base import Projection
from eventlog.projections.engine.replay import Progress, chosen
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog replay",
        "eventlog replay --check",
        "eventlog replay --out /tmp/then --as-of 2026-02-20",
        "eventlog replay --projection memory --json",
    )
)
@click.option("--out", type=click.Path(file_okay=False), help="Write everything under this directory instead.")
@click.option("--as-of", type=options.TimeParam(end=True), help="Only events up to this date or time; needs --out.")
@click.option("--projection", "names", multiple=True, help=f"Only these files: {', '.join(one.name for one in ALL)}.")
@click.option("--full", is_flag=True, help="Ignore checkpoints and fold every day again.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and list the files that differ from the log.")
@options.as_json
@options.store
def command(
    out: str | None,
    as_of: str | None,
    names: tuple[str, ...],
    full: bool,
    check: bool,
    as_json: bool,
    store: Store,
) -> int:
    """Rebuild the knowledge files from the log; write only those that change.

    The same events give the same bytes, whatever was there before. A file a person has edited is set aside, never
    overwritten. Plan entries reach their knowledge bases as with `eventlog apply`; with --out nothing but that
    directory is touched.
    """
    if as_of and not out:
        raise click.UsageError("--as-of needs --out: the files in the store are those of now")
    opened = options.open_store(store)
    with _one_at_a_time(store, wanted=not out and not check), progress("replay") as show:
        if out:
            done = _elsewhere(opened, chosen(names), out, as_of, full=full, check=check, show=show)
        else:
            done = rebuild(
                opened.log,
                opened.settings,
                projections=chosen(names),
                checkpoints=not full,
                check=check,
                progress=show,
            )
    copies = (
        ExportResult()
        if out or check
        else export(store, opened.settings, str(Path.home()), os.environ.get("CODEX_HOME", ""))
    )
    report(done, copies, out or store.knowledge, check=check, as_json=as_json)
    if done.applied.pending:
        return EXIT_NOT_WRITTEN
    return EXIT_FOUND if check and (done.published.changes or done.applied.files) else 0


def _elsewhere(
    opened: options.OpenStore,
    projections: Sequence[Projection],
    out: str,
    as_of: str | None,
    *,
    full: bool,
    check: bool,
    show: Progress,
) -> RebuildResult:
    """Everything under one directory, knowledge bases too: a pure function of the log."""
    replayed = replay(
        opened.log,
        opened.settings,
        projections=projections,
        until=as_of or "~",
        checkpoints=not full,
        save=not check,
        progress=show,
    )
    return RebuildResult(replayed, publish(replayed.documents, out, projections, dry_run=check), ApplyResult())


def _one_at_a_time(store: Store, *, wanted: bool) -> AbstractContextManager[object]:
    """Two replays into the store would only do the same work twice."""
    return files.lock(f"{store.cache}/replay.lock") if wanted and Path(store.log).is_dir() else nullcontext()
