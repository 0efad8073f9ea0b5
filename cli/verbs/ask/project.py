"""List and join projects: `eventlog project`."""

from collections.abc import Iterator, Sequence

import click

from eventlog.app.build.rebuild import replay_store
from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.naming.projects import all_projects
from eventlog.app.write.project_events import join_projects
from eventlog.cli import options
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import Answer, cells, hang, is_terminal, padded, print_error, say, show_lines, styled, table
from eventlog.format.text import one_line
from eventlog.log.event_log import EventLog
from eventlog.projections.views.project_list import ListedProject
from eventlog.store import Store


@options.group("eventlog project list", "eventlog project join ~/notes ~/src/shop")
@options.store_of_verbs
def _project_command(store: str | None) -> None:
    """List the projects of the log and their paths; join two into a single project."""
    del store


@options.verb(
    "eventlog project list",
    "eventlog project list --json",
    of=_project_command,
    brief="List every project and its paths.",
)
def _list(header: bool, store: Store) -> Answer:
    """List every project with its directory below knowledge/projects, and its paths.

    The address of its `origin` identifies a repository; its path and machine identify another directory.
    """
    found = all_projects(EventLog(store))
    return Answer(found, lambda: _show(found, header=header))


def _show(found: Sequence[ListedProject], *, header: bool) -> None:
    if not found:
        print_error("no project yet", "events name them: eventlog install AGENT, or eventlog fact TEXT")
    elif is_terminal():
        show_lines(_lines(found))
    else:
        places = ((project, machine, path) for project in found for machine, path in project.places)
        rows = ((project.name, project.project, machine or "", path) for project, machine, path in places)
        table(rows, header=header, name=0, project=0, machine=0, path=0)


def _lines(found: Sequence[ListedProject]) -> Iterator[str]:
    """Yield each project with its name, address and paths."""
    names = [one_line(project.name) for project in found]
    room = max(map(cells, names), default=0)
    for name, project in zip(names, found, strict=True):
        places = [f"{path} on {machine}" if machine else path for machine, path in project.places]
        address = [] if project.project in {path for _, path in project.places} else [project.project]
        head = f"{styled(padded(name, room), bold=True)}  "
        for place in [*address, *places]:
            yield from hang(head, one_line(place))
            head = " " * (room + 2)
    yield styled("to see its memory: eventlog memory NAME", dim=True)


def _of_any_machine(ctx: click.Context, param: click.Parameter, value: str) -> str | None:
    """Find a project by its directory, or machine and path, as they are listed; else as everywhere."""
    known = KnownProjects(ctx.params["store"])
    places = [(project.slug, f"{at}:{path}") for project in known.listed() for at, path in project.places if at]
    found = next((place for slug, place in places if value in (slug, place)), None)
    return found or options.project_meant(ctx, param, value)


@options.verb(
    "eventlog project join ~/notes shop", of=_project_command, brief="Join two projects into one, with one memory."
)
@click.argument("one", callback=_of_any_machine)
@click.argument("other", callback=_of_any_machine)
def _join(one: str | None, other: str | None, store: Store) -> int:
    """Join two projects and their memory; takes a name, a part of a path, a directory, or MACHINE:PATH each.

    The joined project has the address of the repository, if either has one. Prints the command to undo it.
    """
    if not (one and other):
        raise click.UsageError("give the names of two projects")
    opened = options.open_store(store)
    event = join_projects(opened, one, other)
    replay_store(opened)
    say(f"{one} and {other} are one project now")
    say(f"undo: eventlog undo {Display(store).short(event.id)}")
    return 0
