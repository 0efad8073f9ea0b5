"""The ranking of texts by how well they answer a query, and the gate before a prompt; pure.

Ranking      BM25 (Robertson and Zaragoza 2009) as SQLite's FTS5 computes it: of words, and of two that stand side by
             side in the query and in the text. Without FTS5, texts are ranked here, by the same tokens and constants.
Gate         most prompts need nothing, and get nothing. A text bears on a prompt if the words they share are rare
             enough together, and enough of what the prompt is about. Words of every day's work count for nothing:
             "run the tests" is about no test in particular.

Imported inside agents' hooks: standard library only.
"""

from math import log

from eventlog.projections.search.words import stem

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


RARE = 1.5  # times what a word tells that one text alone has
SHARE = 0.25  # of all that the words of the prompt tell
_OTHERS = 50  # texts that say nothing to the point: in a small store every word is rare
_ENGLISH = """
add anything ask back better branch bug build call change check clean code command commit continue create delete done
error example explain fail failing file find finish fix function good great help implement improve issue line list look
merge need new next nice ok okay open perfect problem project pull push question read refactor remove rename rerun
review right run script see show start stop summarise summarize sure task test tell thank thanks thing think time try
type undo update version want wait work write yes
"""
_CHINESE = """
继续 谢谢 多谢 感谢 测试 提交 代码 运行 修改 修复 文件 问题 检查 一下 什么 怎么 为什 没有 可以 现在 需要 这样 好的 看看
看一 不要 如何 解释 写一 一个 函数 项目 任务 完成 开始 更新 删除 添加 合并 分支
"""
_WORK = frozenset((*map(stem, _ENGLISH.split()), *_CHINESE.split()))


def subjects(asked: "Iterable[str]") -> list[str]:
    """List the tokens of a prompt that say what it is about, each once."""
    return [token for token in dict.fromkeys(asked) if token not in _WORK]


class Gate:
    """The gate of one subject; `having` counts the texts with each of its tokens, of all there are."""

    def __init__(self, having: "Mapping[str, int]", texts: int) -> None:
        self._having = having
        self._tells = {token: max(0.0, log((texts + _OTHERS) / (times + 0.5))) for token, times in having.items()}
        self.needed = max(RARE * log((texts + _OTHERS) / 1.5), SHARE * sum(self._tells.values()))

    def bears_on(self, text: "Collection[str]") -> bool:
        """Tell whether a text, by its tokens, bears on the subject."""
        shared = self.shared(text)
        return shared > 0 and shared >= self.needed

    def shared(self, text: "Collection[str]") -> float:
        """Weigh the tokens of a text that it shares with the subject."""
        return sum(tells for token, tells in self._tells.items() if token in text)

    def asked(self, most: int) -> dict[str, int]:
        """Choose the tokens to look for, with the texts that have them: all, where these are not more than so many.

        Else the rarest, and in any case as many that whatever bears on the subject has one of them.
        """
        deciding, rest = self._deciding(), most
        chosen: set[str] = set()
        for token in sorted(self._having, key=self._having.__getitem__) if deciding else ():
            rest -= self._having[token]
            if rest >= 0 or token in deciding:
                chosen.add(token)
        return {token: times for token, times in self._having.items() if token in chosen}

    def _deciding(self) -> "Collection[str]":
        """Find the tokens of which a text has to have one: all but the most common, which come to too little."""
        spare = self.needed
        tokens = sorted(self._tells, key=self._tells.__getitem__)
        while tokens and spare > self._tells[tokens[0]]:
            spare -= self._tells[tokens.pop(0)]
        return tokens
