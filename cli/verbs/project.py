"""`eventlog project`."""

import click

from eventlog.app.join_projects import join_projects
from eventlog.app.naming.projects import all_projects
from eventlog.app.rebuild import replay_store
from eventlog.cli import options
from eventlog.cli.output import emit_pretty, say
from eventlog.log import EventLog
from eventlog.store import Store
from eventlog.text import one_line


@click.group(epilog=options.examples("eventlog project list", "eventlog project join ~/notes ~/src/shop"))
def command() -> None:
    """List the projects the log knows, and where they lie; join two that are one."""


@command.command("list", epilog=options.examples("eventlog project list", "eventlog project list --json"))
@options.as_json
@options.store
def list_them(as_json: bool, store: Store) -> int:
    """List every project with its directory below knowledge/projects, and the paths it has.

    A repository is known by its address, wherever it lies; a directory without one by its path on its machine.
    """
    found = all_projects(EventLog(store))
    if as_json:
        emit_pretty(found)
        return 0
    for project in found:
        say(f"{one_line(project.name)}  {one_line(project.project)}")
        for replica, path in project.places:
            say(f"    {one_line(path)}{f'  on {one_line(replica)}' if replica else ''}")
    if not found:
        say("no project yet: events tell of them")
    return 0


@command.command(epilog=options.examples("eventlog project join ~/notes shop"))
@click.argument("one", callback=options.project_meant)
@click.argument("other", callback=options.project_meant)
@options.store
def join(one: str, other: str, store: Store) -> int:
    """Make one project of two, with one memory: a name, a part of a path, or a directory each.

    It is called by the address of its repository, where one of the two has one. Says how it is taken back.
    """
    opened = options.open_store(store)
    event = join_projects(opened, one, other)
    replay_store(opened)
    say(f"{one} and {other} are one project now")
    say(f"to take it back: eventlog append retraction target={event.id}, then eventlog replay")
    return 0
