"""Someone with a fresh home who types what a page shows, and compares what is printed with what is shown."""

import os
import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

from eventlog.format import codec
from tests.docs.follow import Step
from tests.support.command_line import Ran
from tests.support.quick_shell import QuickShell
from tests.support.screen import seen, told
from tests.support.tree import IMPORT_PATH

# what differs from machine to machine and from day to day
_DIFFERS = {
    "id": r"[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?",
    "short": r"(?<=\[)[0-9a-f]{6}(?=\])|(?<=resolve )[0-9a-f]{6}|(?<=undo )[0-9a-f]{6}|(?m:^)[0-9a-f]{6}(?=  ~)",
    "slug": r"shop-[0-9a-f]{6}",
    "time": r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d\.\d{6}Z)?",
    "day": r"\d\d? [A-Z][a-z]{2}(?: \d{4})? \d\d:\d\d",
    "home": r"/home/ada",
    "version": r"(?<=eventlog )\d+\.\d+\.\d+(?:\.dev\d+)?",
    "size": r"\d,\d{3}(?= characters)",
}
_DIFFERING = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _DIFFERS.items()))


class Reader:
    """Works in the repository `shop` of a home of their own; ids they were given stand for those the page shows."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self._project = self.home / "shop"
        (self._project / ".git").mkdir(parents=True)
        self._shell = QuickShell(self._project, {"HOME": str(self.home), "PYTHONPATH": IMPORT_PATH, "TZ": "UTC"})
        self._given: dict[str, str] = {}  # what the page shows -> what was printed instead

    def close(self) -> None:
        """Leave nothing behind."""
        self._shell.close()

    def run(self, command: str) -> str:
        """What a command prints, complaints last."""
        ran = self._shell.run(command)
        return ran.out + ran.err

    def follow(self, step: Step) -> None:
        """Do what a block is for: type it, run it, check it, or find it."""
        match step.language:
            case "console":
                for command, shown in step.commands:
                    self._type(command, shown)
            case "terminal":
                with self._shell.answering(_on_a_terminal):
                    self.follow(step._replace(language="console"))
            case "python":
                self._run(step.body)
            case "yaml":
                (self._project / "plan.yaml").write_text(step.body, encoding="utf-8")
                assert self.run("eventlog validate plan.yaml; echo $?").endswith("\n0\n")
            case "json":
                assert [codec.encode(codec.decode(line)) for line in self._lines(step)] == self._lines(step)
            case "markdown":
                files = (self.home / ".eventlog" / "knowledge").rglob("*.md")
                assert step.body in [path.read_text(encoding="utf-8") for path in files]
            case language:
                assert not language, "a kind of block that nobody knows how to follow"

    def _run(self, code: str) -> None:
        environ = mock.patch.dict(os.environ, {"HOME": str(self.home)})
        with environ, chdir(self._project), redirect_stdout(StringIO()):
            exec(compile(code, "README.md", "exec"), {"__name__": "readme"})

    def _lines(self, step: Step) -> list[bytes]:
        return step.body.encode().splitlines()

    def _type(self, command: str, shown: str) -> None:
        for there, here in self._given.items():
            command = command.replace(there, here)
        printed = self.run(command)
        found = re.fullmatch(_pattern(shown), printed, re.DOTALL)
        assert found, f"{command}\n{printed}"
        differing = [part.group() for part in _DIFFERING.finditer(shown)]
        self._given |= {there: here for there, here in zip(differing, found.groups(), strict=True) if "/" not in there}


def _on_a_terminal(*args: str, stdin: bytes) -> Ran:
    """What a person sees; colours aside."""
    return Ran(0, seen(told(*args, stdin=stdin, colours=False)), "")


def _pattern(shown: str) -> str:
    parts, end = [], 0
    for part in _DIFFERING.finditer(shown):
        pattern = r"/\S*?" if part.lastgroup == "home" else _DIFFERS[part.lastgroup or ""]
        parts += [re.escape(shown[end : part.start()]), f"({pattern})"]
        end = part.end()
    return "".join([*parts, re.escape(shown[end:])]).replace("…", ".*")
