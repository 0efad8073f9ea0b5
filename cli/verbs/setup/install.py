"""Register and remove hooks of agents: `eventlog install`, `eventlog uninstall`."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from eventlog.app.importing.transcripts import count_past
from eventlog.app.open_store import Machine
from eventlog.app.setup.install.host_file import FileChange
from eventlog.app.setup.install.host_report import examine, is_registered
from eventlog.app.setup.install.install import Installation, InstallPart, InstallTarget
from eventlog.app.setup.live_client import make_client
from eventlog.cli import EXIT_NOT_WRITTEN, EXIT_USAGE, options
from eventlog.cli.suggestions import HostChoice
from eventlog.cli.terminal import count, print_error, say
from eventlog.format.errors import EventLogError, NotStored
from eventlog.hosts import rooms
from eventlog.hosts.profile import Scope, profiles
from eventlog.store import Store

agents = click.argument("names", metavar="AGENT...", nargs=-1, type=HostChoice([*rooms().values()]))
scope = click.option(
    "--user/--project",
    "scope",
    default=True,
    callback=lambda _ctx, _param, user: "user" if user else "project",
    help="For you everywhere, or for the current project only.  [default: user]",
)


@options.verb(
    "eventlog install claude",
    "eventlog install claude cursor codex",
    "eventlog install claude --dry-run",
    "eventlog install claude codex --allow",
    "eventlog install claude --no-mcp",
    "eventlog install cursor --project --with-rules",
    "eventlog install gemini --project --session-type shared",
)
@agents
@scope
@click.option("--with-rules", is_flag=True, help="Also write a rule file or skill that explains saving to the agent.")
@options.audience(
    "Audience of its sessions: you alone, or others too, without facts about you.", default="main", show_default=True
)
@click.option(
    "--allow/--no-allow",
    "allowed",
    default=None,
    help="Let the agent save without asking, by the narrowest rule of its host.  [default: ask on a terminal]",
)
@click.option(
    "--mcp/--no-mcp",
    "serves",
    default=None,
    help="Register memory as tools, by `eventlog mcp`.  [default: if the host has tools]",
)
@click.option("--dry-run", is_flag=True, help="Name the files that would change; write nothing.")
def _install_command(
    names: tuple[str, ...],
    scope: Scope,
    with_rules: bool,
    session_type: str,
    allowed: bool | None,
    serves: bool | None,
    dry_run: bool,
    store: Store,
) -> int:
    """Register the memory hook and tools with coding agents, in their own configuration files.

    Adds entries at the end and changes no other byte; a second run changes nothing. Keeps a copy of each file in the
    store; `eventlog uninstall` restores it. A file that cannot be changed is named at the end; all others are done.
    """
    target = options.install_target(store)._replace(dry_run=dry_run, shared=session_type == "shared")
    if not names:
        verb = "install --dry-run" if dry_run else "install"
        raise _missing_agents(verb, [report.agent for report in examine(target) if report.found], "found here")
    failed = _Failures()
    found = [Installation.of(target, name) for name in names]
    has_servers = {one.host.agent for one in found if serves is not False and one.server_file(scope)}
    can_ask = bool(has_servers) and make_client(target)
    for one in found:
        with failed.noted():
            _register(Installation(target._replace(live=can_ask and one.host.agent in has_servers), one.host), scope)
        with failed.noted():
            _permit(one, scope, allowed)
        with failed.noted():
            _serve(one, scope, serves)
        if with_rules:
            with failed.noted():
                _rules(one, scope)
    with failed.noted():
        if zone := target.write_timezone():
            say(f"{'would add' if dry_run else 'added':<10} timezone {zone}: {store.config}")
    if scope == "project" and not dry_run:
        say("the commands hold paths of this machine: keep these files out of shared branches")
    return failed.report()


class _Failures:
    """The errors of single files: none keeps the other files from being changed."""

    def __init__(self) -> None:
        self._errors: list[EventLogError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note an error of the library instead of raising it."""
        try:
            yield
        except EventLogError as error:
            self._errors.append(error)

    def report(self) -> int:
        """Print the errors, each once, and return the exit code."""
        for text, hint in {str(error): error.hint for error in reversed(self._errors)}.items():
            print_error(text, hint)
        if any(isinstance(error, NotStored) for error in self._errors):
            return EXIT_NOT_WRITTEN
        return EXIT_USAGE if self._errors else 0


def _register(installation: Installation, scope: Scope) -> None:
    target, host = installation
    done = installation.install(scope)
    assert done
    _print_change(installation, "hooks", done)
    if target.dry_run:
        return
    if installation.is_distrusted(scope):
        say(f"           {host.after_install}")
    asks = done.done == "installed" and sys.stdout.isatty()
    if asks and (number := count_past(host.agent, Machine.here(), options.open_log(target.store))):
        say(f"           {count(number, 'transcript')} of past sessions: eventlog import {host.agent}")


def _permit(installation: Installation, scope: Scope, allowed: bool | None) -> None:
    (target, host), rule = installation, installation.rule
    if allowed is None and rule:
        found = Installation(target._replace(dry_run=True), host).install(scope, "permission")
        is_there = found is not None and found.done == "unchanged"
        if is_there or installation.rule_file(scope) in installation.unsafe_rules():
            allowed = True  # it is kept, or replaced by a narrower one
    if target.dry_run and not allowed:
        return
    if allowed is None and rule and sys.stdin.isatty() and sys.stdout.isatty():
        allowed = click.confirm(f"may {host.name} save, also in USER.md, without asking you?", default=True)
    if allowed is None:
        return
    outcome = (installation.install if allowed else installation.uninstall)(scope, "permission")
    if outcome and outcome.done != "absent":
        _print_change(installation, "permission", outcome)
    elif allowed:
        say(f"{'skipped':<10} {host.name} has no rule that would let it save: see `eventlog doctor`")


def _serve(installation: Installation, scope: Scope, serves: bool | None) -> None:
    """Register the MCP server unless the user leaves it out."""
    target, host = installation
    if serves is False:
        outcome = None if target.dry_run else installation.uninstall(scope, "server")
    else:
        outcome = installation.install(scope, "server")
    if outcome and outcome.done != "absent":
        _print_change(installation, "server", outcome)
    elif serves and not outcome:
        where = "in a project" if host.servers else "that eventlog can register"
        say(f"{'skipped':<10} {host.name} has no MCP servers {where}")


def _rules(installation: Installation, scope: Scope) -> None:
    if outcome := installation.install(scope, "rules"):
        _print_change(installation, "rules", outcome)
    else:
        say(f"{'skipped':<10} {installation.host.name} has no rule files for a user: use --project")


@options.verb("eventlog uninstall claude", "eventlog uninstall cursor --project", "eventlog uninstall --all")
@agents
@click.option("--all", "everywhere", is_flag=True, help="Remove the hooks of all agents.")
@scope
def _uninstall_command(names: tuple[str, ...], everywhere: bool, scope: Scope, store: Store) -> int:
    """Remove the memory hook from coding agents' files, with rules and MCP server; never touches the log.

    Restores a file byte for byte if nothing else has changed it, and removes only our entries otherwise. A file that
    cannot be changed is named at the end.
    """
    target = options.install_target(store)
    if everywhere or not names:
        registered = _installed_agents(target, scope)
        if not everywhere:
            raise _missing_agents("uninstall", registered, "installed here")
        if not registered:
            say("no agent has our hook: nothing to remove")
        names = tuple(registered)
    other_scope: Scope = "user" if scope == "project" else "project"
    failed = _Failures()
    for one in [Installation.of(target, name) for name in names]:
        if not any(is_registered(sharer, scope) for sharer in one.sharers(scope)):
            _remove(one, scope, "rules", failed)
        _remove(one, scope, "hooks", failed)
        _remove(one, scope, "server", failed)
        if not is_registered(one, other_scope):
            _remove(one, scope, "permission", failed)
    if everywhere and (elsewhere := _installed_agents(target, other_scope)):
        say(f"also installed: eventlog uninstall {' '.join(elsewhere)} --{other_scope}")
    return failed.report()


_NAMES: dict[InstallPart, str] = {"rules": " rules", "hooks": "", "server": " MCP server", "permission": " permission"}


def _remove(installation: Installation, scope: Scope, part: InstallPart, failed: _Failures) -> None:
    """Remove a part, and print that; of what is not there only the hooks."""
    with failed.noted():
        done = installation.uninstall(scope, part)
        if done and (part == "hooks" or done.done == "removed"):
            _print_change(installation, part, done)


def _installed_agents(target: InstallTarget, scope: Scope) -> list[str]:
    """List the agents with our hook in that scope."""
    return [agent for agent, host in profiles().items() if is_registered(Installation(target, host), scope)]


def _missing_agents(verb: str, found: Iterable[str], what: str) -> click.UsageError:
    """Build the usage error for missing agents, with the command for those found."""
    names = " ".join(found)
    found_here = (
        f"{what}: eventlog {verb} {names}" if names else f"none is {what}; choose one of {', '.join(profiles())}"
    )
    return click.UsageError(f"name the agents; {found_here}")


def _print_change(installation: Installation, part: InstallPart, outcome: FileChange) -> None:
    """Print the change of a file, or that it would be changed."""
    done = "would add" if installation.target.dry_run and outcome.done == "installed" else outcome.done
    say(f"{done:<10} {installation.host.name}{_NAMES[part]}: {outcome.path}")
