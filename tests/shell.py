"""The command line, called in this process (fast) or as one of its own (real)."""

import io
import os
import subprocess
import sys
from typing import NamedTuple
from unittest import mock

from eventlog.cli.main import main
from tests.builders import ROOT


class Ran(NamedTuple):
    """How a command ended, and all it said."""

    code: int
    out: str
    err: str


def call(*args, stdin=b""):
    """`eventlog ARGS` in this process, with everything main() does."""
    out, err = _stream(), _stream()
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


def command(*args):
    return [sys.executable, "-m", "eventlog", *map(str, args)]


def surroundings(**environ):
    return {**os.environ, "PYTHONPATH": str(ROOT), **environ}


def _stream(data=b""):
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")


def _said(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()
