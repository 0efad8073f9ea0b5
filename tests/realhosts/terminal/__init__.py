"""The behaviours that only a terminal shows, by name."""

from collections.abc import Callable

from tests.realhosts.scene import Scene
from tests.realhosts.terminal import scenarios

TERMINAL: dict[str, Callable[[Scene], str]] = {
    "terminal-asked-once": scenarios.asked_once,
    "terminal-asked-kindly": scenarios.asked_kindly,
    "terminal-compaction": scenarios.compacted,
    "terminal-clear": scenarios.cleared,
    "terminal-leave": scenarios.left,
}
