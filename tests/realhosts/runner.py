"""Playing scenarios one after another, each in a process behind the fence."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.realhosts import leftovers, places
from tests.realhosts.outcome import Outcome

_MINUTES = 6  # no scenario takes longer, or it counts as hanging


class Stage(NamedTuple):
    """What all scenarios share: the hosts' packages, the Python that has eventlog, and the fence (none: [])."""

    modules: Path
    python: Path
    fence: list[str]

    def play(self, host: str, scenario: str) -> Outcome:
        """One scenario of one host."""
        root = places.own() / "runs" / f"{scenario}-{host}"
        paths = {"modules": str(self.modules), "python": str(self.python), "root": str(root)}
        order = json.dumps({"host": host, "scenario": scenario, **paths, "fenced": "yes" if self.fence else ""})
        command = [*self.fence, sys.executable, "-m", "tests.realhosts.inside", order]
        try:
            out, err = _run(command)
            outcome = Outcome(**json.loads(out.splitlines()[-1]))
            if outcome.verdict != "fails":  # what failed can be looked at
                shutil.rmtree(root, ignore_errors=True)
            return outcome._replace(note=outcome.note.replace(str(root), "…"))
        except (IndexError, ValueError):
            return Outcome(host, scenario, "fails", f"the scenario did not come to an end: {err.strip()[-300:]}")
        except subprocess.TimeoutExpired:
            return Outcome(host, scenario, "fails", f"still running after {_MINUTES} minutes", _MINUTES * 60)
        finally:
            leftovers.end_all()


def _run(command: list[str]) -> tuple[str, str]:
    """What a process says; it is ended, with all it started, when it takes too long."""
    running = subprocess.Popen(
        command,
        cwd=places.CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        return running.communicate(timeout=_MINUTES * 60)
    except BaseException:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        raise
