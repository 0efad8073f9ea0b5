"""`eventlog config`."""

from collections.abc import Iterator, Sequence
from typing import Any

import click
import orjson

from eventlog.app.machine import Machine
from eventlog.app.setup.config import SettingInForce, config
from eventlog.cli import options
from eventlog.cli.output import beside, clean, emit_pretty, is_terminal, show_lines, styled, table
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog config", "eventlog config --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> None:
    """Show the settings in force and where each comes from: a line of `config.yaml`, or the default.

    The last line tells where your own files are: every `*.md` there is told to your sessions.
    A key that is unknown or has the wrong type is refused, with its line.
    """
    found = config(store, Machine.here().home)
    if as_json:
        emit_pretty({setting.key: {"value": setting.value, "from": setting.origin} for setting in found})
    else:
        show_lines(_lines(found, store.config)) if is_terminal() else table(
            map(_row, found), setting=0, value=0, origin=0
        )


def _lines(found: Sequence[SettingInForce], file: str) -> Iterator[str]:
    """Tell people the settings, those of their own in bold with where they stand, those of a group below its name."""
    room = max(len(setting.key.rpartition(".")[2]) for setting in found)
    group = ""
    for setting in found:
        above, _, name = setting.key.rpartition(".")
        if above != group and above:
            yield styled(above, bold=True)
        group = above
        head = f"{'  ' if above else ''}{name:<{room + (0 if above else 2)}}  "
        own = "" if setting.origin == "default" else f" · {setting.origin}"
        yield from beside(styled(head, bold=bool(own)), clean(f"{_spelled(setting.value)}{own}"))
    for line in beside("", f"to change one: {file}; what is not there is the default"):
        yield styled(line, dim=True)


def _spelled(value: Any) -> str:
    """Spell a value as one writes it in config.yaml."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _row(setting: SettingInForce) -> tuple[str, str, str]:
    value = setting.value if isinstance(setting.value, str) else orjson.dumps(setting.value).decode()
    return setting.key, value, setting.origin
