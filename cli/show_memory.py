"""Memory files for people: line by line, each with its day and the number `why` takes."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from eventlog.app.known import KnownPage
from eventlog.cli.output import beside, clean, styled
from eventlog.text import project_name

_BULLET = re.compile(r"- (?:\[(?P<day>\d{4}-\d\d-\d\d)\] )?(?P<text>.*)")


def memory_lines(pages: Sequence[KnownPage], today: str) -> Iterator[str]:
    """Tell what is on each page, one after the other, and how to ask where a line comes from."""
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
        return beside(head, clean(line))
    told = _day(bullet["day"], today)
    *lines, last = beside(head, f"{clean(bullet['text'])}  {told}".rstrip())
    return [*lines, last.removesuffix(told) + styled(told.replace("\u00a0", " "), dim=True)]


def _day(day: str | None, today: str) -> str:
    """Name a day, with spaces at which no line is broken."""
    if not day:
        return ""
    when = date.fromisoformat(day)
    return f"{when.day}\u00a0{when:%b}" + ("" if day[:4] == today[:4] else f"\u00a0{when.year}")
