"""One scenario of one host, in a process of its own: `python -m tests.realhosts.inside JSON`; prints its outcome."""

import json
import sys
import time
import traceback
from pathlib import Path

from tests.realhosts import fence, leftovers
from tests.realhosts.hosts import HOSTS
from tests.realhosts.outcome import Fails, Outcome, Skipped, expect
from tests.realhosts.scenarios import HEADLESS
from tests.realhosts.scene import Scene
from tests.realhosts.terminal import TERMINAL

_SPOILT = {
    "read-only-store",
    "full-store",
    "locked-store",
    "missing-package",
    "missing-python",
}  # where a hook may well fail


def main(order: dict[str, str]) -> Outcome:
    """Play the scenario that is ordered: `host`, `scenario`, `modules`, `python`, `root`, `fenced`."""
    if order["fenced"]:
        fence.raise_loopback()
    host, scenario = order["host"], order["scenario"]
    begun = time.monotonic()
    try:
        scene = Scene(HOSTS[host], Path(order["modules"]), Path(order["python"]), Path(order["root"]))
        note = (HEADLESS | TERMINAL)[scenario](scene)
        if scenario not in _SPOILT:
            _expect_health(scene)
        return Outcome(host, scenario, "ok", note, time.monotonic() - begun)
    except Skipped as skipped:
        return Outcome(host, scenario, "skipped", str(skipped))
    except Fails as fails:
        return Outcome(host, scenario, "fails", str(fails), time.monotonic() - begun)
    except Exception:  # noqa: BLE001 - an error of the suite itself is a failure that says where
        return Outcome(host, scenario, "fails", traceback.format_exc().strip()[-600:], time.monotonic() - begun)


def _expect_health(scene: Scene) -> None:
    """No hook failed, and every line of the log is whole."""
    errors = scene.store / "cache" / "hook-errors.log"
    expect(not errors.exists(), f"a hook failed: {errors.read_text()[-300:] if errors.exists() else ''}")
    scene.eventlog("verify")


if __name__ == "__main__":
    leftovers.adopt()
    outcome = main(json.loads(sys.argv[1]))
    leftovers.end_all()
    sys.stdout.write(json.dumps(outcome._asdict()) + "\n")
    sys.stdout.flush()
