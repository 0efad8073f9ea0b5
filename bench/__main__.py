"""`python -m bench [OPTION…]`: every bar as a ratio to a reference measured in the same run."""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import append, context, hook, knowledge, peers
from bench.generate import generate
from bench.measure import Row
from eventlog.log import EventLog


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--events", type=int, default=100_000, help="size of the large store [%(default)s]")
    parser.add_argument("--peers", action="store_true", help="install projectmem and wake-memory, and compare")
    parser.add_argument("--short", action="store_true", help="only what an agent waits for, and appends")
    parser.add_argument("--cluster", action="store_true", help="replay three users' stores with two Dask workers, too")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        table = Table("what", "median", "reference", "median", "ratio", "goal")
        for row in _rows(Path(scratch), options):
            console.print(f"measured: {row.what}", style="dim")
            ours, theirs = _show(row.seconds, row), _show(row.reference_seconds, row)
            table.add_row(row.what, ours, row.reference, theirs, f"{row.ratio:.2f}", row.goal)
    console.print(table)


def _rows(scratch: Path, options: argparse.Namespace) -> Iterator[Row]:
    large, small, events = scratch / "large", scratch / "small", options.events
    generate(large / "log", events)
    generate(small / "log", 1000)
    EventLog(small).index.catch_up()
    yield from hook.rows(large, events)
    yield from append.rows(scratch)
    yield from (knowledge.asking if options.short else knowledge.rows)(large, small, events)
    yield from context.rows(scratch, events)
    if options.peers:
        yield from peers.rows(scratch, large)
    if options.cluster:
        from bench import many_stores  # needs the extra

        yield from many_stores.rows(scratch, events)


def _show(value: float, row: Row) -> str:
    if "MiB" in row.what:
        return f"{value:.1f} MiB"
    return f"{value * 1000:.1f} ms"


if __name__ == "__main__":
    main()
