"""Options that several verbs share, and the values they accept."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, wraps
from inspect import signature
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from eventlog import hosts
from eventlog.app import open_store as opening
from eventlog.app.open_store import Machine, OpenStore
from eventlog.cli import suggestions
from eventlog.cli.command import STORE_HELP, GivenOnce
from eventlog.cli.terminal import Answer, print_error
from eventlog.cli.verbs import VERBS
from eventlog.format.errors import BadRequest, NotStored
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projects.root import project_root
from eventlog.store import Store

if TYPE_CHECKING:
    from eventlog.app.setup.install.install import InstallTarget


_WIDEST = 76  # cells of an example
_MAY_BE_BLANK = {"content", "under", "session", "reason", "issue"}  # '' says something, or a host has none
_DIAGNOSES = "doctor"  # the verb that accepts a broken store
_BEGIN_STORES = ("backup restore", "sync join", "sync start", "team")  # and verbs of these topics
_TOPICS_OF_NEW_STORES = ("Agents", "Record")
_READING_TOPICS = ("Knowledge", "Audit")
_TELL_THEMSELVES = ("verify", "replay", "backup", "prune")  # verbs of these topics that list what cannot be read
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Verbs(GivenOnce, click.Group):
    """A group of verbs, with options of its own."""


def verb(
    *lines: str, of: click.Group | None = None, brief: str | None = None
) -> Callable[[Callable[..., object]], click.Command]:
    """Make a command of a function, with examples; `of` makes it a verb of that group, listed there as `brief`.

    A parameter with the name of a shared option gets it. Options stand in the order of the parameters. A function that
    returns an Answer has `--json`, and its answer is printed.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        named = list(signature(function).parameters)
        answers = function.__annotations__.get("return") is Answer
        if answers:
            named.insert(named.index("store") if "store" in named else len(named), "as_json")
        command = GivenOnce(
            function.__name__.strip("_"),
            params=_params(function, named),
            callback=_printing(function) if answers else function,
            help=function.__doc__,
            short_help=brief,
            epilog=examples(*lines),
        )
        if of:
            of.add_command(command)
        return command

    return decorate


def group(*lines: str, **more: Any) -> Callable[[Callable[..., Any]], click.Group]:
    """Make a group of verbs of a function, with examples."""
    return click.group(cls=_Verbs, epilog=examples(*lines), **more)


def _params(function: Callable[..., Any], named: list[str]) -> list[click.Parameter]:
    """List the parameters of a command in the order of the function's: its own, and those it shares.

    A text that is given must not be blank, but for those of events, whose fields are checked where they are appended.
    """
    own: list[click.Parameter] = getattr(function, "__click_params__", [])[::-1]  # decorators leave the last first
    places: dict[str, int] = {}
    at = 0
    for param in own:  # what sets no parameter of the function stays behind the one before it
        at = named.index(param.name) if param.name in named else at
        places[param.name] = at
        if not (param.callback or param.name in _MAY_BE_BLANK or "speaker" in named):
            param.callback = not_blank
    others = [_SHARED[name] for name in named if name in _SHARED and name not in places]
    places |= {param.name: named.index(param.name) for param in others}
    return sorted([*own, *others], key=lambda param: places[param.name])


def _printing(function: Callable[..., Answer]) -> Callable[..., int]:
    @wraps(function)
    def call(*, as_json: bool, **fields: Any) -> int:
        return function(**fields).print(as_json=as_json)

    return call


def shared(name: str) -> Callable[[_Function], _Function]:
    """Add a shared option to a command that names no parameter for it, as a group does."""

    def decorate(function: _Function) -> _Function:
        function.__click_params__ = [*getattr(function, "__click_params__", ()), _SHARED[name]]  # type: ignore[attr-defined]
        return function

    return decorate


def examples(*lines: str) -> str:
    """Format the examples that end a verb's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {part}" for line in lines for part in _typed(line))


def _typed(line: str) -> Iterator[str]:
    """Break a command wider than 76 cells before an option, with a backslash."""
    while len(line) > _WIDEST and (at := line.rfind(" --", 0, _WIDEST - 1)) > 0:
        yield f"{line[:at]} \\"
        line = f"   {line[at:]}"
    yield line


def located(explicit: str | None, ctx: click.Context) -> Store:
    """Locate the store; raises NotStored without a home directory or for a file, BadRequest for a mistyped `--store`.

    Only what records something, or concerns agents' hooks, may begin a store where `--store` names none.
    """
    if os.path.expanduser("~") == "~" and not (explicit or os.environ.get("EVENTLOG_HOME", "").startswith("/")):  # noqa: PTH111
        raise NotStored("cannot find your home directory", hint="set HOME, or name a store with --store")
    found = Store.locate(explicit, os.environ)
    if os.path.isfile(found.root):  # noqa: PTH113 - Path.is_file raises without permission
        source = "--store" if explicit else "EVENTLOG_HOME"
        raise NotStored("is a file, not the directory of a store", where=found.root, hint=f"correct {source}")
    if explicit and not (os.path.lexists(found.root) or _begins_store(ctx)):
        raise BadRequest("no such directory", where=found.root, hint="correct --store")
    return found


def _begins_store(ctx: click.Context) -> bool:
    path, topic = _path_of(ctx)
    return not path or topic in _TOPICS_OF_NEW_STORES or path.startswith(_BEGIN_STORES)


def _path_of(ctx: click.Context) -> tuple[str, str]:
    """Return the words of a verb, and the topic it is of."""
    path = ctx.command_path.partition(" ")[2]
    return path, VERBS[path.partition(" ")[0]].topic if path else ""


def _locate(ctx: click.Context, _: click.Parameter, value: str | None) -> Store:
    explicit = value or _named_before(ctx)
    if ctx.info_name == _DIAGNOSES:
        return Store.locate(explicit, os.environ)
    found = located(explicit, ctx)
    path, topic = _path_of(ctx)
    if topic in _READING_TOPICS and not path.startswith(_TELL_THEMSELVES) and not ctx.resilient_parsing:
        ctx.call_on_close(partial(_name_unreadable, found))
    return found


def _name_unreadable(store: Store) -> None:
    """Name on stderr the files of the log that cannot be read: what a verb has printed lacks what they hold."""
    with suppress(OSError):  # a log that cannot even be listed has been named
        if what := days.what_is_missing(store.log):
            print_error(what, "eventlog doctor tells what to do")


def _named_before(ctx: click.Context) -> str | None:
    """Find a --store given before the verb or its parent."""
    while ctx.parent:
        ctx = ctx.parent
        if ctx.params.get("store"):
            return str(ctx.params["store"])
    return None


store_of_verbs = click.option(  # of a verb with subcommands: they look it up
    "--store", metavar="DIR", help=STORE_HELP, callback=lambda ctx, _, value: value or _named_before(ctx)
)


def project_meant(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Find the project by name, part of a path, or directory; None for an empty value."""
    if not value or ctx.resilient_parsing:
        return None
    from eventlog.app.naming import projects  # reads the log, which a verb without a name need not

    cwd, home = str(Path.cwd()), Machine.here().home
    return projects.project_meant(EventLog(ctx.params["store"]), value, cwd=cwd, home=home)


def _project_here(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Find the named project, else that of the current directory."""
    return project_root(str(Path.cwd())) or None if value is None else project_meant(ctx, param, value)


def not_blank(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Return what was given for a parameter; refuse a blank text: the variable of a script may not be set."""
    texts = value if isinstance(value, tuple) else (value,)
    typed = is_given(param.name or "", ctx) and not ctx.resilient_parsing
    if typed and any(isinstance(text, str) and not text.strip() for text in texts):
        raise click.BadParameter("it is empty" if param.required else "it is empty; leave it out, or give one")
    return value


def is_given(name: str, ctx: click.Context | None = None) -> bool:
    """Check whether the command line has this parameter."""
    return (ctx or click.get_current_context()).get_parameter_source(name) is ParameterSource.COMMANDLINE


_EVERYWHERE = "eventlog.all_projects"  # of a context: `--all-projects` was given


def _scope_meant(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Find the named project, else the one you are in, where the log knows it; None stands for all."""
    if value is None:
        return _scope(ctx)
    if ctx.meta.get(_EVERYWHERE):
        raise click.UsageError("give --project or --all-projects, not both")
    not_blank(ctx, param, value)
    return project_meant(ctx, param, value)


def _scope(ctx: click.Context) -> str | None:
    if ctx.meta.get(_EVERYWHERE) or ctx.resilient_parsing:
        return None
    from eventlog.app.naming.known_projects import KnownProjects

    return KnownProjects(ctx.params["store"]).scope(project_root(str(Path.cwd())))


def _note_everywhere(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_EVERYWHERE] = value


all_projects = click.option(
    "--all-projects",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_note_everywhere,
    help="Of every project.",
)


def project_by(find: Callable[..., object], text: str, *names: str, **more: Any) -> Callable[[_Function], _Function]:
    """Make the option `--project`, whose value the callback `find` takes for a project."""
    completes = suggestions.projects
    return click.option(
        "--project", *names, metavar="NAME|DIR", callback=find, shell_complete=completes, help=text, **more
    )


def scope(command: _Function) -> _Function:
    """Pass a command the `project` it is about: the one you are in, another (`--project`), or None for all."""
    text = "Of this project: its name, part of its path, or a directory [default: the one you are in]."
    return project_by(_scope_meant, text)(all_projects(command))


def _names_meant(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Find the agents or types that are named, by the parameter they are for."""
    if not not_blank(ctx, param, value) or ctx.resilient_parsing:
        return ()
    from eventlog.app.naming import names

    meant = names.types_meant if param.name == "types" else names.agents_meant
    return meant(EventLog(ctx.params["store"]), value)


def _named(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Translate an agent's name into that of the log; accepts any program."""
    return hosts.agent_name(value) if value else value


def program(text: str, default: str | None = None) -> Callable[[_Function], _Function]:
    """Build the --agent option for one program, by either of its names."""
    return click.option(
        "--agent", metavar="NAME", callback=_named, default=default, shell_complete=suggestions.agents, help=text
    )


current_project = project_by(
    _project_here, "Project by name, part of its path, or directory; '' for none [default: the one you are in]."
)


def audience(text: str, **more: Any) -> Callable[[_Function], _Function]:
    """Make the option `--session-type`, of who reads a session."""
    return click.option("--session-type", type=suggestions.NearChoice(["main", "shared"]), help=text, **more)


def as_speaker(command: Callable[..., None]) -> Callable[..., None]:
    """Pass a command its options `session`, `project`, `agent` and `layer` as one value, `speaker`."""

    @wraps(command)
    def call(*, session: str | None, project: str | None, agent: str | None, layer: int | None, **others: Any) -> None:
        from eventlog.app.write.speaker import SpeakerOptions  # reads the log, which most verbs need not

        command(speaker=SpeakerOptions(session, project, agent, layer), **others)

    return call


def speaker(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for conversation, project, agent and layer of an event recorded by hand."""
    command = as_speaker(command)
    for option in (
        click.option(
            "--layer", type=Number(1, 4), help="Safety net that saved it, 1 to 4 [default: 1, the agent itself]."
        ),
        program("Program that records it [default: the conversation's, else cli]."),
        current_project,
        click.option(
            "--session",
            metavar="ID",
            help="Conversation id of the agent [default: from the host's environment, else the newest active one in "
            "the project, else yours of today].",
        ),
    ):
        command = option(command)
    return command


def exclusive_flags(name: str, *flags: tuple[str, str, str]) -> Callable[[_Function], _Function]:
    """Add mutually exclusive flags (spelling, value, help) that set `name`."""
    only = f"give only one of {', '.join(spelling for spelling, _, _ in flags)}"

    def choose(value: str, ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
        chosen = ctx.params.setdefault(name, None)
        if is_set and chosen:
            raise click.UsageError(only)
        if is_set:
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
    """A time in people's words, converted to a timestamp of the log.

    A day means its first microsecond, or its last if `end` is set: `--until 2026-02-20` includes that day.
    """

    name = "time"

    def __init__(self, *, end: bool) -> None:
        self._end = end

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Convert the text in the user's time zone; raises a usage error for an invalid time."""
        from eventlog.app.naming.moments import moment, zone_of

        store = ctx.params.get("store") if ctx else None
        try:
            return moment(value, Machine.here().now(), zone_of(store or Store.locate(None, os.environ)), end=self._end)
        except BadRequest as error:
            self.fail(f"{error}; {error.hint}", param, ctx)


def session_to(purpose: str) -> Callable[[_Function], _Function]:
    """Make the option `--session` of a verb that takes the id of a conversation, part of it, or `last`.

    It is looked up once all options are read: `last` is that of the project, and `--project` may stand behind it.
    """

    def decorate(command: _Function) -> _Function:
        @wraps(command)
        def call(*, session: str | None, **fields: Any) -> Any:
            meant = None if session is None else session_of_scope(session, click.get_current_context())
            return command(session=meant, **fields)

        option = click.option(
            "--session", metavar="ID|last", callback=not_blank, shell_complete=suggestions.sessions, help=purpose
        )
        return option(call)  # type: ignore[return-value]

    return decorate


def session_of_scope(reference: str, ctx: click.Context) -> str:
    """Find a conversation by id, part of an id, or `last`: the last of the project the verb is about."""
    from eventlog.app.naming import references

    return references.session_meant(EventLog(ctx.params["store"]), reference, project_of_last(ctx))


def project_of_last(ctx: click.Context) -> str | None:
    """Name the project whose last session is meant: `--project`, else that of the directory; None stands for all."""
    from eventlog.app.naming import references

    if ctx.params.get("project") or ctx.meta.get(_EVERYWHERE):
        return ctx.params.get("project")
    return references.last_of(ctx.params["store"], project_root(str(Path.cwd())))


session = session_to("Only this conversation: its id, part of it, or the last of the project.")


def open_log(store: Store) -> EventLog:
    """Open the log of the store on this machine; ignores mistakes in `config.yaml`."""
    return opening.open_log(store, Machine.here())


def open_store(store: Store, project: str | None = None) -> OpenStore:
    """Open the log and read the settings, on this machine, in that project or here; raises BadSettings."""
    machine = Machine.here()
    return opening.open_store(store, machine._replace(cwd=project) if project else machine)


class Number(click.ParamType[Any]):
    """A number of a kind, from the least to the most; without a most, one beyond what a machine counts means all."""

    name = "N"

    def __init__(self, least: int = 1, most: float = inf, kind: type[int | float] = int) -> None:
        self._least, self._most, self._kind = least, most, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number; raises a usage error."""
        try:
            number = self._kind(value)
        except ValueError:
            self.fail(f"{value!r} is not a {'whole ' if self._kind is int else ''}number", param, ctx)
        if not self._least <= number <= self._most:
            bounds = f"less than {self._least}" if self._most == inf else f"not between {self._least} and {self._most}"
            self.fail(f"{value} is {bounds}", param, ctx)
        return min(number, sys.maxsize)


def install_target(store: Store) -> "InstallTarget":
    """Return where to install hooks: the user's home, and the project of the current directory."""
    from eventlog.app.setup.install.install import InstallTarget

    machine = Machine.here()
    return InstallTarget(store, Path(machine.home), Path(project_root(str(Path.cwd())) or Path.cwd()), machine.environ)


_SHARED: dict[str, click.Option] = {  # by the parameter that asks for it
    "yes": click.Option(["--yes"], is_flag=True, help="Confirm without asking, for scripts."),
    "header": click.Option(["--header"], is_flag=True, help="In a pipe, print the names of the columns first."),
    "types": click.Option(
        ["--type", "types"],
        multiple=True,
        metavar="TYPE",
        callback=_names_meant,
        help="Only this type; several with commas.",
    ),
    "agents": click.Option(
        ["--agent", "agents"],
        multiple=True,
        metavar="NAME",
        callback=_names_meant,
        shell_complete=suggestions.agents,
        help="Only this program, by either of its names; several with commas.",
    ),
    "since": click.Option(
        ["--since"], type=TimeParam(end=False), help="Only since then: 2d, yesterday, monday, a date, …"
    ),
    "until": click.Option(["--until"], type=TimeParam(end=True), help="Only until then, that day included."),
    "as_json": click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs."),
    "store": click.Option(
        ["--store"],
        metavar="DIR",
        callback=_locate,
        is_eager=True,  # names and times are looked up in it
        help=STORE_HELP,
    ),
}
