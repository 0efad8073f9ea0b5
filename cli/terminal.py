"""Print to programs, pipes and terminals: JSON, tab-separated columns, or wrapped tables with a pager."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

import msgspec

from eventlog.cli import put
from eventlog.format.errors import BadRequest
from eventlog.format.text import UNSAFE, cut, harmless, is_harmless, one_line

_HEAD = r"\s*(?:(?:\S+ )?\S+ {2,}|[-!✓✗·] +)?"  # of a line in columns, or of an item
_NARROWEST = 20  # cells for a text, however narrow the terminal
_LONGEST_ERROR = 2000  # characters of a line


def emit(value: object, *, pretty: bool = False) -> None:
    """Print one JSON document: on one line, or indented, of any depth."""
    if pretty:
        print_lines([_escaped(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())])
        return
    import orjson

    print_lines([_escaped(orjson.dumps(value, default=msgspec.to_builtins).decode())])


def emit_line(line: bytes) -> None:
    """Print a line of JSON byte for byte; on a terminal with escapes for what would act on that."""
    if is_terminal():
        print_lines([_escaped(line.decode("utf-8", "replace"))])
    else:
        sys.stdout.buffer.write(line + b"\n")


def _escaped(text: str) -> str:
    """Escape what would act on a terminal or hide; it stays the same JSON."""
    if is_harmless(text):
        return text
    return re.sub(UNSAFE, lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text)


class Answer(NamedTuple):
    """The answer of a verb: a value for programs, the function that prints it for people, and the exit code."""

    value: object
    show: Callable[[], object]
    code: int = 0

    def print(self, *, as_json: bool) -> int:
        """Print it as JSON or for people, and return the exit code."""
        if as_json:
            emit(self.value, pretty=True)
        else:
            self.show()
        return self.code


def is_terminal() -> bool:
    """Check whether stdout is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Count the cells of a line of the terminal."""
    return _size().columns


def _size() -> os.terminal_size:
    from shutil import get_terminal_size  # on a terminal only

    return get_terminal_size()


def say(text: str, *, whole: bool = False) -> None:
    """Print one line for people; wraps it on a terminal, indented below the start of its text.

    A `whole` line, with a command to copy, is not wrapped, and its paths are not abbreviated: quoted, ~ means nothing.
    """
    text = harmless(" ".join(text.splitlines()))
    if whole:
        print_lines([text])
        return
    head = re.match(_HEAD, text)
    assert head  # it matches nothing, too
    print_lines(hang(head.group(), text[head.end() :]))


def hang(head: str, text: str) -> list[str]:
    """Wrap a clean text behind a head, with a hanging indent; returns one line in a pipe."""
    return _broken(head, text) if is_terminal() else [head + text]


def _broken(head: str, text: str) -> list[str]:
    import click

    text = abbreviate_home(text)
    indent = cells(click.unstyle(head))
    first, *more = wrapped(text, max(_NARROWEST, width() - indent))
    return [head + first, *(" " * indent + line for line in more)]


def abbreviate_home(text: str) -> str:
    """Abbreviate paths below the user's home to `~/…`."""
    home = Path("~").expanduser()
    return text.replace(f"{home}/", "~/") if home.parent != home else text


def print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print clean lines, each at once; drop them once stdout or stderr takes no more."""
    file = sys.stderr if err else sys.stdout
    all(put(line, file) for line in lines)


def prints_nowhere() -> bool:
    """Return whether stdout is closed, has lost its reader, or is the null device."""
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), Path(os.devnull).stat())
    except OSError:
        return False


def show_lines(lines: Iterable[str]) -> None:
    """Print lines; on a terminal, page more than a screenful ($PAGER, else less)."""
    lines = iter(lines)
    first = list(islice(lines, _size().lines - 1)) if is_terminal() else []
    further = next(lines, None)
    if further is None or not is_terminal():
        print_lines(chain(first, [] if further is None else [further], lines))
        return
    import click

    os.environ.setdefault("LESS", "FRX")
    top = first.pop(0) if first else ""
    below = (f"\n{line}" for line in chain(first, [further], lines))  # click ends the last line
    click.echo_via_pager(chain([top], below), color=_wants_colours())


def show_page(text: str) -> None:
    """Print a page of Markdown: as it is in a pipe, with its tables drawn on a terminal."""
    if not is_terminal():
        show_lines(text.splitlines())
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    styles = {f"markdown.{part}": "bold" for part in ("h1", "h2", "h3", "code", "link", "link_url")}
    console = Console(width=width(), theme=Theme(styles), no_color=not _wants_colours())
    with console.capture() as shown:
        console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
    show_lines(line.rstrip() for line in shown.get().splitlines())


def print_error(text: str, hint: str = "") -> None:
    """Print an error and its remedy to stderr, without the end of a text that would fill the screen."""
    for head, whole in [("eventlog: ", text), *(("  ", line) for line in hint.splitlines())]:
        line = harmless(cut(whole, _LONGEST_ERROR))
        print_lines(_broken(head, line) if sys.stderr.isatty() else [head + line], err=True)


_COLOURS = {"✓": "green", "!": "yellow", "✗": "red"}


def confirm(question: str, *, yes: bool) -> bool:
    """Ask for confirmation; raises BadRequest without a terminal or `--yes`."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise BadRequest("cannot ask for confirmation without a terminal", hint="--yes confirms; nothing was changed")
    import click

    return click.confirm(question, err=not is_terminal())


def edited(text: str) -> str:
    """Open a text in the person's editor; raises BadRequest if it is not saved."""
    import click

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not (editor or sys.stdin.isatty()):
        raise BadRequest("cannot open an editor without a terminal", hint="set EDITOR; nothing was changed")
    try:
        after = click.edit(text, editor=editor, extension=".md", require_save=True)
    except click.ClickException as error:
        raise BadRequest(f"the editor failed: {editor}", hint="set EDITOR to another; nothing was changed") from error
    if after is None:
        raise BadRequest("the editor was left without saving", hint="nothing was changed")
    return after


def _wants_colours() -> bool:
    """Check for a terminal without NO_COLOR (no-color.org)."""
    return is_terminal() and not os.environ.get("NO_COLOR")


def styled(text: str, **style: Any) -> str:
    """Colour a text on a terminal, with the sixteen colours that every scheme keeps readable."""
    wanted = {name: value for name, value in style.items() if value is not None}
    if not (wanted and _wants_colours()):
        return text
    import click

    return click.style(text, **wanted)


def marked(mark: str) -> str:
    """Colour a mark by its meaning."""
    return styled(mark, fg=_COLOURS.get(mark), bold=True)


def count(number: int, noun: str, plural: str = "") -> str:
    """Format a number of things: `1 line`, `2,000 lines`; a noun of another script has no other form."""
    return f"{number:,} {noun if number == 1 or not noun.isascii() else plural or noun + 's'}"


def table(rows: Iterable[Sequence[str]], *, header: bool = False, **widths: int) -> None:
    """Print named columns: tab-separated in a pipe, with their names on request; a table on a terminal.

    A terminal cuts cells to the given width (0: never) and wraps the last column in the rest of the line.
    """
    if not is_terminal():
        print_lines("\t".join(map(one_line, row)) for row in chain([tuple(widths)] if header else [], rows))
        return
    limits = widths.values()
    shown = [
        [fit(abbreviate_home(one_line(cell)), limit or sys.maxsize) for cell, limit in zip(row, limits, strict=True)]
        for row in rows
    ]
    show_lines(_columns([*widths], shown, [limit > 0 for limit in limits]) if shown else ())


def _columns(names: list[str], rows: list[list[str]], may_be_cut: list[bool]) -> Iterator[str]:
    room = [max(map(cells, column)) for column in zip(names, *rows, strict=True)][:-1]
    spare = width() - _NARROWEST - sum(room) - 2 * len(room)
    for at in (at for at, may_be in enumerate(may_be_cut[:-1]) if may_be):
        less = max(0, min(-spare, room[at] - _NARROWEST))
        room[at], spare = room[at] - less, spare + less
    yield styled("  ".join([*map(padded, names, room), names[-1]]), bold=True)
    for row in rows:
        head = "".join(f"{padded(cell, limit)}  " for cell, limit in zip(row[:-1], room, strict=True))
        yield from (line.rstrip() for line in hang(head, row[-1]))


_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
_OPENS, _CLOSES = "([{“‘（「『【《〈［｛", ")]},.;:!?”’，。、；：！？）」』】》〉］｝…"


def cells(text: str) -> int:
    """Count the cells of a text: two for Chinese and most emoji, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(1 + (east_asian_width(char) in "WF") for char in text if category(char) not in {"Mn", "Me", "Cf"})


def fit(text: str, room: int) -> str:
    """Cut a text to a number of cells, with an ellipsis at its end."""
    if cells(text) <= room:
        return text
    length = next(end for end in range(len(text), -1, -1) if cells(text[:end]) < room or end == 0)
    return cut(text, length + 1)


def padded(text: str, room: int) -> str:
    """Cut or pad a text to a number of cells."""
    shown = fit(text, room)
    return shown + " " * (room - cells(shown))


def wrapped(text: str, room: int) -> list[str]:
    """Wrap a text between words or Han characters; a longer word stays whole."""
    lines, line = [], ""
    for unit in _unit().findall(text):
        if line and cells(line) + cells(unit.rstrip()) > room:
            lines.append(line.rstrip())
            line = ""
        line += unit
    return lines + [line.rstrip()] * bool(line.strip()) or [""]


@cache
def _unit() -> re.Pattern[str]:
    """Compile the unbreakable units, words and wide characters with punctuation: takes 4 ms, on terminals only."""
    opens, closes = re.escape(_OPENS), re.escape(_CLOSES)
    return re.compile(f"[{opens}]*[{_WIDE}][{closes}]* *|[^ {_WIDE}]+[{closes}]* *| +")


_BULLET = r"\s*(?:(?:[-*+]|\d+\.) +)?(?:\[[ x]\] )?"
_FENCE, _CODE = ("```", "~~~"), "    "


def wrap_markdown(lines: Iterable[str]) -> Iterator[str]:
    """Wrap Markdown for the terminal, without control characters; code stays unbroken, to be copied."""
    in_fence = False
    for line in map(harmless, lines):
        is_fence = line.lstrip().startswith(_FENCE)
        if in_fence or is_fence or line.startswith(_CODE):
            yield line
        elif line.startswith("#"):
            yield from (styled(part, bold=True) for part in hang("", line))
        else:
            bullet = re.match(_BULLET, line)
            assert bullet
            yield from hang(bullet.group(), line[bullet.end() :])
        in_fence ^= is_fence
