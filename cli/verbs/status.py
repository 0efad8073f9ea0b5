"""`eventlog status`."""

import click

from eventlog.app.apply import ApplyResult, apply
from eventlog.cli import options
from eventlog.cli.main import EXIT_FOUND
from eventlog.cli.output import emit_pretty, say, table
from eventlog.cli.show_apply import as_dict, place, section_of
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog status", "eventlog status --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> int:
    """List the sections of knowledge bases that are pending, staged, or edited by hand; writes nothing.

    pending: `eventlog apply` writes them. staged: they wait for a decision, see `eventlog resolve`. drifted: a person
    has edited them, which the next `apply` or `replay` records. Exits with 1 where anything waits.
    """
    opened = options.open_store(store)
    found = apply(opened.log, opened.settings, dry_run=True)
    told = as_dict(found)
    if as_json:
        names = {"pending": "applied", "idle": "nothing", "drifted": "edited", "staged": "staged", "blocked": "pending"}
        emit_pretty({name: told[field] for name, field in names.items()})
    else:
        _tell(found)
    return EXIT_FOUND if found.applied or found.nothing or found.edited or found.staged or found.pending else 0


def _tell(found: ApplyResult) -> None:
    rows = [("pending", place(one), one.event, "") for one in found.applied]
    rows += [("pending", place(one), one.event, "there is nothing to delete") for one in found.nothing]
    rows += [("drifted", place(one), "", "edited by hand, not yet recorded") for one in found.edited]
    rows += [("staged", section_of(one), one.entry.id, one.reason) for one in found.staged]
    rows += [("blocked", file, "", reason) for file, reason in found.pending]
    if rows:
        table(rows, state=0, section=60, id=13, why=200)
    else:
        say("nothing waits")
