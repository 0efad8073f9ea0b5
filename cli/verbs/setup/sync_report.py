"""Exchange with the other machines and report it, without importing click."""

from collections.abc import Iterator

from eventlog.app.open_store import OpenStore
from eventlog.app.sync.exchange import SyncReport, sync_store
from eventlog.app.sync.leaving import LeavingCounts, preview
from eventlog.cli import EXIT_FOUND
from eventlog.cli.progress import phase
from eventlog.cli.terminal import Answer, count, say
from eventlog.format.text import one_line


def exchanged(opened: OpenStore, *, compact: bool = False) -> Answer:
    """Exchange, and make the answer that reports it."""
    with phase():
        report = sync_store(opened, compact=compact)
    value = {
        "status": "offline" if report.offline else "blocked" if report.blocked else "ok",
        "sent": report.sent.total,
        "marks": report.sent.marks,
        "arrived": report.arrived,
        "blocked": report.blocked,
        "damaged": report.damaged,
        "offline": report.offline,
    }

    def show() -> None:
        for line in _report_lines(opened, report):
            say(line)

    return Answer(value, show, EXIT_FOUND if report.blocked else 0)


def _report_lines(opened: OpenStore, report: SyncReport) -> Iterator[str]:
    if report.renamed:
        yield f"this store is a copy of {report.renamed}: it is {opened.replica} now"
    if report.offline:
        yield f"offline: {one_line(report.offline)}"
        waiting = preview(opened).total
        yield f"{count(waiting, 'event')} {'wait' if waiting != 1 else 'waits'}; try again: eventlog sync"
        return
    marks = f" and {count(report.sent.marks, 'mark')}" if report.sent.marks else ""
    sent = f"sent {count(report.sent.total, 'event')}{marks}" if report.sent.total or marks else "nothing new to send"
    arrived = ", ".join(f"{number:,} from {one_line(name)}" for name, number in sorted(report.arrived.items()))
    yield f"{sent}; {f'took in {arrived}' if arrived else 'nothing new from other machines'}"
    for name in report.damaged:
        yield f"not whole, left out until its machine writes it again: {one_line(name)}"
    for name in report.ahead:
        yield f"the clock of {one_line(name)} is more than five minutes ahead of this one"
    if report.blocked:
        yield from blocked_lines(report.sent, report.blocked)


def blocked_lines(counts: LeavingCounts, number: int) -> Iterator[str]:
    """Write how many lines stay because they look like secrets."""
    kinds = ", ".join(sorted({kind for found in counts.blocked.values() for kind in found}))
    named = f" ({kinds})" if kinds else ""
    yield f"{count(number, 'line')} stay here, for they look like secrets{named}: eventlog scan, then eventlog redact"
