"""How good a ranking is, and how sure that number is; pure.

Every measure is of one question: a list of ids, best first, against the set of those that answer it.
"""

import math
import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean
from typing import NamedTuple

_ROUNDS, _SEED = 1000, 7


class Interval(NamedTuple):
    """A mean and the 95 % of its bootstrap distribution that lie in the middle."""

    mean: float
    low: float
    high: float


def hit(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """1 where any of the first k answers."""
    return float(any(unit in gold for unit in ranked[:k]))


def recall(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """The share of all that is needed which stands among the first k; raises ZeroDivisionError without gold."""
    return len(gold & set(ranked[:k])) / len(gold)


def ndcg(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """Discounted gain of the first k over the best there could be (Järvelin and Kekäläinen 2002, binary gain)."""
    gain = sum(1 / math.log2(place + 2) for place, unit in enumerate(ranked[:k]) if unit in gold)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(k, len(gold))))


def interval(values: Sequence[float]) -> Interval:
    """The mean with its percentile interval, the same on every run; of nothing, zero."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    chance = random.Random(_SEED)
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(_ROUNDS))
    return Interval(fmean(values), means[round(0.025 * _ROUNDS)], means[round(0.975 * _ROUNDS) - 1])
