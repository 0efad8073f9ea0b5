"""`python -m bench.installed [OPTION OF BENCH...]`: the benchmarks as a user has the program, from a wheel.

An editable install takes 11 ms to find the package, in every process.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.installed import copied
from tests.support.tree import ROOT
from tests.support.wheel import build


def main(options: list[str]) -> int:
    """Build and install the wheel, and measure beside it; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch:
        place = Path(scratch)
        own = str(place / "venv" / "bin" / "python")
        wheel = build(place)
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        extras = ",".join(extra for extra in ("cluster", "sync") if f"--{extra}" in options)
        subprocess.run([*pip, f"{wheel}[{extras}]" if extras else str(wheel)], check=True)
        copied(ROOT / "bench", place / "bench")
        return subprocess.run([own, "-m", "bench", *options], cwd=place, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
