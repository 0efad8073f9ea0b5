"""Playing scenarios, each in a process of its own behind the fence."""

import asyncio
import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.realhosts import places
from tests.realhosts.outcome import Outcome

_MINUTES = 12  # no scenario takes longer, also where others use the machine, or it counts as hanging


class Stage(NamedTuple):
    """What all scenarios share: the hosts' packages, the Python that has eventlog, and the fence (none: [])."""

    modules: Path
    python: Path
    fence: list[str]

    async def play(self, host: str, scenario: str) -> Outcome:
        """One scenario of one host."""
        root = places.own() / "runs" / f"{scenario}-{host}"
        paths = {"modules": str(self.modules), "python": str(self.python), "root": str(root)}
        order = json.dumps({"host": host, "scenario": scenario, **paths, "fenced": "yes" if self.fence else ""})
        command = [*self.fence, sys.executable, "-m", "tests.realhosts.inside", order]
        try:
            out, err = await run(command)
            outcome = Outcome(**json.loads(out.splitlines()[-1]))
            if outcome.verdict != "fails":  # what failed can be looked at
                shutil.rmtree(root, ignore_errors=True)
            return outcome._replace(note=outcome.note.replace(str(root), "…"))
        except (IndexError, ValueError):
            return Outcome(host, scenario, "fails", f"the scenario did not come to an end: {err.strip()[-300:]}")
        except TimeoutError:
            return Outcome(host, scenario, "fails", f"still running after {_MINUTES} minutes", _MINUTES * 60)


async def run(command: list[str]) -> tuple[str, str]:
    """Return what a process says; it is ended, with all it started, when it takes too long or nobody waits any more."""
    running = await asyncio.create_subprocess_exec(
        *command,
        cwd=places.CHECKOUT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_MINUTES * 60):
            out, err = await running.communicate()
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        await running.wait()
        raise
    return out.decode(errors="replace"), err.decode(errors="replace")
