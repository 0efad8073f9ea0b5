"""`python -m bench [OPTION…]`: every bar as a ratio to a reference measured in the same run."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import append, context, hook, knowledge, peers, search
from bench.generate import generate
from bench.measure import Row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--events", type=int, default=100_000, help="size of the large store [%(default)s]")
    parser.add_argument("--projects", type=int, default=40, help="how many it has [%(default)s]")
    parser.add_argument("--peers", action="store_true", help="install projectmem and wake-memory, and compare")
    parser.add_argument("--short", action="store_true", help="only what an agent waits for, and appends")
    parser.add_argument(
        "--growth", action="store_true", help="exponents from 10,000 events to that size (10,000,000 is a lot)"
    )
    parser.add_argument("--cluster", action="store_true", help="replay three users' stores with two Dask workers, too")
    parser.add_argument("--sync", action="store_true", help="only what two machines with one memory take")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        os.environ["HOME"] = scratch  # a start makes templates of people's files in it
        table = Table("what", "median", "reference", "median", "ratio", "goal")
        missed: list[str] = []
        for row in _rows(Path(scratch), options):
            console.print(f"measured: {row.what}", style="dim")
            ours, theirs = _show(row.seconds, row), _show(row.reference_seconds, row)
            goal = f"{row.goal} (missed)" if row.missed else row.goal
            table.add_row(row.what, ours, row.reference, theirs, f"{row.ratio:.2f}", goal)
            missed += [row.what] if row.missed else []
        console.print(table)
        console.print(f"missed: {'; '.join(missed) or 'nothing'}")
        if options.growth:
            _print_growth(console, Path(scratch), options.events)


def _print_growth(console: Console, scratch: Path, events: int) -> None:
    from bench import growth

    table = Table("processor time", "ms in each store", "exponents")
    for what, times, exponents in growth.lines(scratch, events):
        shown = (
            " ".join(f"{one:.{digits}f}" for one in found)
            for found, digits in (([1000 * t for t in times], 0), (exponents, 2))
        )
        table.add_row(what, *shown)
    console.print(table)


def _rows(scratch: Path, options: argparse.Namespace) -> Iterator[Row]:
    large, small, events = scratch / "large", scratch / "small", options.events
    if options.sync:
        from bench import sync  # needs the extra

        yield from sync.rows(scratch, events)
        return
    generate(large / "log", events, projects=options.projects)
    generate(small / "log", 1000, projects=options.projects)
    yield from knowledge.first_use(large, small, events)
    yield from hook.rows(large, events)
    yield from append.rows(scratch)
    yield from (knowledge.asking if options.short else knowledge.rows)(large, small, events)
    yield from search.rows(large, small, events)
    yield from context.rows(scratch, events)
    if options.peers:
        yield from peers.rows(scratch, large)
    if options.cluster:
        from bench import many_stores  # needs the extra

        yield from many_stores.rows(scratch, events)


def _show(value: float, row: Row) -> str:
    for unit in ("MiB", "bytes"):
        if unit in row.what:
            return f"{value:.1f} {unit}"
    return f"{value * 1000:.1f} ms"


if __name__ == "__main__":
    main()
