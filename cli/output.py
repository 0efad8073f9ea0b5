"""Everything that is printed: JSON for programs, plain columns for pipes, tables by rich on a terminal."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec
import orjson

from eventlog.text import cut, harmless, one_line


def emit(value: object) -> None:
    """Print one JSON document on one line."""
    click.echo(orjson.dumps(value, default=msgspec.to_builtins).decode())


def emit_pretty(value: object) -> None:
    """Print one JSON document, for people and programs alike: whatever can be read can be printed, however deep."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def emit_bytes(line: bytes) -> None:
    """Print one line of the log, byte for byte."""
    sys.stdout.buffer.write(line + b"\n")


def say(text: str) -> None:
    """Print one line for people."""
    click.echo(harmless(text))


def print_line(line: str) -> None:
    """Print a line put together of clean texts and marks."""
    click.echo(line)


def complain(text: str, hint: str = "") -> None:
    """Print an error, and what to do about it."""
    click.echo(f"eventlog: {harmless(text)}", err=True)
    for line in hint.splitlines():
        click.echo(f"  {harmless(line)}", err=True)


_COLOURS = {"✓": "green", "!": "yellow", "✗": "red"}


def styled(text: str, **style: Any) -> str:
    """Colour a text for a person who wants colours: on a terminal, without NO_COLOR (no-color.org)."""
    return click.style(text, **style) if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def marked(mark: str) -> str:
    """Colour a mark by what it means."""
    return styled(mark, fg=_COLOURS.get(mark), bold=True)


def count(number: int, noun: str, plural: str = "") -> str:
    """Spell a number of things: `1 line`, `2,000 lines`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def table(rows: Iterable[Sequence[str]], **widths: int) -> None:
    """Print columns by name: tab-separated whole cells in a pipe; on a terminal a table.

    There, cells are cut to the given width, 0 for never; the last column wraps in what is left of the line.
    """
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(map(clean, row)))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    *fixed, last = widths
    shown = Table(*(Column(name, no_wrap=True) for name in fixed), Column(last, overflow="fold"), box=box.SIMPLE_HEAD)
    for row in rows:
        cells = (_fitted(clean(cell), width) for cell, width in zip(row, widths.values(), strict=True))
        shown.add_row(*map(Text, cells))
    Console().print(shown)


def _fitted(cell: str, width: int) -> str:
    return cut(cell, width or len(cell))


def clean(text: str) -> str:
    """Clean a text from events of anything that would act on the terminal."""
    return one_line(text)
