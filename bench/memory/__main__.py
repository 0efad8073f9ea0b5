"""`python -m bench.memory`: who finds what was said, what users get of it, and who speaks when nobody needs it."""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.memory import delivered, figures, files, locomo, longmemeval, peers, start, store
from bench.memory.arms import ARMS, PLANNED, Arm
from bench.memory.delivered import Delivery, Work
from bench.memory.locomo import Dialogue
from bench.memory.metrics import Interval
from bench.memory.own import KINDS, own
from bench.memory.own import needed as own_needs
from bench.memory.world import Haystack, World

_PARTS = ("delivered", "ranked", "prompts", "files", "start", "locomo")
_RANKED = ("hit@1", "hit@5", "far@5", "recall@5", "nDCG@10")
_AT_PROMPTS = ("false fires", "needed told", "stale@5", "repeats", "leaks", "leaks, shared", "chars", "cold, × start")


_KIND_OF_PROMPT = tuple(f"{kind} {lang}" for kind in KINDS for lang in ("en", "zh"))
_DELIVERED = (
    "right session", "its file", "its cause", "its decision", "lines: right", "false", "noise", "foreign told", "chars",
)  # fmt: skip
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
    parser.add_argument("--only", type=_parts, default=_PARTS, metavar="PARTS", help=f"of {', '.join(_PARTS)}")
    parser.add_argument("--tune", action="store_true", help="dialogues 1 to 3 instead, and the other half of the tasks")
    parser.add_argument("--longmemeval", type=Path, metavar="PATH", help="longmemeval_s.json")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ARMS and name not in PLANNED:
            raise argparse.ArgumentTypeError(f"no arm {name!r}: {', '.join((*ARMS, *PLANNED))}")
    return names


def _parts(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := set(names) - set(_PARTS):
        raise argparse.ArgumentTypeError(f"no part {min(unknown)!r}: {', '.join(_PARTS)}")
    return names


def _tables(scratch: Path, arms: dict[str, Arm], options: argparse.Namespace) -> Iterator[Table]:
    now = datetime.now(UTC)
    world = own(now)
    haystack = store.build(world, scratch / "own" / "store")
    work = delivered.work(scratch / "work", now) if {"delivered", "start"} & {*options.only} else None
    if work and "delivered" in options.only:
        yield _delivered(arms, work, world, haystack)
    if "ranked" in options.only:
        yield _ranked(arms, world, haystack)
    if "prompts" in options.only:
        yield from _at_prompts(arms, world, haystack)
    if "files" in options.only:
        yield _before_files(haystack)
    if work and "start" in options.only:
        yield _at_start(haystack.store, scratch / "nothing" / "store", work, tuning=options.tune)
    if options.locomo:
        dialogues = locomo.load(options.locomo)
        chosen = dialogues[: locomo.TUNING] if options.tune else dialogues[locomo.TUNING :]
        if "locomo" in options.only:
            yield _as_recorded(chosen, arms, scratch)
        if {"ranked", "start"} & {*options.only}:
            yield _elsewhere("LoCoMo", chosen, arms, scratch)
            yield _starts_elsewhere(chosen, scratch)
    if options.longmemeval:
        yield _elsewhere("LongMemEval", longmemeval.load(options.longmemeval), arms, scratch)


def _ranked(arms: dict[str, Arm], world: World, haystack: Haystack) -> Table:
    table = Table("arm", "asked", "n", *_RANKED)
    for name, arm in arms.items():
        for group, ranking in figures.rankings(_asked(arm, world, haystack)).items():
            table.add_row(name, group, *_shares(ranking))
    return table


def _at_prompts(arms: dict[str, Arm], world: World, haystack: Haystack) -> Iterator[Table]:
    """What prompts are told; and the share of those about a fact that are told it, by how they ask."""
    prompted, by_kind = Table("at prompts", *_AT_PROMPTS), Table("told by how it is asked", *_KIND_OF_PROMPT)
    for name, arm in arms.items():
        arm.index(haystack)
        prompted.add_row(name, *_moment(arm, world))
        told = figures.covered_by_kind(arm, world.questions)
        by_kind.add_row(name, *(_percent(told[kind]) for kind in _KIND_OF_PROMPT))
    yield prompted
    yield by_kind


def _delivered(arms: dict[str, Arm], work: Work, world: World, haystack: Haystack) -> Table:
    """What is literally in the lines that prompts are told: of imported transcripts, and of the own set's sessions."""
    table = Table("delivered by", "to", "n", *_DELIVERED)
    sets: list[tuple[Haystack, Delivery]] = [(work.haystack, work.delivery), (haystack, delivered.of_own(world))]
    for name, arm in arms.items():
        for indexed, delivery in sets:
            arm.index(indexed)
            for group, found in delivered.measure(arm, delivery).items():
                shares = ("–" if share is None else _percent(share) for share in found[1:-1])
                table.add_row(name, group, str(found.asked), *shares, f"{found.chars:.0f}")
    return table


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


def _at_start(store_of_it: Path, empty: Path, work: Work, *, tuning: bool) -> Table:
    """What sessions start with, by each arm; and the control: the same of a store that does not exist."""
    table = Table("at start", "needed", "n", *(f"literally in {budget:,} characters" for budget in start.BUDGETS))
    needs = list(own_needs(tuning=tuning))
    sizes = Counter(need.group for need in needs)
    for name, arm in start.ARMS.items():
        asked = needs if name in start.ON_A_TRUNK else [need for need in needs if need.branch]
        for group, shares in start.presence(asked, store_of_it, arm).items():
            table.add_row(name, group, str(sizes[group]), *map(_percent, shares))
    of_work = list(work.needs())
    for name in start.ON_A_TRUNK:
        for group, shares in start.presence(of_work, work.haystack.store, start.ARMS[name]).items():
            count = sum(need.group == group for need in of_work)
            table.add_row(name, f"{group}: its file", str(count), *map(_percent, shares))
    for group, shares in start.presence(needs, empty, start.ours).items():
        table.add_row("the same, empty store", group, str(sizes[group]), *map(_percent, shares))
    return table


def _as_recorded(dialogues: Sequence[Dialogue], arms: dict[str, Arm], scratch: Path) -> Table:
    """What users will see of LoCoMo, all dialogues in one store: as facts, and as a host's transcripts."""
    table = Table("LoCoMo, the session", "recorded as", "n", *_RANKED)
    built = {
        "facts": locomo.as_facts(dialogues, scratch / "LoCoMo-facts" / "store"),
        "transcripts": locomo.as_transcripts(dialogues, scratch / "LoCoMo-transcripts"),
    }
    for name in (name for name in arms if name.startswith("ours")):
        for recorded, (world, haystack) in built.items():
            for ranking in figures.rankings(_asked(arms[name], world, haystack)).values():
                table.add_row(name, recorded, *_shares(ranking))
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
