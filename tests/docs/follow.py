"""A page of instructions, followed: its files are written, its commands run, its output compared."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.support import command_line
from tests.support.command_line import Ran
from tests.support.quick_shell import QuickShell
from tests.support.wheel import copy_floors

_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^`(?P<path>[\w./-]+)`(?:, (?P<where>after|in) `(?P<marker>[^`]+)`)?", re.MULTILINE)
# What pip does with a directory, without its looking around: have its backend build a wheel, and unpack that.
_PIP = """\
import os, sys, tempfile, zipfile
from setuptools import build_meta
os.chdir(sys.argv[-1])
with tempfile.TemporaryDirectory() as scratch:
    zipfile.ZipFile(f"{scratch}/{build_meta.build_wheel(scratch)}").extractall(os.environ["SITE"])
"""
_QUIETLY = '#!/bin/sh\n{} "$@" >"$SITE.log" 2>&1 || cat "$SITE.log" >&2\n'


class Step(NamedTuple):
    """A block of a page: a file, or commands with what they print.

    A part of a file goes behind the line that begins with a `marker` (`where`: after), or behind the marker itself (in).
    """

    language: str
    body: str
    path: str = ""
    where: str = ""
    marker: str = ""

    @property
    def commands(self) -> Iterator[tuple[str, str]]:
        """Each command of a terminal, and what is shown below it."""
        for told in re.split(r"^\$ ", self.body, flags=re.MULTILINE)[1:]:
            command, _, shown = told.partition("\n")
            yield command, shown


def steps(text: str) -> list[Step]:
    """The blocks of a page in their order; the file a block is for is named at the start of a line above it."""
    found, end = [], 0
    for block in _BLOCK.finditer(text):
        named = list(_FILE.finditer(text, end, block.start()))
        place = [part or "" for part in named[-1].groups()] if named else []
        found.append(Step(block["language"], block["body"], *place))
        end = block.end()
    return found


class Checkout:
    """A copy of this tree that can be changed, with a home and a store of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self._site = root / "site"
        self._modules: dict[str, ModuleType] = {}  # of this copy, beside those of the tests
        copy_floors(root, compiled=True)
        self.home.mkdir()
        environ = {
            "HOME": str(self.home),
            "PYTHONPATH": f"{root}:{self._site}",
            "SITE": str(self._site),
            "PYTEST_ADDOPTS": "-c /dev/null -p no:cacheprovider",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        self._shell = QuickShell(self.home, environ, self._call)
        self._shell.put("python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (root / "pip.py").write_text(_PIP)
        self._shell.put("pip", _QUIETLY.format(f"{sys.executable} {root / 'pip.py'}"))

    def close(self) -> None:
        """Leave nothing of it in this process."""
        self._shell.close()

    def write(self, step: Step) -> None:
        """Write the file of a step, or its part of one."""
        self._modules.clear()
        path = self.root / step.path
        if not step.marker:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.body, encoding="utf-8")
            return
        before = path.read_text(encoding="utf-8")
        [line] = [line for line in before.splitlines(keepends=True) if line.strip().startswith(step.marker)]
        after = line + step.body
        if step.where == "in":
            after = line.replace(step.marker, f"{step.marker}{step.body.strip()} ", 1)
        path.write_text(before.replace(line, after, 1), encoding="utf-8")

    def run(self, command: str) -> str:
        """What a command prints, in a shell of someone whose checkout this is."""
        ran = self._shell.run(command)
        assert ran.err == "", f"{command}\n{ran.err}"
        return ran.out

    def _call(self, *args: str, stdin: bytes) -> Ran:
        with self._ours():
            ran: Ran = command_line.call(*args, stdin=stdin, main=import_module("eventlog.cli.main").main)
            return ran

    @contextmanager
    def _ours(self) -> Iterator[None]:
        """Let `eventlog` be this copy of it, in this process."""
        path, finders, others = [*sys.path], [*sys.meta_path], _taken_out()
        sys.path[:0] = [str(self.root), str(self._site)]
        sys.meta_path[:] = [finder for finder in finders if getattr(finder, "__name__", "") != "eventlog.fast.modules"]
        sys.modules.update(self._modules)
        invalidate_caches()
        try:
            yield
        finally:
            self._modules = _taken_out()
            sys.modules.update(others)
            sys.path[:], sys.meta_path[:] = path, finders


def _taken_out() -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "eventlog"}


def follow(step: Step, checkout: Checkout) -> None:
    """Do what a block says; of commands, what they print is what stands below them, `…` for anything."""
    if step.language != "console":
        checkout.write(step)
        return
    for command, shown in step.commands:
        printed = checkout.run(command)
        pattern = re.escape(shown.removesuffix("\n")).replace("…", ".*")
        assert re.fullmatch(pattern, printed.removesuffix("\n"), re.DOTALL), f"{command}\n{printed}"
