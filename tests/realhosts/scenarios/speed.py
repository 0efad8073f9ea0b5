"""What our hooks cost: a turn with and without them, and each event as the host waits for it."""

import re
from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from tests.realhosts.model.script import Run
from tests.realhosts.outcome import expect
from tests.realhosts.scene import Scene

_PAIRS = 5
_NOTHING = "nothing"  # as an event: a Python that does nothing
# more than these ratios is a failure; a busy machine has shown up to 2.3, 12 and 4
_MOST_OF_A_TURN, _MOST_AT_START, _MOST_OF_OTHERS = 4.0, 20.0, 8.0
_MOST_PROCESSES = 6  # hooks of a turn with one call of a shell, with the start and the end of its session
_WATCH = """\
#!/bin/bash
TIMEFORMAT="$* %R %U %S"
exec 3>&2
{{ time "$0-itself" "$@" 2>&3 3>&-; }} 2>> '{times}'
"""
_TIMED = re.compile(r"--event (\w+)\b.* (\S+) (\S+) (\S+)$", re.MULTILINE)


class _Call(NamedTuple):
    """One process of a hook: its event, how long its host waited, and what it took of a processor; seconds."""

    event: str
    waited: float
    processor: float


def turn_with_and_without(scene: Scene) -> str:
    """Print a one-turn session's time with our hooks and without, in turns; far more with them is a failure."""
    scene.answered("Warm up.")
    scene.install()
    scene.answered("Warm up.")
    pairs = []
    for _ in range(_PAIRS):
        ours = scene.answered("Hello.").ended.seconds
        scene.eventlog("uninstall", scene.host.name)
        without = scene.answered("Hello.").ended.seconds
        scene.eventlog("install", scene.host.name)
        pairs.append((ours, without))
    ours, without = (median(times) for times in zip(*pairs, strict=True))
    ratio = median(one / other for one, other in pairs)
    told = f"{ratio:.2f} × ({ours:.2f} / {without:.2f} s)"
    expect(ratio <= _MOST_OF_A_TURN, f"a turn takes {told}")
    return told


def each_event(scene: Scene) -> str:
    """Print how long the host waits for each event of a turn, and its ratio to a Python that does nothing.

    Far more than that is a failure.
    """
    calls = _watched(scene)
    for _ in range(_PAIRS):
        scene.answered("Hello.")
    waited = defaultdict(list)
    for call in calls():
        waited[call.event].append(1000 * call.waited)
    nothing = median(waited.pop(_NOTHING))
    expect(waited, "no hook was called")
    for event, found in waited.items():
        most = _MOST_AT_START if event.lower() == "sessionstart" else _MOST_OF_OTHERS
        expect(median(found) <= most * nothing, f"{event} takes {median(found) / nothing:.1f} × a bare Python")
    told = (f"{event} {median(found):.0f} ms, {median(found) / nothing:.1f} ×" for event, found in waited.items())
    return f"{'; '.join(told)} (a Python that does nothing: {nothing:.0f} ms)"


def processes_of_a_turn(scene: Scene) -> str:
    """Print how many processes our hooks are in a session of one turn with one call of a shell, and their processor time.

    More processes than there ever were is a failure.
    """
    calls = _watched(scene)
    scene.model.script.when("touch it", Run("echo done > touched.txt"))
    scene.answered("Please touch it.")
    before = len(calls())
    for _ in range(_PAIRS):
        scene.answered("Please touch it.")
    nothing = median(call.processor for call in calls() if call.event == _NOTHING)
    found = [call for call in calls()[before:] if call.event != _NOTHING]
    count, processor = len(found) / _PAIRS, sum(call.processor for call in found) / _PAIRS
    expect(found, "no hook was called")
    expect(count <= _MOST_PROCESSES, f"{count:g} processes in one turn")
    return f"{count:g}, {1000 * processor:.0f} ms of processor, {processor / nothing:.1f} × a Python that does nothing"


def _watched(scene: Scene) -> Callable[[], list[_Call]]:
    """Install with a stopwatch in the place of the interpreter that the hooks are called with; return what reads it."""
    scene.own_installation()
    scene.install()
    times, python = scene.home.parent / "times", scene.python
    python.rename(f"{python}-itself")
    python.write_text(_WATCH.format(times=times))
    python.chmod(0o755)
    for _ in range(_PAIRS):
        scene.run([str(python), "-I", "-S", "-c", "pass", "--event", _NOTHING])

    def read() -> list[_Call]:
        lines = _TIMED.findall(times.read_text())
        return [_Call(event, float(real), float(user) + float(system)) for event, real, user, system in lines]

    return read
