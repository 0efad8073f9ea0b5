"""`eventlog memory`."""

from itertools import chain

import click

from eventlog.app.known import KnownPage, known
from eventlog.cli import options, suggestions
from eventlog.cli.output import complain, emit_pretty, is_terminal, print_line, show_lines
from eventlog.cli.progress import phases
from eventlog.cli.show_memory import memory_lines
from eventlog.store import Store
from eventlog.text import project_name


@click.command(
    epilog=options.examples(
        "eventlog memory", "eventlog memory shop", "eventlog memory shop --json", "eventlog memory ''"
    )
)
@click.argument(
    "project", metavar="[PROJECT]", required=False, callback=options.project_here, shell_complete=suggestions.projects
)
@options.as_json
@options.store
def command(project: str | None, as_json: bool, store: Store) -> None:
    """Show what is known: of a project, by its name or part of its path, and of you.

    Without PROJECT of the one you are in; '' for you alone. It is told from the log as it is now; in a pipe it is the
    Markdown that `eventlog replay` writes.
    """
    opened = options.open_store(store)
    with phases() as phase:
        of_project, of_user = known(opened, project or "", phase("reading days"))
    pages = [page for page in (of_project if project else None, of_user) if page and page.lines]
    if as_json:
        emit_pretty([page._asdict() for page in pages])
    elif is_terminal() and pages:
        show_lines(memory_lines(pages, opened.machine.now()[:10]))
    else:
        for line in chain(*([*page.lines, ""] for page in pages[:-1]), *(page.lines for page in pages[-1:])):
            print_line(line)
    _tell_what_is_missing(project, of_project, pages)


def _tell_what_is_missing(project: str | None, of_project: KnownPage, pages: list[KnownPage]) -> None:
    if not pages or (project and not of_project.lines):
        whom = f"of {project_name(project)}" if project else "of you"
        complain(
            f"nothing is known {whom} yet", "eventlog fact TEXT saves something; `eventlog project list` lists projects"
        )
