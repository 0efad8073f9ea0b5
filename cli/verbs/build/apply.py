"""Apply plan entries, and list pending entries: `eventlog apply`, `eventlog status`."""

from collections.abc import Iterable, Iterator

import click

from eventlog.app.ask.brief import StatusReport, status
from eventlog.app.build.apply import apply
from eventlog.app.build.apply_result import SectionChange
from eventlog.app.naming.references import ShortIds
from eventlog.cli import EXIT_FOUND, EXIT_NOT_WRITTEN, options
from eventlog.cli.show.changes import print_applied
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import describe
from eventlog.cli.terminal import Answer, count, hang, marked, say, show_lines, styled, table
from eventlog.format.codec import to_fields
from eventlog.format.text import one_line
from eventlog.store import Store


@options.verb("eventlog apply", "eventlog apply --dry-run", "eventlog apply --file USER.md --json")
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would change.")
@click.option("--file", "only", metavar="NAME", help="Apply only to this knowledge base or file: user, USER.md, …")
def _apply_command(dry_run: bool, only: str | None, store: Store) -> Answer:
    """Apply plan entries to their knowledge bases, section by section.

    Records a person's edits as events. Stages an entry that would change or remove a person's line: see `eventlog
    status` and `eventlog resolve`. Exits with 3 if a file could not be written; its entries stay pending.
    """
    done = apply(options.open_store(store), only=only, dry_run=dry_run)

    def show() -> None:
        print_applied(done, ShortIds(store).of, dry_run=dry_run)
        if not (done.applied or done.nothing or done.edited or done.staged or done.pending):
            say("nothing to apply")

    return Answer(done.as_fields(), show, EXIT_NOT_WRITTEN if done.pending else 0)


_SHOWN = 5  # forgotten statements


@options.verb("eventlog status", "eventlog status --json")
def _status_command(header: bool, store: Store) -> Answer:
    """List the sections of knowledge bases that are pending, staged, or edited by hand.

    pending: `eventlog apply` writes them. staged: they wait for your decision, see `eventlog resolve`. drifted: a
    person has edited them; the next `apply` or `replay` records it. Exits with 1 if anything waits.
    """
    found = status(options.open_store(store))
    value = {
        "pending": [change._asdict() for change in found.pending],
        "idle": [change._asdict() for change in found.idle],
        "drifted": [change._asdict() for change in found.drifted],
        "staged": [staged.as_fields() for staged in found.staged],
        "blocked": [{"file": file, "reason": reason} for file, reason in found.blocked],
        "forgotten": [to_fields(event) for event in found.rejected],
    }
    code = EXIT_FOUND if found.anything_waits else 0
    return Answer(value, lambda: _print_status(found, Display(store), header=header), code)


def _print_status(found: StatusReport, display: Display, *, header: bool) -> None:
    if display.is_for_people and found.anything_waits:
        show_lines(_waiting_lines(found, display))
    elif not found.anything_waits and (display.is_for_people or not found.rejected):
        say("nothing waits")
    else:
        table(_rows(found, display), header=header, state=0, section=60, id=0, why=200)
    if display.is_for_people:
        show_lines(_forgotten_lines(found, display))


def _rows(found: StatusReport, display: Display) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("pending", change.section, display.id(change.event), "") for change in found.pending
    ]
    rows += [("pending", change.section, display.id(change.event), "nothing to change") for change in found.idle]
    rows += [("drifted", change.section, "", "edited by hand, not yet recorded") for change in found.drifted]
    rows += [("staged", staged.section, display.id(staged.entry.id), staged.reason) for staged in found.staged]
    rows += [("blocked", file, "", reason) for file, reason in found.blocked]
    rows += [("forgotten", describe(event), event.id, "") for event in found.rejected[-_SHOWN:]]
    return rows + [("forgotten", more, "", "") for more in _not_shown(found)]


def _waiting_lines(found: StatusReport, display: Display) -> Iterator[str]:
    """Yield the decisions of a person first, then the work of `eventlog apply`."""
    for file, reason in found.blocked:
        yield from hang(f"{marked('✗')} ", one_line(f"{file} cannot be written: {reason}"))
    if found.staged:
        yield f"{marked('!')} {count(len(found.staged), 'change waits', 'changes wait')} for you: eventlog resolve ID"
        for staged in found.staged:
            yield from _entry(staged.section, display.id(staged.entry.id))
            yield from hang(" " * 10, styled(one_line(staged.reason), dim=True))
    yield from _by_itself("will be written", found.pending, display)
    yield from _by_itself("will be skipped: nothing to change", found.idle, display)
    yield from _by_itself("edited by hand will be recorded", found.drifted, display)
    if found.pending or found.idle or found.drifted:
        yield styled("to write them: eventlog apply; to preview: eventlog apply --dry-run", dim=True)


def _forgotten_lines(found: StatusReport, display: Display) -> Iterator[str]:
    for event in found.rejected[-_SHOWN:]:
        yield from hang("forgotten  ", one_line(f"{describe(event)}  [{display.short(event.id)}]"))
    yield from (f"forgotten  {more}" for more in _not_shown(found))


def _not_shown(found: StatusReport) -> list[str]:
    more = len(found.rejected) - _SHOWN
    return [f"and {more:,} more: eventlog query --type rejected"] if more > 0 else []


def _by_itself(what: str, changes: Iterable[SectionChange], display: Display) -> Iterator[str]:
    if sections := list(changes):
        yield f"{marked('·')} {count(len(sections), 'section')} {what}"
        for change in sections:
            yield from _entry(change.section, display.id(change.event) if change.event else "")


def _entry(section: str, short: str) -> list[str]:
    return hang(f"  {styled(short, fg='cyan')}  " if short else "  ", one_line(section))
