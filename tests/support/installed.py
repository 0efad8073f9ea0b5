"""Run the suite as a user would have the program: `python -m tests.support.installed PYTHON... [-- OPTION OF PYTEST...]`.

For each Python that is there the wheel is built and installed into an environment of its own, and the tests run in a
directory that holds them, their fixtures and the benchmarks only. Tests that need the source tree are skipped, and
say so. Ends with 1 where a suite failed, with 2 where no Python of those named is there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.tree import ROOT
from tests.support.wheel import build

COPIED = ("tests", "fixtures", "bench", "pyproject.toml")
USABLE = "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"


def main(arguments: list[str]) -> int:
    """Run the suite with every Python named; return the exit code."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    pythons = [found for name in arguments[:at] if (found := usable(name))]
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch:
        wheel = build(Path(scratch)) if pythons else None
        failed = [python for python in pythons if not passes(python, wheel, arguments[at + 1 :])]
    for python in pythons:
        sys.stderr.write(f"{python}: {'FAILED' if python in failed else 'passed'}\n")
    return 1 if failed else 0 if pythons else 2


def usable(name: str) -> str | None:
    """The path of a Python that can run the program, or None, and why."""
    for path in filter(None, (shutil.which(name), *kept_by_tools(name))):
        if not subprocess.run([path, "-c", USABLE], capture_output=True, check=False).returncode:
            return path
    sys.stderr.write(f"{name}: not here, or older than 3.11\n")
    return None


def kept_by_tools(name: str) -> list[str]:
    """List the Pythons of that name that pyenv and uv keep; pyenv's command on the PATH runs only the chosen one."""
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"), "versions")
    uv = Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share"), "uv", "python")
    return [str(path) for place in (pyenv, uv) for path in sorted(place.glob(f"*/bin/{name}"), reverse=True)]


def passes(python: str, wheel: Path | None, options: list[str]) -> bool:
    """Install the wheel and run the tests beside it."""
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch:
        place = Path(scratch)
        own = str(place / "venv" / "bin" / "python")
        subprocess.run([python, "-m", "venv", str(place / "venv")], check=True)
        pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"{wheel}[dev]"], check=True)
        for name in COPIED:
            copied(ROOT / name, place / name)
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [own, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider", *options]
        return not subprocess.run(command, cwd=place, env=environ, check=False).returncode


def copied(file: Path, place: Path) -> None:
    """Copy a file or a whole directory."""
    if file.is_dir():
        shutil.copytree(file, place)
    else:
        shutil.copy(file, place)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
