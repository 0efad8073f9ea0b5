"""`eventlog lifecycle`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from eventlog.app.lifecycle import Moment, record_session, run_session_hooks
from eventlog.app.session_hooks import HookOutcome, HookStatus
from eventlog.cli import options
from eventlog.cli.main import EXIT_FOUND
from eventlog.cli.output import emit
from eventlog.store import Store


@click.group(
    epilog=options.examples(
        "eventlog lifecycle run start --session $ID", "eventlog lifecycle run end --session $ID --reason done"
    )
)
def command() -> None:
    """Tell eventlog of the start and the end of a session, for hosts without hooks."""


@command.command(
    epilog=options.examples(
        "eventlog lifecycle run start --session $ID --agent my-agent",
        "eventlog lifecycle run end --session $ID --reason done",
    )
)
@click.argument("moment", type=click.Choice(["start", "end"]))
@click.option("--session", required=True, metavar="ID", help="Conversation id of the agent.")
@click.option("--project", default=".", help="Directory the session works in [default: the current one].")
@click.option("--agent", default="cli", show_default=True, help="Program that runs the session.")
@click.option("--reason", default="", help="Why it starts (startup, resume, …) or ends, in your words.")
@options.store
def run(moment: Moment, session: str, project: str, agent: str, reason: str, store: Store) -> int:
    """Record the event, then run the session hooks of config.yaml.

    Prints one JSON line for the event and one per hook. Exits with 1 where a hook failed.
    """
    log = options.open_log(store)
    cwd = str(Path(project).resolve())
    stored = record_session(log, moment, session, cwd, agent, reason)
    emit({"status": "ok", "id": stored.id})
    settings = options.open_store(store).settings
    with _prints_to_stderr():
        outcomes = run_session_hooks(log, settings, stored, cwd)
    for outcome in outcomes:
        emit(_as_dict(outcome))
    return EXIT_FOUND if any(outcome.result.status is HookStatus.FAILURE for outcome in outcomes) else 0


def _as_dict(outcome: HookOutcome) -> dict[str, object]:
    result = outcome.result
    return {"hook": outcome.hook, "status": result.status, "message": result.message, "details": result.details}


@contextmanager
def _prints_to_stderr() -> Iterator[None]:
    """Send the prints of others' hooks, and of programs they start, to stderr: stdout is for our own report."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)
