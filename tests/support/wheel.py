"""The wheel of these sources, built in a copy of them: builds at the same time are not in each other's way."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.tree import ROOT

FLOORS = ("eventlog", "projections", "app", "cli")
_DESCRIPTION = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")


def copy_floors(place: Path, *, compiled: bool = False) -> None:
    """Copy the sources, links for type checkers among them, and what they are packed by; what is compiled, if asked."""
    others = shutil.ignore_patterns("*.pyc.*" if compiled else "__pycache__")  # the former are being written
    for folder in FLOORS:
        shutil.copytree(ROOT / folder, place / folder, symlinks=True, ignore=others)
    shutil.copytree(ROOT / "docs", place / "docs")
    for name in _DESCRIPTION:
        shutil.copy(ROOT / name, place)


def build(out: Path) -> Path:
    """Make the wheel through the sdist, as for an index; raises CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch:
        copy_floors(Path(scratch))
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), scratch]
        subprocess.run(command, check=True, capture_output=True, text=True)
    return next(out.glob("*.whl"))
