"""Keywords in the text of facts: the words, names and runs of Han characters that several of them have; pure.

A run of Han characters is a word where what stands before it differs, and what stands after it does, too: parts of
words have the same neighbours wherever they stand (Harris 1955, From phoneme to morpheme).
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from heapq import heappush, heappushpop
from typing import NamedTuple

from eventlog.format.text import same_text
from eventlog.projections.search.ranking import subjects
from eventlog.projections.search.words import stem, tokens
from eventlog.projections.views.labels import MEANING

_MAX = 30
_MIN_TEXTS, _MIN_OF_A_WORD = 2, 3  # that have it; English words of every day are in two by chance
_READ_CHARS = 400  # of one
_WORD = (  # compiled for the first text: most replays read none
    r"[A-Za-z][A-Za-z0-9]*(?:[_./+#:@-]+[A-Za-z0-9]+)*|[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\u30a1-\u30ff]{2,}"
)
_FIRST_HAN, _LAST_HAN = "\u3400", "\u9fff"
_LONGEST_HAN, _SHORTEST_WORD = 4, 4
_ENGLISH = """
again allow allowed also already always another before beyond both come comes e.g every everything everywhere exactly
fact facts false
first from full get gives goes have i.e instead keep kept last less like long longer made make makes many must
name named needs never none nothing null once only other otherwise over same several since still take taken takes than
them then there they thing this time times true under until used uses using were what when where which while with
within without written
add added adds analysis based case change changed changes check checked checks close closed complete completed create
created creates current different done feature features follow implement implementation implemented issue issues new
open opened part problem problems project related result results run running runs session sessions show step steps
suggest suggestion support supported supports task tasks update updated updates work working works
"""
_CHINESE = """
一个 一律 一次 一样 不能 不再 不会 不得 个月 为了 之前 之后 也要 仅限 以上 以下 以内 以前 以后 任何 但是 其他
几个 原因 只有 只能 只要 可能 同时 否则 因为 如果 对应 已经 必须 应该 所有 所以 改成 时候 是否 有时 每个 每天
每次 比较 然后 由于 目前 直接 禁止 统一 自己 自动 要求 负责 这个 进行 还是 通过 那个 都要 除了 需要 默认 导致
当前 无法 立即
分析 创建 实现 工作 建议 支持 完成 使用 修改 增加 新增 添加 更新 删除 问题 功能 情况 内容 方式 方案 部分 相关 检查 处理
发现 存在 提供 提出 确保 具体 结果 用于 基于 包括 包含 项目 任务 步骤 讨论 结论 变更 说明 记录
"""
_SAY_LITTLE = frozenset((*_ENGLISH.split(), *_CHINESE.split()))
_BEGIN_NONE = frozenset("的了吗呢吧啊么是在和与或就也都把被请我你他她它这那哪个不没有能从由给让将但而其及")
_END_NONE = _BEGIN_NONE | frozenset("用加一两以为对会要到可使等并向")


class _TextKeyword(NamedTuple):
    """A keyword, as it is mostly spelled, and the texts that have it, by number; `key` is what its spellings share."""

    key: str
    word: str
    texts: frozenset[int]


def text_keywords(texts: Sequence[str]) -> list[_TextKeyword]:
    """Find what several of these texts name; what most of them name comes first."""
    runs = _runs([text[:_READ_CHARS] for text in texts])
    han_words = _han_words(runs)
    words = {word: runs[word] for word in _repeated(runs) if not _is_han(word)} | han_words
    by_key: dict[str, list[str]] = {}
    for word in sorted(words):
        by_key.setdefault(key_of(word), []).append(word)
    places = {key: sum(len(words[word]) for word in spellings) for key, spellings in by_key.items()}
    often: list[int] = []  # a heap of how many texts have the most frequent ones
    found = []
    for key in sorted(places, key=places.__getitem__, reverse=True):  # most say nothing, or come too late to be asked
        if len(often) == _MAX and places[key] < often[0]:
            break
        spellings = [word for word in by_key[key] if word in han_words or _says_something(word)]
        numbers = frozenset(number for word in spellings for number in words[word])
        mostly = max(spellings, key=lambda word: len(words[word]), default="")
        if mostly and len(numbers) >= (_MIN_OF_A_WORD if _is_plain(mostly) else _MIN_TEXTS):
            found.append(_TextKeyword(key, mostly, numbers))
            (heappush if len(often) < _MAX else heappushpop)(often, len(numbers))
    return sorted(found, key=lambda keyword: (-len(keyword.texts), keyword.key))[:_MAX]


@lru_cache(maxsize=1 << 14)
def key_of(word: str) -> str:
    """Reduce a word to what its spellings have in common: case and width, English endings, languages of the table."""
    same = same_text(word)
    return MEANING.get(same) or (stem(same) if same.isalpha() else same)


def _runs(texts: Sequence[str]) -> dict[str, list[int]]:
    """Collect words and runs of Han characters, each with the numbers of the texts it stands in, once per place."""
    found: dict[str, list[int]] = {}
    words_in = re.compile(_WORD).findall
    for number, text in enumerate(texts):
        for run in words_in(text):
            found.setdefault(run, []).append(number)
    return found


def _repeated(runs: Mapping[str, Collection[int]]) -> list[str]:
    """List the words that may have a key in common with another place; most stand in one place only."""
    roughly = {run: run[:_SHORTEST_WORD].lower() if run.isalpha() else run.lower() for run in runs}
    times = Counter(roughly.values())
    return [run for run, rough in roughly.items() if times[rough] > 1 or len(runs[run]) > 1]


def _is_han(run: str) -> bool:
    return _FIRST_HAN <= run[0] <= _LAST_HAN


def _is_plain(word: str) -> bool:
    """Return whether it is an English word, and no name of anything."""
    return word.isalpha() and word.isascii() and (word.islower() or word.istitle())


def _says_something(word: str) -> bool:
    is_long = len(word) >= (_SHORTEST_WORD if _is_plain(word) else 2)
    return is_long and not _is_han(word) and word.lower() not in _SAY_LITTLE and subjects(tokens(word)) != []


def _han_words(runs: Mapping[str, Collection[int]]) -> dict[str, list[int]]:
    """Find the words in runs of Han characters; of words in each other, in the same texts, the longest."""
    found: dict[str, list[int]] = {}
    beside: dict[str, tuple[set[str], set[str]]] = {}  # what stands before it, and after it
    of_han = {run: numbers for run, numbers in runs.items() if _is_han(run)}
    times: Counter[str] = Counter()
    for run, numbers in of_han.items():
        times.update(_grams(run) * len(numbers))
    for run, numbers in of_han.items():
        for start, end in _spans(len(run)):
            gram = run[start:end]
            if times[gram] < _MIN_TEXTS:  # as most are
                continue
            before, after = run[start - 1 : start], run[end : end + 1]
            found.setdefault(gram, []).extend(numbers)
            left, right = beside.setdefault(gram, (set(), set()))
            left |= {before} if before else {f"{run}{number}" for number in numbers}
            right |= {after} if after else {f"{run}{number}" for number in numbers}
    words = {
        gram: sorted(set(numbers))
        for gram, numbers in found.items()
        if min(map(len, beside[gram])) > 1 and _may_be_word(gram)
    }
    parts = {(part, *words[word]) for word in words for part in _grams(word) if part != word}
    return {word: numbers for word, numbers in words.items() if (word, *numbers) not in parts}


def _may_be_word(gram: str) -> bool:
    is_whole = gram[0] not in _BEGIN_NONE and gram[-1] not in _END_NONE
    return is_whole and gram not in _SAY_LITTLE and subjects([gram]) != []


def _grams(run: str) -> list[str]:
    """List two to four neighbours of a run, each as often as it stands there."""
    return [run[start:end] for start, end in _spans(len(run))]


@lru_cache(maxsize=16)
def _spans(length: int) -> list[tuple[int, int]]:
    """List where the neighbours of a run of that length begin and end."""
    sizes = range(2, min(_LONGEST_HAN, length) + 1)
    return [(start, start + size) for size in sizes for start in range(length - size + 1)]
