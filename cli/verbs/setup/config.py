"""Show settings and create the user's files: `eventlog config`, `eventlog init`."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from eventlog.app.build.user_files import create
from eventlog.app.open_store import Machine
from eventlog.app.setup.user_setup import SettingInForce, config, missing
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.terminal import Answer, hang, is_terminal, say, show_lines, styled, table
from eventlog.format.text import one_line
from eventlog.settings.load import load
from eventlog.store import Store


@options.verb("eventlog config", "eventlog config --json")
def _config_command(store: Store) -> Answer:
    """Show the settings in force and where each comes from: a line of `config.yaml`, or the default.

    The last line names the directory of your own files: sessions receive every `*.md` there. Reports an unknown key or
    a wrong type with its line.
    """
    found = config(store, Machine.here().home)
    values = {setting.key: {"value": setting.value, "from": setting.origin} for setting in found}
    rows = [(setting.key, _as_text(setting.value), setting.origin) for setting in found]

    def show() -> None:
        if is_terminal():
            show_lines(_lines(found, store.config))
        else:
            table(rows, setting=0, value=0, origin=0)

    return Answer(values, show)


def _lines(found: Sequence[SettingInForce], file: str) -> Iterator[str]:
    """Yield the settings below the name of their group; the user's own in bold, with file and line."""
    room = max(len(setting.key.rpartition(".")[2]) for setting in found)
    group = ""
    for setting in found:
        above, _, name = setting.key.rpartition(".")
        if above != group and above:
            yield styled(above, bold=True)
        group = above
        head = f"{'  ' if above else ''}{name:<{room + (0 if above else 2)}}  "
        own = "" if setting.origin == "default" else f" · {setting.origin}"
        yield from hang(styled(head, bold=bool(own)), one_line(f"{_spelled(setting.value)}{own}"))
    for line in hang("", f"to change a setting: {file}; the others have their defaults"):
        yield styled(line, dim=True)


def _spelled(value: Any) -> str:
    """Format a value as in config.yaml."""
    return ", ".join(map(str, value)) if isinstance(value, list) else _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


@options.verb("eventlog init", "eventlog init --yes")
@click.option("--yes", is_flag=True, help="Create them without asking.")
def _init_command(yes: bool, store: Store) -> int:
    """Create your own files from templates: AGENTS.md, SOUL.md, USER.md and user/profile.md.

    Writes to your own directory (`context.workspace`), never to a repository or over an existing file. Asks on a
    terminal; elsewhere, without --yes, it lists the missing files and exits with 1.
    """
    wanted = missing(load(store).settings, Machine.here().home)
    for file in () if yes else wanted:
        say(f"missing    {file.path}")
    if not wanted:
        say("nothing is missing")
        return 0
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    if not (yes or (asks and click.confirm("Create them?", default=True))):
        return EXIT_FOUND
    for file in wanted:
        create(Path(file.path), file.default_template or "")
        say(f"created    {file.path}")
    return 0
