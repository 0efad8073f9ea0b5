"""Which agents, in whose files: what `install` and `uninstall` ask for."""

from pathlib import Path

import click

from eventlog.app.install.install import FileChange, InstallTarget
from eventlog.app.machine import Machine
from eventlog.cli.choices import HostChoice
from eventlog.cli.output import say
from eventlog.project import project_root
from eventlog.store import Store

agents = click.argument("names", metavar="AGENT...", nargs=-1, required=True, type=HostChoice())
scope = click.option(
    "--user/--project",
    "scope",
    default=True,
    callback=lambda _ctx, _param, user: "user" if user else "project",
    help="For you everywhere, or for the project of the current directory only.  [default: user]",
)


def here(store: Store) -> InstallTarget:
    """Find where to install: the home of the user, and the project of the current directory."""
    machine = Machine.here()
    return InstallTarget(store, Path(machine.home), Path(project_root(str(Path.cwd()))), machine.environ)


def tell(name: str, outcome: FileChange) -> None:
    """Say what became of a file."""
    say(f"{outcome.done:<10} {name}: {outcome.path}")
