"""Someone with a fresh home who types what a page shows, and compares what is printed with what is shown."""

import re
from pathlib import Path

from tests.docs.follow import Step
from tests.support.quick_shell import QuickShell
from tests.support.tree import IMPORT_PATH

# what differs from machine to machine and from day to day
_DIFFERS = {
    "id": r"[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?",
    "short": r"(?<=\[)[0-9a-f]{6}(?=\])|(?<=resolve )[0-9a-f]{6}|(?<=undo )[0-9a-f]{6}|(?m:^)[0-9a-f]{6}(?=  ~)",
    "slug": r"shop-[0-9a-f]{6}",
    "time": r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d\.\d{6}Z)?",
    "home": r"/home/ada",
    "size": r"\d,\d{3}(?= characters)",
}
_DIFFERING = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _DIFFERS.items()))


class Reader:
    """Works in the repository `shop` of a home of their own; ids they were given stand for those the page shows."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        project = self.home / "shop"
        (project / ".git").mkdir(parents=True)
        self._shell = QuickShell(project, {"HOME": str(self.home), "PYTHONPATH": IMPORT_PATH})
        self._given: dict[str, str] = {}  # what the page shows -> what was printed instead

    def close(self) -> None:
        """Leave nothing behind."""
        self._shell.close()

    def run(self, command: str) -> str:
        """What a command prints, complaints last."""
        ran = self._shell.run(command)
        return ran.out + ran.err

    def follow(self, step: Step) -> None:
        """Type every command of a terminal, and compare."""
        for command, shown in step.commands:
            self._type(command, shown)

    def _type(self, command: str, shown: str) -> None:
        for there, here in self._given.items():
            command = command.replace(there, here)
        printed = self.run(command)
        found = re.fullmatch(_pattern(shown), printed, re.DOTALL)
        assert found, f"{command}\n{printed}"
        differing = [part.group() for part in _DIFFERING.finditer(shown)]
        self._given |= {there: here for there, here in zip(differing, found.groups(), strict=True) if "/" not in there}


def _pattern(shown: str) -> str:
    parts, end = [], 0
    for part in _DIFFERING.finditer(shown):
        pattern = r"/\S*?" if part.lastgroup == "home" else _DIFFERS[part.lastgroup or ""]
        parts += [re.escape(shown[end : part.start()]), f"({pattern})"]
        end = part.end()
    return "".join([*parts, re.escape(shown[end:])]).replace("…", ".*")
