"""Show the memory of a project and of the user: `eventlog memory`."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

import click

from eventlog.app.ask.brief import KnownPage, known
from eventlog.cli import options, suggestions
from eventlog.cli.progress import phases
from eventlog.cli.terminal import clean, emit_pretty, hang, is_terminal, print_error, print_line, show_lines, styled
from eventlog.format.text import project_name
from eventlog.projections.views.markdown import DATED
from eventlog.store import Store

_BULLET = re.compile(rf"- (?:{DATED})?(?P<text>.*)")


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
def _memory_command(project: str | None, as_json: bool, store: Store) -> None:
    """Show the memory of a project, by its name or part of its path, and the memory of you.

    Without PROJECT, shows the one of the current directory; '' shows yours alone. Reads the log directly. Piped output
    is the generated Markdown.
    """
    opened = options.open_store(store)
    with phases() as phase:
        of_project, of_user = known(opened, project or "", phase("reading days"))
    pages = [page for page in (of_project if project else None, of_user) if page and page.lines]
    if as_json:
        emit_pretty([page._asdict() for page in pages])
    elif is_terminal() and pages:
        show_lines(_memory_lines(pages, opened.machine.now()[:10]))
    else:
        for line in chain(*([*page.lines, ""] for page in pages[:-1]), *(page.lines for page in pages[-1:])):
            print_line(line)
    _print_missing(project, of_project, pages)


def _print_missing(project: str | None, of_project: KnownPage, pages: list[KnownPage]) -> None:
    if not pages or (project and not of_project.lines):
        whom = f"of {project_name(project)}" if project else "about you"
        print_error(
            f"no memory {whom} yet", "eventlog fact TEXT saves something; `eventlog project list` lists projects"
        )


def _memory_lines(pages: Sequence[KnownPage], today: str) -> Iterator[str]:
    """Yield the lines of each page, and the command that explains a line."""
    for page in pages:
        if page.lines:
            yield from _page(page, today)
    yield styled("where a line comes from: eventlog why FILE:LINE", dim=True)


def _page(page: KnownPage, today: str) -> Iterator[str]:
    name = clean(project_name(page.project)) if page.project else "about you"
    yield f"{styled(name, bold=True)}  {styled(page.path, dim=True)}"
    room = len(str(len(page.lines)))
    for number, line in enumerate(page.lines[1:], 2):
        if line.startswith("#"):
            yield " " * (room + 4) + styled(clean(line.lstrip("# ")), bold=True)
        elif line.strip():
            yield from _line(f"{number:>{room}}", line, today)
    yield ""


def _line(number: str, line: str, today: str) -> list[str]:
    bullet = _BULLET.fullmatch(line)
    head = f"  {styled(number, fg='cyan')}  "
    if bullet is None:
        return hang(head, clean(line))
    day = _day(bullet["day"], today) + (bullet["marks"] or "").replace(" ", "\u00a0")
    *lines, last = hang(head, f"{clean(bullet['text'])}  {day}".rstrip())
    return [*lines, last.removesuffix(day) + styled(day.replace("\u00a0", " "), dim=True)]


def _day(date_text: str | None, today: str) -> str:
    """Format a day with unbreakable spaces."""
    if not date_text:
        return ""
    when = date.fromisoformat(date_text)
    return f"{when.day}\u00a0{when:%b}" + ("" if date_text[:4] == today[:4] else f"\u00a0{when.year}")
