"""One of several words; a word that is none of them is asked about."""

from typing import Any

import click

from eventlog.hosts import room_name


class NearChoice(click.Choice[str]):
    """A choice that names the nearest word."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """List the choices, or ask for the nearest of them."""
        from eventlog.app.naming.nearest import nearest

        del ctx
        words = [*map(str, self.choices)]
        near = nearest(str(value), words)
        asked = f"did you mean {' or '.join(near)}?" if near else f"say one of {', '.join(words)}"
        return f"no {str(value)!r}; {asked}"


class HostChoice(NearChoice):
    """A choice in which hosts are known by any of their names."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Translate any name of a host into the one of the command line."""
        return super().convert(room_name(value), param, ctx)
