"""`eventlog status`."""

import click

from eventlog.app.status import StatusReport, status
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.describe import describe
from eventlog.cli.output import emit_pretty, say, show_lines, table
from eventlog.cli.show_apply import blocked_as_dict, staged_as_dict
from eventlog.cli.show_status import forgotten_lines, waiting_lines
from eventlog.cli.shown import Shown
from eventlog.codec import to_fields
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog status", "eventlog status --json"))
@options.header
@options.as_json
@options.store
def command(header: bool, as_json: bool, store: Store) -> int:
    """List the sections of knowledge bases that are pending, staged, or edited by hand; writes nothing.

    pending: `eventlog apply` writes them. staged: they wait for a decision, see `eventlog resolve`. drifted: a person
    has edited them, which the next `apply` or `replay` records. Exits with 1 where anything waits.
    """
    found = status(options.open_store(store))
    if as_json:
        emit_pretty(_as_dict(found))
    else:
        _tell(found, Shown(store), header=header)
    return EXIT_FOUND if found.anything_waits else 0


def _as_dict(found: StatusReport) -> dict[str, object]:
    return {
        "pending": [change._asdict() for change in found.pending],
        "idle": [change._asdict() for change in found.idle],
        "drifted": [change._asdict() for change in found.drifted],
        "staged": list(map(staged_as_dict, found.staged)),
        "blocked": list(map(blocked_as_dict, found.blocked)),
        "forgotten": [to_fields(one) for one in found.rejected],
    }


def _tell(found: StatusReport, shown: Shown, *, header: bool) -> None:
    if shown.is_for_people and found.anything_waits:
        show_lines(waiting_lines(found, shown))
    elif not found.anything_waits and (shown.is_for_people or not found.rejected):
        say("nothing waits")
    else:
        table(_rows(found, shown), header=header, state=0, section=60, id=0, why=200)
    if shown.is_for_people:
        show_lines(forgotten_lines(found, shown))


def _rows(found: StatusReport, shown: Shown) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("pending", change.section, shown.id(change.event), "") for change in found.pending]
    rows += [("pending", change.section, shown.id(change.event), "there is nothing to delete") for change in found.idle]
    rows += [("drifted", change.section, "", "edited by hand, not yet recorded") for change in found.drifted]
    rows += [("staged", staged.section, shown.id(staged.entry.id), staged.reason) for staged in found.staged]
    rows += [("blocked", file, "", reason) for file, reason in found.blocked]
    return rows + [("forgotten", describe(one), one.id, "") for one in found.rejected]
