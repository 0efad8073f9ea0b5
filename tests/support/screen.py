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


def told(*args, columns=80, stdin=b"", colours=True, rows=24):
    """All that `eventlog ARGS`, called in this process, sends to a terminal; complaints last."""
    printed, complained = io.BytesIO(), io.BytesIO()
    out = _Tty(printed, encoding="utf-8")
    err = io.TextIOWrapper(complained, encoding="utf-8")
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    environ = {
        "COLUMNS": str(columns),
        "LINES": str(rows),
        "TERM": "xterm-256color",
        "NO_COLOR": "" if colours else "1",
    }
    streams = mock.patch.multiple(sys, argv=["eventlog", *map(str, args)], stdin=given, stdout=out, stderr=err)
    with mock.patch.dict("os.environ", environ), streams, suppress(SystemExit):
        main()
    for stream in (out, err):
        stream.flush()
    return (printed.getvalue() + complained.getvalue()).decode()


def seen(said, columns=80):
    """The lines a terminal shows of what it was told, without the blanks at their ends; what wraps is two lines."""
    rows = 2 * said.count("\n") + len(said) // columns + 2
    screen = pyte.Screen(columns, rows)
    pyte.Stream(screen).feed(said.replace("\n", "\r\n"))
    lines = [line.rstrip() for line in screen.display]
    return "\n".join(lines).rstrip("\n") + "\n"


def foreign_styles(said):
    """The colours and attributes that are not among the sixteen of the terminal's own scheme, bold and dim."""
    return {code for style in _STYLE.findall(said) for code in style.split(";")} - _OURS
