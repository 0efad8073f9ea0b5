"""A page of instructions, followed: its files are written, its commands run, its output compared."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.wheel import copy_floors

_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^`(?P<path>[\w./-]+)`(?:, (?P<where>after|in) `(?P<marker>[^`]+)`)?", re.MULTILINE)
_PROGRAMS = {"python": sys.executable, **{name: f"{sys.executable} -m {name}" for name in ("eventlog", "pip")}}


class Step(NamedTuple):
    """A block of a page: a file, or commands with what they print.

    A part of a file goes behind the line that begins with a `marker` (`where`: after), or behind the marker itself (in).
    """

    language: str
    body: str
    path: str = ""
    where: str = ""
    marker: str = ""


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
        self.home = self._cwd = root / "home"
        copy_floors(root)
        (root / "bin").mkdir()
        self.home.mkdir()
        for name, program in _PROGRAMS.items():
            (root / "bin" / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
            (root / "bin" / name).chmod(0o755)

    def work_in(self, project: str) -> None:
        """Run what follows in a repository of that name."""
        self._cwd = self.home / project
        (self._cwd / ".git").mkdir(parents=True)

    def write(self, step: Step) -> None:
        """Write the file of a step, or its part of one."""
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
        environ = {
            "HOME": str(self.home),
            "PATH": f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{self.root}{os.pathsep}{self.root / 'site'}",
            # into this checkout, from nowhere but this machine; to pip, "no isolation" is a 0
            "PIP_TARGET": str(self.root / "site"),
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
        }
        done = subprocess.run(
            command, shell=True, cwd=self._cwd, env=environ, text=True, capture_output=True, check=False
        )
        assert done.stderr == "", f"{command}\n{done.stderr}"
        return done.stdout


def follow(step: Step, checkout: Checkout) -> None:
    """Do what a block says; of commands, what they print is what stands below them, `…` for anything."""
    if step.language != "console":
        checkout.write(step)
        return
    for told in re.split(r"^\$ ", step.body, flags=re.MULTILINE)[1:]:
        command, _, expected = told.partition("\n")
        printed = checkout.run(command)
        pattern = re.escape(expected.removesuffix("\n")).replace("…", ".*")
        assert re.fullmatch(pattern, printed.removesuffix("\n"), re.DOTALL), f"{command}\n{printed}"
