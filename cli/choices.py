"""One of several words; a word that is none of them is asked about."""

from typing import Any

import click

from eventlog.hosts import ROOMS


class NearChoice(click.Choice[str]):
    """A choice that names the nearest word."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """List the choices, and ask for the nearest of them."""
        from eventlog.app.naming.nearest import nearest

        near = nearest(str(value), map(str, self.choices))
        asked = f" Did you mean {' or '.join(near)}?" if near else ""
        return super().get_invalid_choice_message(value, ctx) + asked


class HostChoice(NearChoice):
    """A choice of hosts, by either of their names."""

    def __init__(self) -> None:
        super().__init__([*ROOMS.values()])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Translate the name of the log into the one of the command line."""
        return super().convert(ROOMS.get(value, value), param, ctx)
