"""The command line, called in this process (fast) or as one of its own (real)."""

import io
import os
import pty
import select
import subprocess
import sys
from typing import NamedTuple
from unittest import mock

from eventlog.cli.main import main
from tests.support.tree import IMPORT_PATH


class Ran(NamedTuple):
    """How a command ended, and all it said."""

    code: int
    out: str
    err: str


def call(*args, stdin=b"", main=main):
    """`eventlog ARGS` in this process, with everything main() does."""
    out, err = _stream(), _stream(errors="backslashreplace")
    code = 0
    with mock.patch.multiple(sys, argv=["eventlog", *map(str, args)], stdin=_stream(stdin), stdout=out, stderr=err):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0
    return Ran(code, _said(out), _said(err))


def run(*args, stdin=b"", cwd=None, **environ):
    """`python -m eventlog ARGS` as a process."""
    ended = subprocess.run(
        command(*args), input=stdin, capture_output=True, cwd=cwd, env=surroundings(**environ), check=False
    )
    return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def on_a_terminal(*args, columns=100, typed="", to=None, expected=0, **environ):
    """What a command prints on a terminal, where this was typed; its answers go `to` a file descriptor, if any."""
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    environ = surroundings(**{"COLUMNS": str(columns), "TERM": "xterm-256color", "PAGER": "cat"} | environ)
    running = subprocess.Popen(command(*args), stdin=theirs, stdout=to or theirs, stderr=theirs, env=environ)
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], 120)[0]:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not chunk:
            break
        said += chunk
    os.close(ours)
    assert expected == running.wait()
    return said.decode()


def command(*args):
    return [sys.executable, "-m", "eventlog", *map(str, args)]


def surroundings(**environ):
    return {**os.environ, "PYTHONPATH": IMPORT_PATH, **environ}


def _stream(data=b"", errors="strict"):
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors=errors)


def _said(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()
