"""The report of `status`: changes that wait for a person, then those the next apply makes by itself."""

from collections.abc import Iterable, Iterator

from eventlog.app.apply_result import SectionChange
from eventlog.app.status import StatusReport
from eventlog.cli.describe import describe
from eventlog.cli.output import beside, clean, count, marked, styled
from eventlog.cli.shown import Shown

_SHOWN = 5  # of what is forgotten


def waiting_lines(found: StatusReport, shown: Shown) -> Iterator[str]:
    """Tell what a person has to do first, then what `eventlog apply` will do."""
    for file, reason in found.blocked:
        yield from beside(f"{marked('✗')} ", clean(f"{file} cannot be written: {reason}"))
    if found.staged:
        yield f"{marked('!')} {count(len(found.staged), 'change waits', 'changes wait')} for you: eventlog resolve ID"
        for staged in found.staged:
            yield from _entry(staged.section, shown.id(staged.entry.id))
            yield from beside(" " * 10, styled(clean(staged.reason), dim=True))
    yield from _by_itself("will be written", found.pending, shown)
    yield from _by_itself("will be passed over: there is nothing to delete", found.idle, shown)
    yield from _by_itself("edited by hand will be taken into the log", found.drifted, shown)
    if found.pending or found.idle or found.drifted:
        yield styled("to do it now: eventlog apply; to look first: eventlog apply --dry-run", dim=True)


def forgotten_lines(found: StatusReport, shown: Shown) -> Iterator[str]:
    """Tell what a person does not want said, the newest last."""
    for one in found.rejected[-_SHOWN:]:
        yield from beside("forgotten  ", clean(f"{describe(one)}  [{shown.short(one.id)}]"))
    if len(found.rejected) > _SHOWN:
        yield f"forgotten  and {len(found.rejected) - _SHOWN} more: eventlog query --type rejected"


def _by_itself(what: str, changes: Iterable[SectionChange], shown: Shown) -> Iterator[str]:
    if known := list(changes):
        yield f"{marked('·')} {count(len(known), 'section')} {what}"
        for change in known:
            yield from _entry(change.section, shown.id(change.event) if change.event else "")


def _entry(section: str, short: str) -> list[str]:
    return beside(f"  {styled(short, fg='cyan')}  " if short else "  ", clean(section))
