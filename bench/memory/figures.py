"""Ask an arm everything a world asks, and count."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.measure import FLOOR, compare, process
from bench.memory.arms import Arm, Line
from bench.memory.metrics import Interval, hit, interval, ndcg, recall
from bench.memory.own import NEEDED
from bench.memory.world import Query, Question, World

_COLD = 3  # queries timed as whole processes
Ranked = tuple[Question, list[str]]


class Ranking(NamedTuple):
    """How well questions of one group are answered; `far5` is the hit@5 of its far ones, where there are any."""

    questions: int
    hit1: Interval
    hit5: Interval
    far5: Interval | None
    recall5: Interval
    ndcg10: Interval


class Moment(NamedTuple):
    """What happens at prompts, as shares: of foreign ones told something, of needing ones told what they need, …

    Blind questions are not counted among those that need something: no gate on words could know.
    """

    false: Interval
    covered: Interval
    stale: Interval  # cases with something withdrawn or replaced among the first five, or told
    repeated: Interval  # lines told again in the same conversation
    leaked: Interval  # prompts with something of another project among the first five, or told
    overheard: Interval  # prompts of shared sessions told something about the user
    chars: float  # per prompt


def ranked(arm: Arm, questions: Iterable[Question]) -> list[Ranked]:
    """What the arm finds for each question that something answers."""
    return [(question, arm.rank(question.query)) for question in questions if question.gold]


def rankings(found: Sequence[Ranked]) -> dict[str, Ranking]:
    """By group, in the order of the questions."""
    groups = dict.fromkeys(question.group for question, _ in found)
    return {name: _ranking([one for one in found if one[0].group == name]) for name in groups}


def moment(arm: Arm, world: World) -> Moment:
    """Every prompt in a conversation of its own, but for the repeats."""
    projects = {unit.id: unit.project for unit in world.units}
    needing = [question for question in world.questions if question.gold and question.kind in ("", *NEEDED)]
    told = {question: arm.answer(question.query) for question in world.questions}
    foreign = [arm.answer(query) for query in world.foreign]
    everything = [*foreign, *told.values()]
    pairs = [question for question in needing if question.group == "pairs"]
    return Moment(
        false=interval([float(bool(lines)) for lines in foreign]),
        covered=interval([hit(_units(told[question]), question.gold, 99) for question in needing]),
        stale=interval([_stale(arm, question, told[question]) for question in world.questions if question.stale]),
        repeated=interval([again for prompts in world.repeats for again in _again(arm, prompts)]),
        leaked=interval([_leak(arm, question.query, told[question], projects) for question in pairs]),
        overheard=interval([_overheard(arm.answer(query), projects) for query in world.shared]),
        chars=statistics.fmean(sum(len(line.text) for line in lines) for lines in everything),
    )


def covered_by_kind(arm: Arm, questions: Iterable[Question]) -> dict[str, Interval]:
    """The share of prompts that are told what they need: near, far and blind ones, in each language.

    Each in a conversation of its own, in which nobody has asked before.
    """
    told: dict[str, list[float]] = {}
    for question in questions:
        if question.kind:
            group = f"{question.kind} {question.group.rpartition(' ')[2]}"
            query = question.query._replace(conversation=f"{question.query.conversation}-{question.kind} alone")
            told.setdefault(group, []).append(hit(_units(arm.answer(query)), question.gold, 99))
    return {group: interval(values) for group, values in told.items()}


def cold(arm: Arm, queries: Sequence[Query]) -> tuple[float, float] | None:
    """Milliseconds of a whole process, and how often the start of Python goes into it; None where there is none."""
    measured = [
        compare("", run, "", process(FLOOR), "", rounds=5)
        for query in queries[:: max(1, len(queries) // _COLD)][:_COLD]
        if (run := arm.cold(query))
    ]
    if not measured:
        return None
    return statistics.median(row.seconds for row in measured) * 1000, statistics.median(row.ratio for row in measured)


def _ranking(found: Sequence[Ranked]) -> Ranking:
    judged = [(ids, question.gold) for question, ids in found]
    far = [hit(ids, question.gold, 5) for question, ids in found if question.kind == "far"]
    return Ranking(
        questions=len(found),
        hit1=interval([hit(ids, gold, 1) for ids, gold in judged]),
        hit5=interval([hit(ids, gold, 5) for ids, gold in judged]),
        far5=interval(far) if far else None,
        recall5=interval([recall(ids, gold, 5) for ids, gold in judged]),
        ndcg10=interval([ndcg(ids, gold, 10) for ids, gold in judged]),
    )


def _stale(arm: Arm, question: Question, lines: Sequence[Line]) -> float:
    return float(not question.stale.isdisjoint([*arm.rank(question.query)[:5], *_units(lines)]))


def _leak(arm: Arm, query: Query, lines: Sequence[Line], projects: Mapping[str, str]) -> float:
    given = [*arm.rank(query)[:5], *_units(lines)]
    return float(any(projects[unit] not in ("", query.project) for unit in given))


def _overheard(lines: Sequence[Line], projects: Mapping[str, str]) -> float:
    return float(any(projects[unit] == "" for unit in _units(lines)))


def _again(arm: Arm, prompts: Sequence[Query]) -> Iterator[float]:
    """For every line told, whether this conversation had it before."""
    told: set[str] = set()
    for prompt in prompts:
        for unit in _units(arm.answer(prompt)):
            yield float(unit in told)
            told.add(unit)


def _units(lines: Iterable[Line]) -> list[str]:
    return [line.unit for line in lines]
