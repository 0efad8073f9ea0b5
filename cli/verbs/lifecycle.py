"""`eventlog lifecycle`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click

from eventlog.app.session_hooks import HookStatus
from eventlog.app.session_hooks.run_hooks import run_hooks
from eventlog.cli import options
from eventlog.cli.main import EXIT_FOUND
from eventlog.cli.output import emit
from eventlog.events import SessionEnd, SessionStart
from eventlog.project import git_head, project_root
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
def run(moment: Literal["start", "end"], session: str, project: str, agent: str, reason: str, store: Store) -> int:
    """Record the event, then run the session hooks of config.yaml.

    Prints one JSON line for the event and one per hook. Exits with 1 where a hook failed.
    """
    log = options.open_log(store)
    cwd = str(Path(project).resolve())
    fields: dict[str, str | None] = {"conversation_id": session, "project": project_root(cwd), "agent": agent}
    if moment == "start":
        branch, commit = git_head(cwd)
        fields |= {"type": "session_start", "source": reason, "git_branch": branch, "git_commit": commit}
    else:
        fields |= {"type": "session_end", "reason": reason}
    stored = log.append({name: value for name, value in fields.items() if value})
    assert isinstance(stored, SessionStart | SessionEnd)
    emit({"status": "ok", "id": stored.id})
    settings = options.open_store(store).settings
    with _prints_to_stderr():
        outcomes = run_hooks(log, settings, stored, cwd)
    for one in outcomes:
        emit(
            {
                "hook": one.hook,
                "status": one.result.status,
                "message": one.result.message,
                "details": one.result.details,
            }
        )
    return EXIT_FOUND if any(one.result.status is HookStatus.FAILURE for one in outcomes) else 0


@contextmanager
def _prints_to_stderr() -> Iterator[None]:
    """What hooks of others print, and programs they start, is not to mix with what we do."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)
