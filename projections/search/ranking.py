"""The ranking of texts by how well they answer a query; pure.

It is BM25 (Robertson and Zaragoza 2009) as SQLite's FTS5 computes it: of words, and of two that stand side by side in
the query and in the text. Where there is no FTS5, texts are ranked here, by the same tokens and constants: with the
same result.
"""

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6
BESIDE = 0.5  # what two words side by side count of what a single one does that is as rare
_COMMON, _FEW = 0.05, 1000  # a token of a larger share of so many rows tells little and costs much


def idf(rows: int, having: int) -> float:
    """Return how much a token tells that so many of all rows have."""
    return max(_LEAST_IDF, log((rows - having + 0.5) / (having + 0.5)))


def telling(having: "Mapping[str, int]", rows: int) -> "list[str]":
    """Choose what to look for of the tokens asked: those that occur, without common ones where there are others."""
    there = [token for token, times in having.items() if times]
    rare = [token for token in there if having[token] <= max(_FEW, _COMMON * rows)]
    return rare or there


def side_by_side(asked: "Iterable[str]", chosen: "Collection[str]") -> "list[str]":
    """Pair the tokens that follow one another in a query, of those that are looked for."""
    pairs, before = [], ""
    for token in asked:
        if before in chosen and token in chosen:
            pairs.append(f"{before} {token}")
        before = token
    return pairs


def scan(rows: "Sequence[str]", asked: "Iterable[str]", prefix: str = "") -> dict[int, float]:
    """Score the rows that have any of these tokens or pairs, or a word with this beginning, by their number."""
    texts = [row.split() for row in rows]
    mean = sum(map(len, texts)) / max(1, len(texts))
    scores: dict[int, float] = {}
    for token in asked:
        _add(scores, texts, mean, [_times(token, text) for text in texts])
    if prefix:
        _add(scores, texts, mean, [sum(word.startswith(prefix) for word in text) for text in texts])
    return scores


def _times(asked: str, text: "Sequence[str]") -> int:
    """Count a token in a text, or where the two of a pair stand side by side."""
    words = asked.split()
    return text.count(asked) if len(words) == 1 else sum(text[at : at + 2] == words for at in range(len(text)))


def _add(scores: dict[int, float], texts: "Sequence[Sequence[str]]", mean: float, times: "Sequence[int]") -> None:
    """Add what one term contributes that occurs so often in each text."""
    tells = idf(len(texts), sum(map(bool, times)))
    for number, count in enumerate(times):
        if count:
            norm = count + _K1 * (1 - _B + _B * len(texts[number]) / mean)
            scores[number] = scores.get(number, 0.0) + tells * count * (_K1 + 1) / norm
