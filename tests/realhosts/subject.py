"""What is tested: the wheel of this checkout, installed as a user would, in an environment of its own."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.realhosts import places
from tests.realhosts.outcome import Skipped

_MINUTES = 5


def install() -> Path:
    """The Python of an environment that holds the wheel; raises Skipped where it cannot be made."""
    python = places.own() / "python" / "bin" / "python"
    try:
        if not python.exists():
            _run(sys.executable, "-m", "venv", str(python.parents[1]))
        with tempfile.TemporaryDirectory() as scratch:
            _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", scratch, str(places.CHECKOUT))
            wheel = str(next(Path(scratch).glob("*.whl")))
            pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            _run(*pip, wheel)
            _run(*pip, "--force-reinstall", "--no-deps", wheel)
    except subprocess.TimeoutExpired:
        raise Skipped(f"eventlog was still being installed after {_MINUTES} minutes") from None
    except subprocess.CalledProcessError as error:
        raise Skipped(f"eventlog could not be installed: {error.stderr.strip()[-300:]}") from None
    return python


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_MINUTES * 60)
