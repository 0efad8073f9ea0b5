"""Show the memory of a project and of the user: `eventlog memory`."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

import click

from eventlog.app.ask.brief import KnownPage, known
from eventlog.app.naming.names import OF_USER
from eventlog.cli import options, suggestions
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import emit, hang, is_terminal, print_error, print_lines, show_lines, styled
from eventlog.format.text import one_line, project_name
from eventlog.projections.views.markdown import DATED
from eventlog.store import Store

_BULLET = re.compile(rf"- (?:{DATED})?(?P<text>.*)")


def _project_meant(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Find the named project; "" for none, None where none is named."""
    return value and (options.project_meant(ctx, param, value) or "")


@options.verb("eventlog memory", "eventlog memory shop", "eventlog memory shop --json", "eventlog memory ''")
@click.argument(
    "named", metavar="[PROJECT]", required=False, callback=_project_meant, shell_complete=suggestions.projects
)
@options.current_project
@click.option("--all-projects", "everywhere", is_flag=True, help="Show the memory of every project.")
@click.option("--since", type=options.TimeParam(end=False), help="Only what was said since that day.")
def _memory_command(
    named: str | None, project: str | None, everywhere: bool, since: str | None, as_json: bool, store: Store
) -> None:
    """Show the memory of a project, by its name or part of its path, and the memory of you.

    Without PROJECT, shows the one of the current directory; '' shows yours alone. Reads the log directly. Piped output
    is the generated Markdown.
    """
    if (named is not None) + everywhere + options.is_given("project") > 1:
        raise click.UsageError("give only one of PROJECT, --project, --all-projects")
    project = project if named is None else named
    opened = options.open_store(store)
    pages = known(opened, None if everywhere else project or "", since or "")
    if is_terminal() and pages and not as_json:
        today = f"{Display(store).local(opened.machine.now()):%Y-%m-%d}"
        help_line = styled("where a line comes from: eventlog why FILE:LINE", dim=True)
        show_lines(chain(*(_page(page, today) for page in pages), [help_line]))
    elif as_json:
        emit([page._asdict() for page in _without_gaps(pages, since)], pretty=True)
    else:
        below = [page.lines for page in _without_gaps(pages, since)]
        print_lines(chain(*([*lines, ""] for lines in below[:-1]), *below[-1:]))
    if since and not pages:
        day = Display(store).local(since).date().isoformat()
        print_error(f"nothing was said since {day}", "eventlog memory without --since shows what holds")
    elif not (pages and (everywhere or not project or pages[0].project)):
        whom = f"of {project_name(project)}" if project else "about you"
        print_error(
            f"no memory {whom} yet", "eventlog fact TEXT saves something; `eventlog project list` lists projects"
        )


def _without_gaps(pages: Sequence[KnownPage], since: str | None) -> list[KnownPage]:
    return [page._replace(lines=[*filter(None, page.lines)]) if since else page for page in pages]


def _page(page: KnownPage, today: str) -> Iterator[str]:
    name = one_line(project_name(page.project)) if page.project else "about you"
    path = page.path if page.project else f"{OF_USER}{page.path}"  # MEMORY.md alone may be the project's
    yield f"{styled(name, bold=True)}  {styled(path, dim=True)}"
    room = len(str(len(page.lines)))
    for number, line in enumerate(page.lines[1:], 2):
        if line.startswith("#"):
            yield " " * (room + 4) + styled(one_line(line.lstrip("# ")), bold=True)
        elif line.strip():
            yield from _line(f"{number:>{room}}", line, today)
    yield ""


def _line(number: str, line: str, today: str) -> list[str]:
    bullet = _BULLET.fullmatch(line)
    head = f"  {styled(number, fg='cyan')}  "
    if bullet is None:
        return hang(head, one_line(line))
    day = (bullet["marks"] or "").replace(" ", "\u00a0")
    if bullet["day"]:
        when = date.fromisoformat(bullet["day"])
        day = f"{when.day}\u00a0{when:%b}" + ("" if today[:4] == bullet["day"][:4] else f"\u00a0{when.year}") + day
    *lines, last = hang(head, f"{one_line(bullet['text'])}  {day}".rstrip())
    return [*lines, last.removesuffix(day) + styled(day.replace("\u00a0", " "), dim=True)]
