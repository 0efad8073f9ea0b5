"""`eventlog install`."""

import click

from eventlog.cli import options
from eventlog.cli.output import say
from eventlog.cli.places import agents, here, scope
from eventlog.config import load
from eventlog.install.install import Outcome, install, layout_of
from eventlog.install.layouts import Scope
from eventlog.install.rules import install_rules
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog install claude",
        "eventlog install claude cursor codex",
        "eventlog install cursor --project --with-rules",
        "eventlog install gemini --project --session-type shared",
    )
)
@agents
@scope
@click.option("--with-rules", is_flag=True, help="Also a rule file or skill that tells the agent how to save.")
@click.option(
    "--session-type",
    type=click.Choice(["main", "shared"]),
    default="main",
    show_default=True,
    help="Who listens to its sessions: you alone, or others too, who are told nothing about you.",
)
@options.store
def command(names: tuple[str, ...], scope: Scope, with_rules: bool, session_type: str, store: Store) -> None:
    """Register the memory hook with coding agents, in their own configuration files.

    Adds entries at the end and changes no other byte; twice is once. What was there is kept in the store, and
    `eventlog uninstall` gives it back.
    """
    place = here(store)
    for layout in [layout_of(name) for name in names]:
        _tell(layout.name, install(place, layout, scope, shared=session_type == "shared"))
        if layout.agent == "codex":
            say("           Codex skips hooks it was not told to trust: run /hooks in it once")
        if with_rules:
            _rules(layout.name, install_rules(place, layout, scope, load(store).settings.locale))
    if scope == "project":
        say("the commands hold paths of this machine: keep these files out of shared branches")


def _tell(name: str, outcome: Outcome) -> None:
    say(f"{outcome.done:<10} {name}: {outcome.path}")


def _rules(name: str, outcome: Outcome | None) -> None:
    if outcome:
        _tell(f"{name} rules", outcome)
    else:
        say(f"{'skipped':<10} {name} has no rule files for a user: use --project")
