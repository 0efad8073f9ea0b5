"""Share decisions with a team and agree to those of others: `eventlog share`, `eventlog team`."""

from collections.abc import Sequence
from pathlib import Path

import click

from eventlog.app.build.rebuild import replay_store
from eventlog.app.open_store import Machine
from eventlog.app.team.decisions import PLACE, agree, disagree
from eventlog.app.team.share import SharedFile, TeamRow, checkout_of, differing, share, team_rows, withdraw
from eventlog.cli import EXIT_FOUND, options, suggestions
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import confirm, count, emit, is_terminal, print_lines, say, table
from eventlog.format.text import spelled_out
from eventlog.store import Store

_checkout = click.option(
    "--checkout", default=".", metavar="DIR", type=click.Path(), help="Directory in the checkout [default: this one]."
)


@options.verb(
    "eventlog share 8d21c0 --why 'Floats lost a cent'", "eventlog share MEMORY.md:5", "eventlog share 8d21c0 --withdraw"
)
@click.argument("named", metavar="ID|FILE:LINE...", nargs=-1, required=True, shell_complete=suggestions.events)
@click.option("--why", default="", metavar="TEXT", help="Reason of the decision, for the others.")
@click.option("--withdraw", "is_withdrawn", is_flag=True, help="Delete its file, and withdraw the decision here.")
@_checkout
def _share_command(named: tuple[str, ...], why: str, is_withdrawn: bool, checkout: str, store: Store) -> None:
    """Share decisions with your team: a Markdown file for each, in .eventlog/team/ of the repository.

    The file has the text, the time, your name in git and the reason; commit it, and your team reviews it like code.
    Others are told only after `eventlog team trust`. With --withdraw, the id of a decision of somebody else is enough.
    """
    opened = options.open_store(store)
    if is_withdrawn:
        done = withdraw(opened, named, checkout)
        replay_store(opened)
    else:
        done = share(opened, named, why, checkout)
    for file in done:
        _print_shared(file, "withdrawn" if is_withdrawn else "shared" if file.new else "already shared")
    if is_terminal() and any(file.ignored for file in done):
        say(f"git ignores this file: take {PLACE} out of .gitignore")
    elif is_terminal():
        say(f"next: git add -A {PLACE} && git commit")


@options.group(
    "eventlog team",
    "eventlog team check",
    "eventlog team trust",
    "eventlog team trust --yes",
    invoke_without_command=True,
)
@_checkout
@options.shared("as_json")
@options.store_of_verbs
@click.pass_context
def _team_command(ctx: click.Context, checkout: str, as_json: bool, store: str | None) -> None:
    """List the decisions that a checkout shares: yours, others', trusted or not, withdrawn. Needs no store."""
    if ctx.invoked_subcommand:
        return
    located = options.located(store, ctx)
    rows = _rows(located, checkout)
    if as_json:
        heads = ({"state": row.state, "file": row.file.path, "refused": row.file.refused or None} for row in rows)
        decisions = (row.file.decision._asdict() if row.file.decision else {} for row in rows)
        emit([head | fields for head, fields in zip(heads, decisions, strict=True)], pretty=True)
        return
    if not rows:
        say(f"this checkout shares no decision: eventlog share ID writes one to {PLACE}")
        return
    display = Display(located)
    cells = [_cells(row, display) for row in rows]
    table(cells, state=0, when=0, who=24, id=0, what=0)
    _print_differing(rows)
    if is_terminal() and (new := [row for row in rows if row.is_new]):
        say(f"{count(len(new), 'decision')} not told to agents yet: eventlog team trust")


@options.verb(
    "eventlog team trust",
    "eventlog team trust --yes",
    "eventlog team trust --withdraw",
    of=_team_command,
    brief="Trust the decisions of this checkout.",
)
@_checkout
@click.option("--withdraw", "is_withdrawn", is_flag=True, help="Withdraw your consent to all of this checkout.")
def _trust(checkout: str, is_withdrawn: bool, yes: bool, store: Store) -> int:
    """Trust the decisions of this checkout: show those you have not agreed to, and ask.

    Your consent is for exactly these bytes: a changed file, and a new one, is asked for again.
    """
    opened = options.open_store(store)
    rows = _rows(store, checkout)
    if is_withdrawn:
        found = disagree(opened.log, [row.file.path for row in rows if row.state in ("trusted", "withdrawn")])
        replay_store(opened)
        say(f"{count(found, 'decision')} not trusted any more")
        return 0
    new = [row for row in rows if row.is_new]
    for row in new:  # as it is: spelled out, so that nothing in it is hidden
        say(f"{row.file.path} is {row.state}:")
        lines = row.file.data.decode("utf-8", "backslashreplace").splitlines()
        print_lines(spelled_out(f"    {line}") for line in lines)
    _print_refused(rows)
    if not new:
        say(
            "nothing is new: you have agreed to every decision of this checkout"
            if rows
            else "no decision is shared here"
        )
        return 0
    if not confirm(f"Tell agents {count(len(new), 'decision')} of this checkout?", yes=yes):
        return EXIT_FOUND
    agree(opened.log, [row.file for row in new])
    replay_store(opened)
    say(f"{count(len(new), 'decision')} trusted until the file changes")
    return 0


@options.verb(
    "eventlog team check",
    "eventlog team check --checkout ~/shop",
    of=_team_command,
    brief="Check the files of shared decisions, for CI.",
)
@_checkout
def _check(checkout: str, store: Store) -> int:
    """Check the files of shared decisions, for CI: their form, secrets, and keys with two values.

    Exits with 1 if it finds something. Needs no store, and writes none.
    """
    rows = _rows(store, checkout)
    found = _print_refused(rows)
    for row in rows:
        if row.file.data and row.file.holds_secret:
            found += 1
            say(f"✗ {row.file.path}: holds a secret; eventlog scan {row.file.path} shows where")
    found += _print_differing(rows)
    if not found:
        say(f"{count(len([row for row in rows if row.file.decision]), 'decision')}, nothing wrong")
    return EXIT_FOUND if found else 0


def _rows(store: Store, checkout: str) -> list[TeamRow]:
    return team_rows(store, checkout_of(checkout), Machine.here().now())


def _cells(row: TeamRow, display: Display) -> tuple[str, ...]:
    decision, name = row.file.decision, Path(row.file.path).name
    if not decision:
        return row.state, "", "", "", f"{name}: {row.file.refused}" if row.file.refused else name
    return row.state, display.when(decision.when), decision.who, display.id(decision.id), decision.text


def _print_refused(rows: Sequence[TeamRow]) -> int:
    refused = [row.file for row in rows if row.file.refused]
    for file in refused:
        say(f"✗ {file.path}: {file.refused}")
    return len(refused)


def _print_differing(rows: Sequence[TeamRow]) -> int:
    """Print what people state differently under one key; return how many keys that are."""
    several = list(differing(rows))
    for decisions in several:
        say(f"! {decisions[0].key}: people differ; withdraw all but one: eventlog share ID --withdraw")
        for decision in decisions:
            say(f"    {decision.who}: {decision.text}  [{decision.id}]")
    return len(several)


def _print_shared(file: SharedFile, what: str) -> None:
    if is_terminal():
        say(f"{what:<9}  {file.decision.text}")
        say(f"           {file.path}")
    else:
        status = "skipped" if what == "already shared" else "ok"
        emit({"status": status, "id": file.decision.id, "file": file.path, "what": what})
