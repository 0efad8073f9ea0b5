"""Which agents, in whose files: what `install` and `uninstall` ask for."""

from collections.abc import Iterable
from pathlib import Path

import click

from eventlog.app.machine import Machine
from eventlog.app.setup.install.host_report import is_registered
from eventlog.app.setup.install.install import FileChange, InstallTarget
from eventlog.cli.choices import HostChoice
from eventlog.cli.output import say
from eventlog.hosts import ROOMS
from eventlog.hosts.profile import Scope, profiles
from eventlog.projects.root import project_root
from eventlog.store import Store

agents = click.argument("names", metavar="AGENT...", nargs=-1, type=HostChoice([*ROOMS.values()]))
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
    return InstallTarget(store, Path(machine.home), Path(project_root(str(Path.cwd())) or Path.cwd()), machine.environ)


def installed(target: InstallTarget, scope: Scope) -> list[str]:
    """List the agents whose files of that scope name us."""
    return [agent for agent, host in profiles().items() if is_registered(target, host, scope)]


def nobody_named(verb: str, found: Iterable[str], what: str) -> click.UsageError:
    """Build the complaint that no agent is named; it says which could be, and the command for them."""
    names = " ".join(found)
    said = f"{what}: eventlog {verb} {names}" if names else f"none is {what}; known are {', '.join(profiles())}"
    return click.UsageError(f"name the agents; {said}")


def tell(name: str, outcome: FileChange) -> None:
    """Say what became of a file."""
    say(f"{outcome.done:<10} {name}: {outcome.path}")
