"""`eventlog config`."""

import click
import orjson

from eventlog.cli import options
from eventlog.cli.output import emit_pretty, table
from eventlog.settings import load
from eventlog.settings.load import Setting
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog config", "eventlog config --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> None:
    """Show the settings in force and where each comes from: a line of `config.yaml`, or the default.

    A key that is unknown or has the wrong type is refused, with its line.
    """
    found = list(load.effective(load.load(store)))
    if as_json:
        emit_pretty({one.key: {"value": one.value, "from": _origin(one, store)} for one in found})
    else:
        table(((one.key, _text(one), _origin(one, store)) for one in found), setting=0, value=40, origin=100)


def _text(one: Setting) -> str:
    return one.value if isinstance(one.value, str) else orjson.dumps(one.value).decode()


def _origin(one: Setting, store: Store) -> str:
    return f"{store.config}:{one.line}" if one.line else "default"
