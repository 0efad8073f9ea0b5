"""`eventlog uninstall`."""

import click

from eventlog.cli import options
from eventlog.cli.output import say
from eventlog.cli.places import agents, here, scope
from eventlog.install.doctor import is_registered
from eventlog.install.install import Outcome, Place, layout_of, uninstall
from eventlog.install.layouts import Layout, Scope
from eventlog.install.rules import shares_rules, uninstall_rules
from eventlog.store import Store


@click.command(epilog=options.examples("eventlog uninstall claude", "eventlog uninstall cursor --project"))
@agents
@scope
@options.store
def command(names: tuple[str, ...], scope: Scope, store: Store) -> None:
    """Take the memory hook out of coding agents' configuration files, rules included; the log is never touched.

    A file nobody else has changed since is given back byte for byte; of others exactly our entries are removed.
    """
    place = here(store)
    for layout in [layout_of(name) for name in names]:
        if not _others_need_rules(place, layout, scope) and (outcome := uninstall_rules(place, layout, scope)):
            _tell(f"{layout.name} rules", outcome)
        _tell(layout.name, uninstall(place, layout, scope))


def _tell(name: str, outcome: Outcome) -> None:
    say(f"{outcome.done:<10} {name}: {outcome.path}")


def _others_need_rules(place: Place, layout: Layout, scope: Scope) -> bool:
    return any(is_registered(place, other, scope) for other in shares_rules(layout, scope))
