"""`python -m bench.memory`: who finds what was said, and who speaks when nobody needs it."""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.memory import figures, files, locomo, longmemeval, peers, start, store
from bench.memory.arms import ARMS, PLANNED, Arm
from bench.memory.locomo import Dialogue
from bench.memory.metrics import Interval
from bench.memory.own import needed as own_needs
from bench.memory.own import own
from bench.memory.world import Haystack, World

_RANKED = ("hit@1", "hit@5", "far@5", "recall@5", "nDCG@10")
_AT_PROMPTS = ("false fires", "needed told", "stale@5", "repeats", "leaks", "leaks, shared", "chars", "cold, × start")


_BEFORE_FILES = (
    "facts that name it", "decisions told at the prompt", "or with a file", "lines beside it", "other files", "chars",
)  # fmt: skip


def main() -> None:
    """Measure and print."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 160)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        arms = {name: ARMS[name]() for name in options.arms if name in ARMS}
        arms |= peers.arms(Path(scratch) / "peers") if options.peers else {}
        for table in _tables(Path(scratch), arms, options):
            console.print(table)
        for name in options.arms:
            if name in PLANNED and name not in ARMS:
                console.print(f"{name}: not built yet")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.memory")
    parser.add_argument("--arms", type=_names, default=[*ARMS], help=f"of {', '.join((*ARMS, *PLANNED))}")
    parser.add_argument("--peers", action="store_true", help="install projectmem and wake-memory, and ask them")
    parser.add_argument("--locomo", type=Path, metavar="PATH", help="locomo10.json: dialogues 4 to 10 are asked")
    parser.add_argument("--tune", action="store_true", help="dialogues 1 to 3 instead, and the other half of the tasks")
    parser.add_argument("--longmemeval", type=Path, metavar="PATH", help="longmemeval_s.json")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ARMS and name not in PLANNED:
            raise argparse.ArgumentTypeError(f"no arm {name!r}: {', '.join((*ARMS, *PLANNED))}")
    return names


def _tables(scratch: Path, arms: dict[str, Arm], options: argparse.Namespace) -> Iterator[Table]:
    world = own(datetime.now(UTC))
    haystack = store.build(world, scratch / "own" / "store")
    ranked, prompted = Table("arm", "asked", "n", *_RANKED), Table("at prompts", *_AT_PROMPTS)
    for name, arm in arms.items():
        for group, ranking in figures.rankings(_asked(arm, world, haystack)).items():
            ranked.add_row(name, group, *_shares(ranking))
        prompted.add_row(name, *_moment(arm, world))
    yield ranked
    yield prompted
    yield _before_files(haystack)
    yield _at_start(haystack.store, scratch / "nothing" / "store", tuning=options.tune)
    if options.locomo:
        dialogues = locomo.load(options.locomo)
        chosen = dialogues[: locomo.TUNING] if options.tune else dialogues[locomo.TUNING :]
        yield _elsewhere("LoCoMo", chosen, arms, scratch)
        yield _starts_elsewhere(chosen, scratch)
    if options.longmemeval:
        yield _elsewhere("LongMemEval", longmemeval.load(options.longmemeval), arms, scratch)


def _moment(arm: Arm, world: World) -> list[str]:
    told = figures.moment(arm, world)
    timed = figures.cold(arm, [question.query for question in world.questions])
    return [
        *(_percent(share) for share in told[:-1]),
        f"{told.chars:.0f}",
        f"{timed[0]:.0f} ms, {timed[1]:.1f}" if timed else "–",
    ]


def _before_files(haystack: Haystack) -> Table:
    """What is told before files are opened, by who tells it."""
    table = Table("before files", *_BEFORE_FILES)
    for name, tell in files.arms(haystack).items():
        found = files.measure(tell, haystack)
        table.add_row(name, *(_percent(share) for share in found[:-1]), f"{found.chars:.0f}")
    return table


def _at_start(store_of_it: Path, empty: Path, *, tuning: bool) -> Table:
    """What sessions start with, by each arm; and the control: the same of a store that does not exist."""
    table = Table("at start", "needed", "n", *(f"literally in {budget:,} characters" for budget in start.BUDGETS))
    needs = list(own_needs(tuning=tuning))
    sizes = Counter(need.group for need in needs)
    for name, arm in start.ARMS.items():
        asked = needs if name in start.ON_A_TRUNK else [need for need in needs if need.branch]
        for group, shares in start.presence(asked, store_of_it, arm).items():
            table.add_row(name, group, str(sizes[group]), *map(_percent, shares))
    for group, shares in start.presence(needs, empty, start.ours).items():
        table.add_row("the same, empty store", group, str(sizes[group]), *map(_percent, shares))
    return table


def _elsewhere(title: str, dialogues: Sequence[Dialogue], arms: dict[str, Arm], scratch: Path) -> Table:
    """Somebody else's questions, each asked of its own dialogue: which sessions, which turns hold the evidence."""
    table = Table(title, "asked", "n", *_RANKED)
    levels = ([dialogue.sessions for dialogue in dialogues], [dialogue.turns for dialogue in dialogues])
    for level, worlds in enumerate(levels):
        built = [(world, store.build(world, scratch / f"{title}-{level}" / str(n))) for n, world in enumerate(worlds)]
        for name, arm in arms.items():
            found = [one for world, haystack in built for one in _asked(arm, world, haystack)]
            for group, ranking in figures.rankings(found).items():
                table.add_row(name, group, *_shares(ranking))
    return table


def _starts_elsewhere(dialogues: Sequence[Dialogue], scratch: Path) -> Table:
    """The turns that are evidence for each question, in what a session of its dialogue starts with."""
    table = Table("LoCoMo at start", "n", *(f"literally in {budget:,} characters" for budget in start.BUDGETS))
    stores = [scratch / "LoCoMo-1" / str(number) for number in range(len(dialogues))]
    for name in start.ON_A_TRUNK:
        found = [
            start.looked_for(locomo.needed(dialogue.turns), built, start.ARMS[name])
            for dialogue, built in zip(dialogues, stores, strict=True)
        ]
        table.add_row(name, str(sum(len(one["turns"]) for one in found)), *map(_percent, start.shares(found)["turns"]))
    return table


def _asked(arm: Arm, world: World, haystack: Haystack) -> list[figures.Ranked]:
    arm.index(haystack)
    return figures.ranked(arm, world.questions)


def _shares(ranking: figures.Ranking) -> list[str]:
    return [str(ranking.questions), *("–" if share is None else _percent(share) for share in ranking[1:])]


def _percent(share: Interval) -> str:
    """75.1 (72.8-77.3): the mean and its 95 % interval, in per cent."""
    mean, low, high = (100 * value for value in share)
    return f"{mean:.1f} ({low:.0f}-{high:.0f})"


if __name__ == "__main__":
    main()
