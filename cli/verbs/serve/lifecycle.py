"""Record session starts and ends, and manage session hooks: `eventlog lifecycle`."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from eventlog.app.setup.session_hooks import HookStatus
from eventlog.app.setup.session_hooks.built_in import OwnHooks
from eventlog.app.setup.session_hooks.hooks import SessionMoment
from eventlog.app.setup.session_hooks.run import list_hooks, record_session, run_hooks
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.show.display import Display
from eventlog.cli.show.events import kind_of
from eventlog.cli.suggestions import NearChoice
from eventlog.cli.terminal import emit, is_terminal, print_lines, say
from eventlog.format.errors import BadRequest
from eventlog.format.text import one_line, spelled_out
from eventlog.store import Store


def _directory_meant(ctx: click.Context, param: click.Parameter, value: str) -> str | None:
    """Return the directory at a path, else the project of that name."""
    found = Path(value).resolve()
    return str(found) if found.is_dir() else options.project_meant(ctx, param, value)


_LINE_END = re.compile("\r\n|\r|\n")  # the line ends of Python
_project = partial(click.option, "--project", default=".", metavar="NAME|DIR", callback=_directory_meant)


@options.group(
    "eventlog lifecycle run start --session $ID",
    "eventlog lifecycle run end --session $ID --reason done",
    "eventlog lifecycle hooks",
    "eventlog lifecycle trust",
)
@options.store_of_verbs
def _lifecycle_command(store: str | None) -> None:
    """Record the start or end of a session for hosts without hooks; list and trust session hooks."""
    del store


@options.verb(
    "eventlog lifecycle run start --session $ID --agent my-agent",
    "eventlog lifecycle run end --session $ID --reason done",
    of=_lifecycle_command,
)
@click.argument("moment", type=NearChoice(["start", "end"]))
@click.option("--session", required=True, metavar="ID", help="Conversation id of the agent.")
@_project(help="Directory the session works in, or a project by name [default: the current one].")
@options.program("Program that runs the session [default: cli].", default="cli")
@click.option("--reason", default="", help="Reason of the start (startup, resume, …) or end, in your words.")
@click.option("--issue", default="", metavar="ID", help="Issue of the session [default: from the name of its branch].")
def _run(moment: SessionMoment, session: str, project: str, agent: str, reason: str, issue: str, store: Store) -> int:
    """Record the event, then run the session hooks of config.yaml.

    In a pipe, prints one JSON line for the event and one per hook. Exits with 1 if a hook failed.
    """
    log = options.open_log(store)
    stored = record_session(log, moment, session, project, agent, reason)
    if is_terminal():
        say(f"recorded   {kind_of(stored)} of {one_line(stored.conversation_id)}  [{Display(store).id(stored.id)}]")
    else:
        emit({"status": "ok", "id": stored.id})
    settings = options.open_store(store).settings
    with _prints_to_stderr():
        outcomes = run_hooks(log, settings, stored, project, issue)
    for result, hook in ((outcome.result, outcome.hook) for outcome in outcomes):
        if is_terminal():
            say(f"{result.status:<10} {hook}: {result.message}")
        else:
            emit({"hook": hook, "status": result.status, "message": result.message, "details": result.details})
    return EXIT_FOUND if any(outcome.result.status is HookStatus.FAILURE for outcome in outcomes) else 0


@options.verb(
    "eventlog lifecycle hooks",
    "eventlog lifecycle hooks --project ~/shop",
    of=_lifecycle_command,
    brief="List the session hooks in the order they run.",
)
@_project(help="Project, by name or directory [default: the current one].")
def _hooks(project: str, store: Store) -> None:
    """List the session hooks in the order they run: those of config.yaml, then the project's own."""
    for hook in list_hooks(store, options.open_store(store).settings, project):
        say("  ".join((f"{hook.name:<12}", "on " if hook.enabled else "off", hook.note or "")).rstrip())


@options.verb(
    "eventlog lifecycle trust",
    "eventlog lifecycle trust ~/shop/.eventlog/session_hooks.py",
    of=_lifecycle_command,
    brief="Trust a project's own session hooks.",
)
@click.argument("file", default=".")
@click.option("--withdraw", is_flag=True, help="Withdraw the consent.")
def _trust(file: str, withdraw: bool, store: Store) -> int:
    """Trust a project's own session hooks: show its .eventlog/session_hooks.py and ask, on a terminal only.

    Only the bytes it displays may run; a changed file needs a new consent. FILE may be any directory of the project.
    [default: the current one]
    """
    own = OwnHooks.named(file)
    if withdraw:
        say(f"{own.path} {'is not trusted any more' if own.revoke(store) else 'was not trusted'}")
        return 0
    source = own.shown()
    if own.approval(store, source) != "trusted":
        if not _agrees(own.path, source):
            return EXIT_FOUND
        own.approve(store, source)
    say(f"{own.path} is trusted until it changes")
    return 0


def _agrees(path: Path, source: bytes) -> bool:
    """Show the file and ask for consent; raises BadRequest without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = f"eventlog lifecycle trust {path}"
        raise BadRequest("only a person can consent, on a terminal", where=str(path), hint=hint)
    lines = _LINE_END.split(source.decode("utf-8", "backslashreplace").removesuffix("\n"))
    print_lines(spelled_out(f"    {line}") for line in lines)  # so that nothing in the code is hidden
    return click.confirm(f"Run {path} at the start and the end of sessions, with all your rights?")


@contextmanager
def _prints_to_stderr() -> Iterator[None]:
    """Redirect the output of session hooks and their programs to stderr: stdout carries the report."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)
