"""A terminal of so many columns, emulated: what a person sees of a command, and the bytes it was told."""

import io
import re
import sys
from contextlib import suppress
from unittest import mock

import pyte

from eventlog.cli.main import main

_STYLE = re.compile("\x1b\\[([0-9;]*)m")
_OURS = {*map(str, (0, 1, 2, 22)), *map(str, range(30, 38)), *map(str, range(90, 98)), "39", ""}


class _Tty(io.TextIOWrapper):
    def isatty(self):
        return True


class _Keyboard(_Tty):
    """What a person types, seen on the terminal as it is read."""

    def __init__(self, typed, screen):
        super().__init__(io.BytesIO(typed.encode()), encoding="utf-8")
        self._screen = screen

    def readline(self, size=-1):
        line = super().readline(size)
        self._screen.write(line)
        return line


def told(*args, columns=80, stdin=b"", answer="", colours=True, rows=24):
    """All that `eventlog ARGS`, called in this process, sends to a terminal; complaints last.

    With an answer a person is there to be asked.
    """
    printed, complained = io.BytesIO(), io.BytesIO()
    out = _Tty(printed, encoding="utf-8")
    err = _Tty(complained, encoding="utf-8")
    given = _Keyboard(answer, out) if answer else io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    environ = {
        "COLUMNS": str(columns),
        "LINES": str(rows),
        "TERM": "xterm-256color",
        "NO_COLOR": "" if colours else "1",
    }
    streams = mock.patch.multiple(sys, argv=["eventlog", *map(str, args)], stdin=given, stdout=out, stderr=err)
    patient = mock.patch("eventlog.cli.progress._SILENT_SECONDS", 3600.0)  # what takes long shows itself
    with mock.patch.dict("os.environ", environ), streams, patient, suppress(SystemExit):
        main()
    for stream in (out, err):
        stream.flush()
    return (printed.getvalue() + complained.getvalue()).decode()


def emulated(said, columns=80):
    """A terminal that was told it; what wraps is two lines."""
    rows = 2 * said.count("\n") + len(said) // columns + 2
    screen = pyte.Screen(columns, rows)
    pyte.Stream(screen).feed(said.replace("\n", "\r\n"))
    return screen


def seen(said, columns=80):
    """The lines a terminal shows of what it was told, without the blanks at their ends."""
    return text_on(emulated(said, columns))


def text_on(screen):
    """The lines of a screen down to the last that was written; the right half of a wide character is empty."""
    rows = (screen.buffer[row] for row in range(screen.cursor.y + 1))
    lines = ["".join(row[column].data for column in range(screen.columns)).rstrip() for row in rows]
    return "\n".join(lines).rstrip("\n") + "\n"


def foreign_styles(said):
    """The colours and attributes that are not among the sixteen of the terminal's own scheme, bold and dim."""
    return {code for style in _STYLE.findall(said) for code in style.split(";")} - _OURS


# a dark and a light scheme of terminals that many have, those of VS Code: the background, and the eight colours
_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
SCHEMES = {
    "dark": ("1e1e1e", ["000000", "cd3131", "0dbc79", "e5e510", "2472c8", "bc3fbc", "11a8cd", "e5e5e5"]),
    "light": ("ffffff", ["000000", "cd3131", "107c10", "949800", "0451a5", "bc05bc", "0598bc", "555555"]),
}
_LEGIBLE = 3.0  # contrast, as WCAG 2 asks of what is large or bold, and of marks


def illegible(screen):
    """The colours on a screen that cannot be read on a dark background or on a light one."""
    shown = {cell.fg for row in screen.buffer.values() for cell in row.values()} - {"default"}
    backgrounds = {cell.bg for row in screen.buffer.values() for cell in row.values()} - {"default"}
    weak = {
        (scheme, colour)
        for scheme, (ground, colours) in SCHEMES.items()
        for colour in shown
        if _contrast(dict(zip(_NAMES, colours, strict=True)).get(colour, ground), ground) < _LEGIBLE
    }
    return weak | {("any", ground) for ground in backgrounds}


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    parts = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
