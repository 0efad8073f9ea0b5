"""Options that several verbs share."""

import os
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from eventlog import hosts
from eventlog.app import open_store as opening
from eventlog.app.machine import Machine
from eventlog.app.open_store import OpenStore
from eventlog.cli import suggestions
from eventlog.format.errors import BadRequest, NotStored
from eventlog.hosts import room_name
from eventlog.log.event_log import EventLog
from eventlog.projects.root import project_root
from eventlog.store import Store

if TYPE_CHECKING:
    from eventlog.app.ask.history import Omission
    from eventlog.app.setup.install.install import InstallTarget


_WIDEST = 76  # cells of an example
_DIAGNOSES = "doctor"  # the verb that tells of a store what others fail at
_Function = TypeVar("_Function", bound=Callable[..., Any])


def examples(*lines: str) -> str:
    """Make the closing paragraph of a verb's help, shown as it is."""
    return "\b\nExamples:\n" + "\n".join(f"  {part}" for line in lines for part in _typed(line))


def _typed(line: str) -> Iterator[str]:
    """Break a command before an option, as a shell takes it, where it is wider than the narrowest terminal."""
    while len(line) > _WIDEST and (at := line.rfind(" --", 0, _WIDEST - 1)) > 0:
        yield f"{line[:at]} \\"
        line = f"   {line[at:]}"
    yield line


def located(explicit: str | None) -> Store:
    """Find the store that is meant; raises NotStored where nobody knows whose it is."""
    if os.path.expanduser("~") == "~" and not (explicit or os.environ.get("EVENTLOG_HOME", "").startswith("/")):  # noqa: PTH111
        raise NotStored("where your home directory is, nobody knows", hint="set HOME, or name a store with --store")
    return Store.locate(explicit, os.environ)


def _locate(ctx: click.Context, _: click.Parameter, value: str | None) -> Store:
    outer = _named_before(ctx)
    if ctx.info_name == _DIAGNOSES:
        return Store.locate(value or outer, os.environ)
    found = located(value or outer)
    if os.path.isfile(found.root):  # noqa: PTH113 - Path.is_file raises where one may not look
        said = "--store" if value or outer else "EVENTLOG_HOME"
        raise NotStored("is a file, not the directory of a store", where=found.root, hint=f"correct {said}")
    return found


def _named_before(ctx: click.Context) -> str | None:
    """Find the store that is named before the verb, or before the verb that this one is of."""
    while ctx.parent:
        ctx = ctx.parent
        if ctx.params.get("store"):
            return str(ctx.params["store"])
    return None


_STORE_HELP = "Directory of the store [default: $EVENTLOG_HOME, else ~/.eventlog]."
store_of_verbs = click.option("--store", metavar="DIR", help=_STORE_HELP)  # of a verb that has others: they look it up
store = click.option(
    "--store",
    metavar="DIR",
    callback=_locate,
    is_eager=True,  # names and times are looked up in it
    help=_STORE_HELP,
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
yes = click.option("--yes", is_flag=True, help="Do it without asking, for scripts.")

header = click.option("--header", is_flag=True, help="In a pipe, print the names of the columns first.")


def project_meant(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Find the project a name, a part of a path or a directory means; none for an empty one."""
    if not value or ctx.resilient_parsing:
        return None
    from eventlog.app.naming import projects  # reads the log, which a verb without a name need not

    cwd, home = str(Path.cwd()), Machine.here().home
    return projects.project_meant(EventLog(ctx.params["store"]), value, cwd=cwd, home=home)


def project_here(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Find the project that is meant, else that of where the command runs."""
    return project_root(str(Path.cwd())) or None if value is None else project_meant(ctx, param, value)


def directory_meant(ctx: click.Context, param: click.Parameter, value: str) -> str | None:
    """Find the directory a path means, as it is, else the project of that name."""
    found = Path(value).resolve()
    return str(found) if found.is_dir() else project_meant(ctx, param, value)


def session_meant(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Find the conversation that an id, a part of one or `last` means."""
    if value is None or ctx.resilient_parsing:
        return None
    from eventlog.app.naming import references

    return references.session_meant(EventLog(ctx.params["store"]), value)


def events_meant(ctx: click.Context, _: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Find the events that an id, a part of one or `FILE:LINE` means."""
    if value is None or ctx.resilient_parsing:
        return None
    from eventlog.app.naming import references
    from eventlog.app.naming.names import is_file_line

    store = ctx.params["store"]
    found = references.events_named(EventLog(store), value)
    if not found and is_file_line(value):
        found = references.events_behind(open_store(store), value)
    if not found:
        raise BadRequest(f"no event {value!r}", hint=references.WHERE)
    return tuple(found)


def omission(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> "Omission | None":
    """Read what is to be left out: `session=ID`, `id=EVENT`, `agent=NAME`."""
    if not value or ctx.resilient_parsing:
        return None
    from eventlog.app.ask.history import Omission
    from eventlog.app.naming import names, references

    del param
    opened = open_store(ctx.params["store"])
    found: dict[str, set[str]] = {"session": set(), "id": set(), "agent": set()}
    for said in value:
        kind, _, name = said.partition("=")
        if kind not in found or not name:
            raise click.UsageError(f"--without {said}: give session=ID, id=EVENT or agent=NAME")
        if kind == "session":
            found[kind].add(references.session_meant(opened.log, name))
        elif kind == "id":
            found[kind].add(references.event_meant(opened, name))
        else:
            found[kind].update(names.agents_meant(opened.log, [name]))
    return Omission(frozenset(found["session"]), frozenset(found["id"]), frozenset(found["agent"]))


def _agents(ctx: click.Context, _: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or ctx.resilient_parsing:
        return ()
    from eventlog.app.naming import names

    return names.agents_meant(EventLog(ctx.params["store"]), value)


def _types(ctx: click.Context, _: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or ctx.resilient_parsing:
        return ()
    from eventlog.app.naming import names

    return names.types_meant(EventLog(ctx.params["store"]), value)


def _named(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Translate an agent's name into that of the log; any program may say something."""
    return hosts.agent_name(value) if value else value


def program(text: str, default: str | None = None) -> Callable[[_Function], _Function]:
    """Make the option that names one program, by either of its names."""
    return click.option(
        "--agent", metavar="NAME", callback=_named, default=default, shell_complete=suggestions.agents, help=text
    )


current_project = click.option(
    "--project",
    shell_complete=suggestions.projects,
    callback=project_here,
    metavar="NAME|DIR",
    help="Project by name, part of its path, or directory; '' for none [default: the one you are in].",
)


def as_speaker(command: Callable[..., None]) -> Callable[..., None]:
    """Hand a command its options `session`, `project`, `agent` and `layer` as one value, `speaker`."""

    @wraps(command)
    def call(*, session: str | None, project: str | None, agent: str | None, layer: int | None, **others: Any) -> None:
        from eventlog.app.write.speaker import SpeakerOptions  # reads the log, which most verbs need not

        command(speaker=SpeakerOptions(session, project, agent, layer), **others)

    return call


def speaker(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say who speaks: conversation, project, agent and layer of an event recorded by hand."""
    command = as_speaker(command)
    for option in (
        click.option(
            "--layer", type=click.IntRange(1, 4), help="Safety net that saved it [default: 1, the agent itself]."
        ),
        program("Program that says it [default: the conversation's, else cli]."),
        current_project,
        click.option(
            "--session",
            metavar="ID",
            help="Conversation id of the agent [default: that of the host's environment, else the newest at work in "
            "the project, else yours of today].",
        ),
    ):
        command = option(command)
    return command


def exclusive_flags(name: str, *flags: tuple[str, str, str]) -> Callable[[_Function], _Function]:
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
    """A time as people say it, as a timestamp of the log.

    A day means its first microsecond, or its last where `end` is set: `--until 2026-02-20` includes that day.
    """

    name = "time"

    def __init__(self, *, end: bool) -> None:
        self._end = end

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Convert the text, in the user's time zone; fails with a usage error where it is no time."""
        from eventlog.app.naming.moments import moment, zone_of

        store = ctx.params.get("store") if ctx else None
        try:
            return moment(value, Machine.here().now(), zone_of(store or Store.locate(None, os.environ)), end=self._end)
        except BadRequest as error:
            self.fail(f"{error}; {error.hint}", param, ctx)


since = click.option("--since", type=TimeParam(end=False), help="Only from then on: 2d, yesterday, monday, a date, …")
until = click.option("--until", type=TimeParam(end=True), help="Only up to then, that day included.")
projects = click.option(
    "--project",
    metavar="NAME|DIR",
    callback=project_meant,
    shell_complete=suggestions.projects,
    help="Only of this project: its name, or part of its path.",
)
agents = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    callback=_agents,
    shell_complete=suggestions.agents,
    help="Only of this program, by either of its names; several with commas.",
)
types = click.option(
    "--type", "types", multiple=True, metavar="TYPE", callback=_types, help="Only of this type; several with commas."
)
session = click.option(
    "--session",
    metavar="ID|last",
    callback=session_meant,
    shell_complete=suggestions.sessions,
    help="Only of this conversation: its id, or part of it.",
)


def open_log(store: Store) -> EventLog:
    """Open the log of the store on this machine; to record something, a mistake in `config.yaml` is no obstacle."""
    return opening.open_log(store, Machine.here())


def open_store(store: Store) -> OpenStore:
    """Open the log and read the settings, on this machine; raises BadSettings."""
    return opening.open_store(store, Machine.here())


class NearChoice(click.Choice[str]):
    """A choice that names the nearest word."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """List the choices, or ask for the nearest of them."""
        from eventlog.app.naming.names import nearest

        del ctx
        words = [*map(str, self.choices)]
        near = nearest(str(value), words)
        asked = f"did you mean {' or '.join(near)}?" if near else f"say one of {', '.join(words)}"
        return f"no {str(value)!r}; {asked}"


class HostChoice(NearChoice):
    """A choice in which hosts are known by any of their names."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Translate any name of a host into the one of the command line."""
        return super().convert(room_name(value), param, ctx)


def install_target(store: Store) -> "InstallTarget":
    """Return where to install hooks: the user's home, and the project of the current directory."""
    from eventlog.app.setup.install.install import InstallTarget

    machine = Machine.here()
    return InstallTarget(store, Path(machine.home), Path(project_root(str(Path.cwd())) or Path.cwd()), machine.environ)
