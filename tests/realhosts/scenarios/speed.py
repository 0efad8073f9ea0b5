"""What our hooks cost a turn, as a ratio within one run."""

from statistics import median

from tests.realhosts.outcome import expect
from tests.realhosts.scene import Scene

_RUNS = 3


def speed(scene: Scene) -> str:
    """Print a one-turn session's time with our hooks and without; no time is a failure."""
    scene.answered("Warm up.")
    without = [scene.answered("Hello.").ended.seconds for _ in range(_RUNS)]
    scene.install()
    scene.answered("Warm up.")
    recorded = len(scene.eventlog("query", "--format", "jsonl").splitlines())
    ours = [scene.answered("Hello.").ended.seconds for _ in range(_RUNS)]
    events = (len(scene.eventlog("query", "--format", "jsonl").splitlines()) - recorded) / _RUNS
    expect(events, "our hooks recorded nothing")
    cost = 1000 * (median(ours) - median(without)) / events
    return (
        f"{median(ours) / median(without):.2f} × ({median(ours):.2f} / {median(without):.2f} s), {cost:.0f} ms an event"
    )
