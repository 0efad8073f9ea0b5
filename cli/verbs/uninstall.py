"""`eventlog uninstall`."""

import click

from eventlog.app.setup.install.host_report import is_registered
from eventlog.app.setup.install.install import (
    FileChange,
    InstallTarget,
    disallow,
    profile_of,
    uninstall,
    unregister_server,
)
from eventlog.app.setup.install.rules import shares_rules, uninstall_rules
from eventlog.cli import options
from eventlog.cli.agent_options import agents, here, installed, nobody_named, scope, tell
from eventlog.cli.output import say
from eventlog.hosts.profile import HostProfile, Scope
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog uninstall claude", "eventlog uninstall cursor --project", "eventlog uninstall --all"
    )
)
@agents
@click.option("--all", "everywhere", is_flag=True, help="Out of the files of all agents.")
@scope
@options.store
def command(names: tuple[str, ...], everywhere: bool, scope: Scope, store: Store) -> None:
    """Take the memory hook out of coding agents' files, rules and MCP server included; the log is never touched.

    A file nobody else has changed since is given back byte for byte; of others exactly our entries are removed.
    """
    target = here(store)
    if everywhere or not names:
        there = installed(target, scope)
        if not everywhere:
            raise nobody_named("uninstall", there, "installed here")
        if not there:
            say("no agent's files name us: nothing to take out")
        names = tuple(there)
    for host in [profile_of(name) for name in names]:
        if not _others_need_rules(target, host, scope):
            _removed(f"{host.name} rules", uninstall_rules(target, host, scope))
        tell(host.name, uninstall(target, host, scope))
        _removed(f"{host.name} MCP server", unregister_server(target, host, scope))
        if not is_registered(target, host, _other(scope)):
            _removed(f"{host.name} permission", disallow(target, host, scope))


def _removed(what: str, outcome: FileChange | None) -> None:
    """Tell of what went with the hook; what was never there goes without saying."""
    if outcome and outcome.done == "removed":
        tell(what, outcome)


def _other(scope: Scope) -> Scope:
    return "user" if scope == "project" else "project"


def _others_need_rules(target: InstallTarget, host: HostProfile, scope: Scope) -> bool:
    return any(is_registered(target, other, scope) for other in shares_rules(host, scope))
