"""`eventlog apply`."""

import click

from eventlog.app.build.apply import apply
from eventlog.app.naming.short_ids import ShortIds
from eventlog.cli import EXIT_NOT_WRITTEN, options
from eventlog.cli.output import emit_pretty, say
from eventlog.cli.progress import phases
from eventlog.cli.show.apply import as_dict, tell
from eventlog.store import Store


@click.command(
    epilog=options.examples("eventlog apply", "eventlog apply --dry-run", "eventlog apply --file USER.md --json")
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would change.")
@click.option("--file", "only", metavar="NAME", help="Only this knowledge base or file: user, USER.md, …")
@options.as_json
@options.store
def command(dry_run: bool, only: str | None, as_json: bool, store: Store) -> int:
    """Bring plan entries into their knowledge bases, section by section.

    What a person has edited meanwhile becomes an event. An entry that would change or remove a line a person wrote is
    staged: see `eventlog status` and `eventlog resolve`. Exits with 3 where a file could not be written; its entries
    stay pending.
    """
    with phases() as phase:
        done = apply(options.open_store(store), only=only, dry_run=dry_run, progress=phase("applying to files"))
    if as_json:
        emit_pretty(as_dict(done))
    else:
        tell(done, ShortIds(store).of, dry_run=dry_run)
        if not (done.applied or done.nothing or done.edited or done.staged or done.pending):
            say("nothing to apply")
    return EXIT_NOT_WRITTEN if done.pending else 0
