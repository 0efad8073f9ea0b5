"""`eventlog config`."""

import click
import orjson

from eventlog.app.config import SettingInForce, config
from eventlog.app.machine import Machine
from eventlog.cli import options
from eventlog.cli.output import emit_pretty, table
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
        table(map(_row, found), setting=0, value=40, origin=100)


def _row(setting: SettingInForce) -> tuple[str, str, str]:
    value = setting.value if isinstance(setting.value, str) else orjson.dumps(setting.value).decode()
    return setting.key, value, setting.origin
