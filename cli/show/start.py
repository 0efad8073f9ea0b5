"""Receipts of a session for people: when it was told, each event that was told of once, then the files."""

from collections.abc import Iterator

from eventlog.app.ask.receipt import ReceiptSources
from eventlog.cli.output import beside, clean, count, styled
from eventlog.cli.show.display import Shown
from eventlog.cli.show.event_table import event_lines
from eventlog.format.events import ContextInjected, KnownFile, order
from eventlog.log.log_line import LogLine


def start_lines(given: ReceiptSources, shown: Shown) -> Iterator[str]:
    """Tell how much it was given and when, then the events behind all of it, then from which files."""
    receipt, entries = given.receipt, _each_once(given)
    much = [count(receipt.chars, "character"), f"from {count(len(entries), 'event')}"]
    left = [f"no room for {', '.join(map(clean, receipt.cut))}"] if receipt.cut else []
    head = f"{styled(f'{how_told(receipt)}, {shown.moment(receipt.ts)}', bold=True)} · "
    yield from beside(head, " · ".join([" ".join(much), *left]))
    yield from event_lines(entries, shown)
    if receipt.files:
        yield styled("files it was told of", bold=True)
    for file in receipt.files:
        yield from beside("  ", clean(f"{file.path} · {_as_of(file, given, shown)}"))


def how_told(receipt: ContextInjected) -> str:
    """Tell at which moment a session was given a whole context, or told a few lines."""
    return f"{'given' if receipt.trigger == 'start' else 'told'} {moment_of(receipt)}"


def moment_of(receipt: ContextInjected) -> str:
    """Name the moment of a session of which this is the receipt."""
    match receipt.trigger:
        case "start":
            return "at its start"
        case "prompt":
            return "at a prompt"
        case "file":
            return f"when it opened {clean(receipt.file) or 'a file'}"


def _each_once(given: ReceiptSources) -> list[LogLine]:
    behind = [given.entries, *(entries or [] for entries in given.files.values())]
    each = {entry.event.id: entry for entries in behind for entry in entries}
    return sorted(each.values(), key=lambda entry: order(entry.event))


def _as_of(file: KnownFile, given: ReceiptSources, shown: Shown) -> str:
    if file.as_of is None:
        return "not from the log"
    return f"as of {shown.moment(file.as_of)}, {count(len(given.files[file.path] or ()), 'event')}"
