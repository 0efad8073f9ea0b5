"""Check what would be published: `make dist-check`.

The wheel is built twice and has to be the same, byte for byte; its bill of materials is written beside it; plugin,
bundle and registry entry keep the published rules of their formats; and the wheel runs from `uv tool run` and
`pipx run`, where those are installed and an index can be reached.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.support import sbom
from tests.support.published_rules import BUNDLE, PLUGIN, REGISTRY_ENTRY, violations
from tests.support.tree import ROOT
from tests.support.wheel import build

DIST = ROOT / "dist"
RUNNERS = {
    "uv": ["uv", "tool", "run", "--from", "{}", "eventlog", "--version"],
    "pipx": ["pipx", "run", "--spec", "{}", "eventlog", "--version"],
}


def main() -> int:
    """Print each check and its result; exit with 1 if one failed."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", _committed_at())
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch:
        first, second = (build(Path(scratch, name)) for name in ("first", "second"))
        same = first.read_bytes() == second.read_bytes()
        _say("same bytes twice", same, first.name)
        DIST.mkdir(exist_ok=True)
        wheel = Path(shutil.copy(first, DIST))
    bill = DIST / f"{wheel.stem}.cdx.json"
    bill.write_text(json.dumps(sbom.bill(wheel), indent=1) + "\n", encoding="utf-8")
    _say("bill of materials", True, bill.name)
    return 0 if all([same, _keeps_the_rules(), *(_runs(name, wheel) for name in RUNNERS)]) else 1


def _keeps_the_rules() -> bool:
    """Whether what `eventlog plugin build` writes keeps the rules of plugins, bundles and the registry."""
    with tempfile.TemporaryDirectory(prefix="eventlog-") as scratch:
        built = Path(scratch, "plugin")
        command = [sys.executable, "-m", "eventlog", "plugin", "build", str(built)]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, "HOME": scratch})
        with zipfile.ZipFile(built / "eventlog.mcpb") as bundle:
            found = [(BUNDLE, json.loads(bundle.read("manifest.json")))]
        found += [(REGISTRY_ENTRY, json.loads((built / "server.json").read_bytes()))]
        manifests = [*built.rglob("plugin.json"), *built.rglob("*-extension.json")]
        found += [(PLUGIN, json.loads(path.read_bytes())) for path in manifests]
    broken = [one for rule, document in found for one in violations(rule, document)]
    _say("plugin, bundle, registry entry", not broken, "; ".join(broken) or f"{len(found)} manifests")
    return not broken


def _committed_at() -> str:
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def _runs(name: str, wheel: Path) -> bool:
    """Whether a runner starts the wheel in an environment of its own; True where there is no such runner."""
    if not shutil.which(name):
        sys.stdout.write(f"skipped  {name}: not installed\n")
        return True
    command = [part.format(wheel) for part in RUNNERS[name]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    works = ran.returncode == 0 and ran.stdout.startswith("eventlog")
    _say(f"runs from {name}", works, ran.stdout.strip() or ran.stderr.strip()[-300:])
    return works


def _say(what: str, works: bool, about: str) -> None:
    sys.stdout.write(f"{'ok' if works else 'FAILED':<8} {what}: {about}\n")


if __name__ == "__main__":
    sys.exit(main())
