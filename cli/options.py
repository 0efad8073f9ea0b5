"""Options that several verbs share."""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from eventlog.app import open_store as opening
from eventlog.app.machine import Machine
from eventlog.app.open_store import OpenStore
from eventlog.errors import NotStored
from eventlog.log import EventLog
from eventlog.project import project_root
from eventlog.store import Store

_Function = TypeVar("_Function", bound=Callable[..., Any])
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def examples(*lines: str) -> str:
    """Make the closing paragraph of a verb's help, shown as it is."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _locate(ctx: click.Context, _: click.Parameter, value: str | None) -> Store:
    outer = ctx.parent.params.get("store") if ctx.parent else None
    found = Store.locate(value or outer, os.environ)
    if Path(found.root).exists() and not Path(found.root).is_dir():
        said = "--store" if value or outer else "EVENTLOG_HOME"
        raise NotStored("is a file, not the directory of a store", where=found.root, hint=f"correct {said}")
    return found


store = click.option(
    "--store",
    metavar="DIR",
    callback=_locate,
    help="Directory of the store [default: $EVENTLOG_HOME, else ~/.eventlog].",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def root_of(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Find the repository root of the path given; none for an empty one."""
    return project_root(value) if value else None


def _project(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Find the repository root of the path, else of where the command runs."""
    return root_of(ctx, param, str(Path.cwd()) if value is None else value)


def speaker(command: _Function) -> _Function:
    """Add the options that say who speaks: conversation, project, agent and layer of an event recorded by hand."""
    for option in (
        click.option(
            "--layer", type=click.IntRange(1, 4), help="Safety net that saved it [default: 1, the agent itself]."
        ),
        click.option("--agent", help="Program that says it [default: the conversation's, else cli]."),
        click.option(
            "--project",
            callback=_project,
            help="Directory of the project, '' for none [default: the repository of the current directory].",
        ),
        click.option(
            "--session",
            metavar="ID",
            help="Conversation id of the agent [default: that of the host's environment, else the newest at work in "
            "the project, else yours of today].",
        ),
    ):
        command = option(command)
    return command


def one_of(name: str, *flags: tuple[str, str, str]) -> Callable[[_Function], _Function]:
    """Add flags (spelling, value, help) of which one gives `name` its value; two are a usage error."""
    only = f"give only one of {', '.join(spelling for spelling, _, _ in flags)}"

    def choose(value: str, ctx: click.Context, _: click.Parameter, given: bool) -> None:
        chosen = ctx.params.setdefault(name, None)
        if given and chosen:
            raise click.UsageError(only)
        if given:
            ctx.params[name] = value

    def decorate(command: _Function) -> _Function:
        for spelling, value, text in reversed(flags):
            option = click.option(
                spelling, is_flag=True, expose_value=False, callback=partial(choose, value), help=text
            )
            command = option(command)
        return command

    return decorate


class TimeParam(click.ParamType[str]):
    """A date (`2026-02-20`) or an RFC 3339 time, as a timestamp of the log.

    A date means its first microsecond, or its last where `end` is set: `--until 2026-02-20` includes that day.
    """

    name = "time"

    def __init__(self, *, end: bool) -> None:
        self._end = end

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Convert the text; fails with a usage error where it is neither."""
        clock = "T23:59:59.999999Z" if self._end else "T00:00:00.000000Z"
        try:
            moment = datetime.fromisoformat(value + clock if _DATE.fullmatch(value) else value)
        except ValueError:
            self.fail(f"{value!r} is neither a date like 2026-02-20 nor a time like 2026-02-20T08:30:00Z", param, ctx)
        if moment.tzinfo is None:
            self.fail(f"{value!r} says no time zone; add Z or an offset like +08:00", param, ctx)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


since = click.option("--since", type=TimeParam(end=False), help="Only from this date or time on.")
until = click.option("--until", type=TimeParam(end=True), help="Only up to this date or time.")


def open_log(store: Store) -> EventLog:
    """Open the log of the store on this machine; to record something, a mistake in `config.yaml` is no obstacle."""
    return opening.open_log(store, Machine.here())


def open_store(store: Store) -> OpenStore:
    """Open the log and read the settings, on this machine; raises BadSettings."""
    return opening.open_store(store, Machine.here())
