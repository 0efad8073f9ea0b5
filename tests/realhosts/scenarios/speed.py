"""What our hooks cost: a turn with and without them, and each event as the host waits for it."""

import re
from collections import defaultdict
from pathlib import Path
from statistics import median

from tests.realhosts.outcome import expect
from tests.realhosts.scene import Scene

_PAIRS = 5
# more than these ratios is a failure; a busy machine has shown up to 2.3, 12 and 4
_MOST_OF_A_TURN, _MOST_AT_START, _MOST_OF_OTHERS = 4.0, 20.0, 8.0
_WATCH = """\
#!/bin/sh
began=$(date +%s%N)
"$0-itself" "$@"
code=$?
echo "$*" $(($(date +%s%N) - began)) >> '{times}'
exit $code
"""
_TIMED = re.compile(r"--event (\w+)\b.* (\d+)$", re.MULTILINE)


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
    scene.own_installation()
    scene.install()
    times = scene.home.parent / "times"
    _watch(scene.python, times)
    for _ in range(_PAIRS):
        scene.answered("Hello.")
        scene.run([str(scene.python), "-I", "-S", "-c", "pass", "--event", "nothing"])
    waited = defaultdict(list)
    for event, nanoseconds in _TIMED.findall(times.read_text()):
        waited[event].append(int(nanoseconds) / 1e6)
    nothing = median(waited.pop("nothing"))
    expect(waited, "no hook was called")
    for event, found in waited.items():
        most = _MOST_AT_START if event.lower() == "sessionstart" else _MOST_OF_OTHERS
        expect(median(found) <= most * nothing, f"{event} takes {median(found) / nothing:.1f} × a bare Python")
    told = (f"{event} {median(found):.0f} ms, {median(found) / nothing:.1f} ×" for event, found in waited.items())
    return f"{'; '.join(told)} (a Python that does nothing: {nothing:.0f} ms)"


def _watch(python: Path, times: Path) -> None:
    """Put a stopwatch in the place of the interpreter that the hooks are called with."""
    python.rename(f"{python}-itself")
    python.write_text(_WATCH.format(times=times))
    python.chmod(0o755)
