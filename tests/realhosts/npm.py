"""The hosts' npm packages, at the versions of `versions.json` or the newest, downloaded once."""

import json
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

from tests.realhosts import places
from tests.realhosts.outcome import Skipped

_VERSIONS = Path(__file__).parent / "versions.json"
_MINUTES = 8
_QUIETLY = ("--no-fund", "--no-audit", "--silent")
_WITHOUT_PATIENCE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000")


def install(*, latest: bool) -> Path:
    """The directory of the packages; raises Skipped where npm is missing or cannot download."""
    npm = shutil.which("npm")
    if not npm:
        raise Skipped("no npm on this machine")
    pinned = json.loads(_VERSIONS.read_text())
    wanted = [f"{package}@{'latest' if latest else version}" for package, version in pinned.items()]
    place = places.cache() / f"npm-{places.short(' '.join(wanted))}"
    place.mkdir(parents=True, exist_ok=True)
    with FileLock(place / "lock"):
        if latest or not (place / "complete").exists():
            _download(npm, wanted, place)
    return place / "node_modules"


def _download(npm: str, wanted: list[str], place: Path) -> None:
    command = [npm, "install", *_QUIETLY, *_WITHOUT_PATIENCE, "--prefix", str(place), *wanted]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_MINUTES * 60)
    except subprocess.TimeoutExpired:
        raise Skipped(f"npm was still downloading after {_MINUTES} minutes") from None
    except subprocess.CalledProcessError as error:
        raise Skipped(f"npm could not download the hosts: {_first_line(error.stderr)}") from None
    (place / "complete").touch()


def _first_line(said: str) -> str:
    return next((line.strip() for line in said.splitlines() if line.strip()), "it does not say why")
