"""`eventlog replay`."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import click

from eventlog import files
from eventlog.cli import options
from eventlog.cli.applied import as_dict, tell
from eventlog.cli.describe import describe
from eventlog.cli.main import EXIT_FOUND, EXIT_NOT_WRITTEN
from eventlog.cli.output import emit_pretty, say
from eventlog.codec import to_fields
from eventlog.context.bridge import Exported, export
from eventlog.projections import ALL
from eventlog.projections.apply import Applied
from eventlog.projections.publish import Published, publish
from eventlog.projections.rebuild import Rebuilt, rebuild
from eventlog.projections.replay import Replayed, chosen, replay
from eventlog.store import Store

_Progress = Callable[[int, int], None]
_SILENT_SECONDS = 1.0


@click.command(
    epilog=options.examples(
        "eventlog replay",
        "eventlog replay --check",
        "eventlog replay --out /tmp/then --as-of 2026-02-20",
        "eventlog replay --projection memory --json",
    )
)
@click.option("--out", type=click.Path(file_okay=False), help="Write everything under this directory instead.")
@click.option("--as-of", type=options.Moment(end=True), help="Only events up to this date or time; needs --out.")
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
    projections = chosen(names)
    root = out or store.knowledge
    opened = options.open_store(store)
    with _one_at_a_time(store, wanted=not out and not check), _progress() as progress:
        if out:
            replayed = replay(
                opened.log,
                opened.settings,
                projections=projections,
                until=as_of or "~",
                checkpoints=not full,
                save=not check,
                progress=progress,
            )
            done = Rebuilt(replayed, publish(replayed.documents, out, projections, dry_run=check), Applied())
        else:
            done = rebuild(
                opened.log,
                opened.settings,
                projections=projections,
                checkpoints=not full,
                check=check,
                progress=progress,
            )
    copies = Exported() if out or check else export(store, opened.settings, str(Path.home()))
    if as_json:
        emit_pretty(
            {
                **_as_dict(done.replayed, done.published, root),
                "codex_memory": copies,
                "knowledge_bases": as_dict(done.applied),
                "by_hand": [to_fields(event) for event in done.edits],
            }
        )
    else:
        for event in done.edits:
            say(f"{'by hand':<10} {event.type} {describe(event)}")
        tell(done.applied, dry_run=check)
        tell_copies(copies)
        _tell(done.replayed, done.published, root, check=check)
    if done.applied.pending:
        return EXIT_NOT_WRITTEN
    return EXIT_FOUND if check and (done.published.changes or done.applied.files) else 0


def tell_copies(copies: Exported) -> None:
    """What became of the copies for Codex."""
    for word, names in (("copied", copies.written), ("uncopied", copies.removed), ("not ours", copies.left)):
        for name in names:
            say(f"{word:<10} codex_memory: {name}")


def _one_at_a_time(store: Store, *, wanted: bool) -> AbstractContextManager[object]:
    """Two replays into the store would only do the same work twice."""
    return files.lock(f"{store.cache}/replay.lock") if wanted and Path(store.log).is_dir() else nullcontext()


@contextmanager
def _progress() -> Iterator[_Progress]:
    """A bar for replays that take longer than a second, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replay", visible=False)
        begun = time.monotonic()

        def show(done: int, total: int) -> None:
            slow = time.monotonic() - begun > _SILENT_SECONDS
            bar.update(task, completed=done, total=total, visible=slow)

        yield show


def _as_dict(replayed: Replayed, published: Published, root: str) -> dict[str, object]:
    return {
        "root": root,
        "events": replayed.events,
        "days": replayed.days,
        "days_folded": replayed.days_folded,
        "written": published.written,
        "removed": published.removed,
        "set_aside": published.set_aside,
        "left": published.left,
        "unchanged": published.unchanged,
        "damage": replayed.damage,
    }


def _tell(replayed: Replayed, published: Published, root: str, *, check: bool) -> None:
    for damage in replayed.damage:
        say(f"damaged    {damage.file}:{damage.line} (byte {damage.offset}) {damage.kind}: {damage.reason}")
    for word, names in (
        ("differs" if check else "wrote", published.written),
        ("stale" if check else "removed", published.removed),
        ("set aside", published.set_aside),
        ("left", published.left),
    ):
        for name in names:
            say(f"{word:<10} {name}")
    say(
        f"{replayed.events:,} events of {replayed.days:,} days ({replayed.days_folded:,} folded anew): "
        f"{published.changes:,} files {'differ' if check else 'changed'}, {published.unchanged:,} unchanged in {root}"
    )
