"""The line that answers a question: what was asked, in which files, and why or how; pure.

A short statement is told whole. Of a longer text, and of a conversation, those parts are chosen that have most of the
words of the question, by what each of these words tells; no model.

Imported inside agents' hooks where something is told: standard library only, and no re.
"""

from eventlog.format.text import GERMAN_MONTHS, cut, joined, one_line
from eventlog.projections.search.findable import is_scratch, is_test, speaks_of, unnamed
from eventlog.projections.search.ranking import subjects
from eventlog.projections.search.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from eventlog.projections.search.findable import Findable

    Weights = Mapping[str, float]  # of the tokens of a question: what each tells

LONGEST = 300  # characters of a line
_LOOKED_THROUGH = 20_000  # characters of a text: a prompt does not wait for one of a megabyte
_ASKED = 100  # characters of what was asked
_FILES = _SENTENCES = 2
_SEPARATOR = " · "
_WORTH = 40  # characters of room that a second sentence needs
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_STEM = 4  # characters of a word that all its regular forms begin with
_BEFORE = 3  # words before the first that the question has
_DIGITS = 3  # of an item's number, at most
_LABEL = 12  # characters of a label, at most
_SHORTEST = 3  # words of a sentence that says anything by itself

# What a sentence counts beside the words it shares, in parts of the rarest word of the question.
_CAUSE, _FIX, _DECIDED, _UNFINISHED, _EMPTY = 1.0, 0.6, 0.6, -0.8, -2.0
# on what was before
_DEPENDS = ("this ", "these ", "that ", "those ", "it ", "they ", "这会", "这导致", "这使", "这样", "它")
_NAMED = ("fix", "change", "patch", "commit", "release", "branch", "pr ", "refactoring")  # `this fix` says of what
_OF_CAUSE = (
    " because ", " caused ", " cause ", " due to ", " issue was ", " bug was ", " problem was ", " error was ",
    " was missing", " were missing", " instead of ", " without ", " did not ", " didn't ", " does not ", " doesn't ",
    " never ", " only ", " failed ", "因为", "由于", "原因", "导致", "没有", "缺少", "不会",
)  # fmt: skip
_OF_FIX = (
    " changed ", " added ", " modified ", " replaced ", " updated ", " removed ", " moved ", " renamed ", " fixed ",
    " fix ", " fixes ", " now ", " uses ", " ensures ", "修复", "改为", "改成", "增加", "删除", "替换", "现在", "解决",
)  # fmt: skip
_INTENDS = (
    "let me", "let's", "i'll", "i will", "i'm going", "i am going", "i need to", "i want to", "now i", "now let",
    "next,", "first,", "here's", "here is", "here are", "perfect", "great", "excellent", "done!", "all tests",
    "the patch", "让我", "我来", "我将", "接下来", "好的", "完成", "问题已", "已成功", "已经成功",
)  # fmt: skip
_TESTED = ("works ", "tested", "verified", "test ", "the test", "test_", "测试", "验证")  # how, and not what was done
_WRITES = ("added ", "created ", "wrote ", "updated ")
_OF_HEADINGS = """
actual analysis applied background bug change changed changes code conclusion context created cause description
details done expected files fix fixes for implementation issue issues key made modified of outcome output overview
problem reproduce result results root solution steps summary test testing tests the to verification was what
总结 问题 原因 修复 方案 修改 测试 验证 结果
"""
_HEADINGS = frozenset(_OF_HEADINGS.split())
_PRAISES = ("I've successfully ", "I have successfully ", "I successfully ", "Successfully ", "I've ", "I have ")
_SMALL = frozenset(("the", "of", "was", "for", "to", "made", "done"))
_WIDE_ENDS = "。！？；"  # of sentences that may begin with any letter
_MONTHS = tuple("Mai " if month == "Mai" else month for month in GERMAN_MONTHS)  # `Mailand` is none
_ENDS = f".!?{_WIDE_ENDS}…"
_AFTER_END = "\"'`)]*”’」"  # may stand between the end of a sentence and the space
_MAY_END = frozenset(f"{_ENDS}{_AFTER_END}:")
_ITEMS = frozenset(("-", "*", "•", "–", "—", "✓", "✅", "✗", "❌", "|", ">>>", "..."))


def recalled_line(found: "Findable", weights: "Weights") -> str:
    """Write the line of at most 300 characters that answers a question with these words."""
    todo = max(found.left, key=lambda text: _shared(text, weights), default="")
    if is_todo(found, weights) and _shared(todo, weights):
        return cut(one_line(_SEPARATOR.join(filter(None, (found.topic, f"[ ] {todo}")))), LONGEST)
    whole, files = one_line(found.shown), _chosen_files(found, weights)
    if found.type == "fact" or (len(whole) <= LONGEST and found.type != "conversation_text"):
        shown = whole if len(whole) <= LONGEST else _excerpt(whole, weights, LONGEST)
        files = unnamed(files, shown)
        lines = (f"{shown}{_SEPARATOR}{', '.join(files[:count])}" for count in range(len(files), 0, -1))
        fitting = next((line for line in lines if len(line) <= LONGEST), "")
        if not files or fitting:
            return fitting or shown
    asked = _asked(found, weights)
    room = LONGEST - sum(len(part) + len(_SEPARATOR) for part in (asked, ", ".join(files)) if part)
    answer = _answer(found, weights, room, asked)
    parts = asked, ", ".join(unnamed(files, asked, answer)), answer
    return cut(_SEPARATOR.join(filter(None, parts)), LONGEST)


def is_todo(found: "Findable", weights: "Weights") -> bool:
    """Return whether a thing answers a question by a to-do alone."""
    return bool(found.left and weights) and weights.keys().isdisjoint(tokens(found.words))


def sentences(text: str) -> "Iterator[str]":
    """Yield the sentences and list items of a text that may be Markdown on one line, without code and headings."""
    number = 0
    for prose in text[:_LOOKED_THROUGH].split("```")[::2]:
        words = _spaced(prose).split()
        begin, is_heading = 0, False
        for at, word in enumerate(words):
            if word in _ITEMS or not word.strip("#") or _begins_item(word, number):
                number = int(word[:-1]) if word[0].isdecimal() else number
                yield from _sentence(words[begin:at], is_heading=is_heading)
                begin, is_heading = at + 1, word[0] == "#"
            elif word[-1] in _MAY_END and _ends(word, words[at + 1 : at + 2]):
                yield from _sentence(words[begin : at + 1], is_heading=is_heading)
                begin, is_heading = at + 1, False
        yield from _sentence(words[begin:], is_heading=is_heading)


def _spaced(text: str) -> str:
    """Put a space behind the ends of Chinese sentences."""
    if text.isascii():
        return text
    for end in _WIDE_ENDS:
        text = text.replace(end, f"{end} ")
    return text


def _begins_item(word: str, number: int) -> bool:
    """Return whether a word numbers an item of a list, behind that `number` or as the first: `2.`."""
    digits = word[:-1]
    return word[-1] in ".)" and digits.isdecimal() and len(digits) <= _DIGITS and int(digits) in (1, number + 1)


def _ends(word: str, after: "Sequence[str]") -> bool:
    """Return whether a sentence ends with a word, or with a field's name before it: `problem_statement:`."""
    if word[-1] == ":":
        return "_" in word and word[:-1].replace("_", "").isalnum()
    last = word.rstrip(_AFTER_END)
    if not last or last[-1] not in _ENDS or last.endswith(("e.g.", "i.e.", "vs.", "etc.", "cf.")):
        return False
    if last[-1] in _WIDE_ENDS:
        return True
    goes_on = after and after[0][0].islower() and not ("_" in after[0] or "()" in after[0])  # `total()` may begin one
    is_date = last[:-1].isdecimal() and after and f"{after[0]} ".startswith(_MONTHS)
    return not goes_on and not is_date and not (len(last) == len("J.") and last[0].isupper())


def _sentence(words: "Sequence[str]", *, is_heading: bool) -> "Iterator[str]":
    """Yield the content of words, without the heading they begin with, unless nothing else is left."""
    begin = _heading(words) if is_heading else 0
    text = " ".join(words[begin:]).replace("**", "").strip(" *#-")
    for praise in _PRAISES:
        if text.startswith(praise):
            text = text[len(praise) :]
            text = text[:1].upper() + text[1:]
    if text:
        yield text


def _heading(words: "Sequence[str]") -> int:
    """Count the words of a heading that has lost its line: capitalised words that headings have."""
    end = 0
    for at, word in enumerate(words):
        plain = word.strip("*:&").lower()
        if plain and plain not in _HEADINGS:
            break
        if plain not in _SMALL and (word.strip("*:&")[:1].isupper() or not plain.isascii()):
            end = at + 1
        elif plain not in _SMALL:
            break
    return end


def _asked(found: "Findable", weights: "Weights") -> str:
    """Choose what bears on the question of what was asked; its title where nothing has a word of it."""
    best, most = found.asked[0] if found.asked else "", 0.0
    for text in found.asked:
        for sentence in sentences(text):
            shared = _shared(sentence, weights)
            if shared > most:
                best, most = sentence, shared
    return _excerpt(one_line(best), weights, _ASKED)


def _answer(found: "Findable", weights: "Weights", room: int, topic: str) -> str:
    """Choose the sentences that give a reason or a way, in their order, as long as they fit.

    What stands beside the best of them is its other half: what was done about a reason, or why it was done.
    """
    unit = max(weights.values(), default=0.0) or 1.0
    known = {*tokens(topic), *tokens(found.asked[0] if found.asked else "")}
    decided = {_plain(sentence) for text in found.decisions for sentence in sentences(one_line(text))}
    ranked = []
    for place, sentence in enumerate(_candidates(found)):
        if text := _answered(sentence, topic):
            worth = _worth(text, weights, unit) + _DECIDED * unit * (_plain(text) in decided)
            worth += _EMPTY * unit * known.issuperset(subjects(tokens(text)))
            ranked.append((worth, -place, text))
    ranked.sort(reverse=True)
    chosen: list[tuple[int, str]] = []
    for worth, place, text in ranked:
        is_beside = bool(chosen) and abs(chosen[0][0] + place) == 1
        if not chosen or (worth >= (0 if is_beside else unit / 2) and _WORTH <= room >= len(text)):
            chosen.append((-place, _excerpt(text, weights, room)))
            room -= len(chosen[-1][1]) + len(_SEPARATOR)
        if len(chosen) == _SENTENCES:
            break
    *before, last = [text for _, text in sorted(chosen)] or [""]
    return joined([*(text if text[-1] in _MAY_END else f"{text} ·" for text in before), last])


def _answered(sentence: str, topic: str) -> str:
    """Return a sentence without the request that it answers, where the line has that already."""
    asked = topic.rstrip("?？")
    return "" if sentence == topic else sentence.removeprefix(f"{asked}：").removeprefix(f"{asked}: ")


def _candidates(found: "Findable") -> "Iterator[str]":
    """Yield the sentences that may answer, each once, whether or not a label is before it."""
    seen: set[str] = set()
    for text in found.answers:
        for sentence in sentences(one_line(text)):
            if _plain(sentence) not in seen:
                seen.add(_plain(sentence))
                yield sentence


def _plain(sentence: str) -> str:
    """Strip from a sentence its end, and a label of one word: `Decision: …`."""
    label, _, rest = sentence.replace("：", ": ").partition(": ")
    return (rest if rest and " " not in label and len(label) <= _LABEL else sentence).strip().rstrip(_ENDS)


def _worth(sentence: str, weights: "Weights", unit: float) -> float:
    """Weigh a sentence: by the words it shares, and by what kind of sentence it is."""
    lower = f" {sentence.lower()} "
    worth = _shared(sentence, weights)
    if any(word in lower for word in _OF_CAUSE):
        worth += _CAUSE * unit
    elif any(word in lower for word in _OF_FIX):
        worth += _FIX * unit
    if sentence[-1] in ":：":
        worth += _UNFINISHED * unit
    if lower[1:].startswith(_DEPENDS) and not lower.startswith(_NAMED, lower.find(" ", 1) + 1):
        worth += _UNFINISHED * unit
    if (
        lower[1:].startswith((*_INTENDS, *_TESTED))
        or _adds_tests(lower)
        or (lower.isascii() and lower.count(" ") <= _SHORTEST)
    ):
        worth += _EMPTY * unit
    if lower.isascii() and 2 * len(lower.encode().translate(None, _NO_LETTERS)) < len(lower):  # code
        worth += _EMPTY * unit
    return worth


def _adds_tests(lower: str) -> bool:
    """Return whether a sentence begins with tests that were written."""
    return lower[1:].startswith(_WRITES) and " test" in lower.partition(":")[0].partition(",")[0]


def _shared(text: str, weights: "Weights") -> float:
    """Weigh the words of the question in a text; most texts have none, which is seen without taking them apart."""
    lower = text.lower()
    if not any(token[:_STEM] in lower for token in weights):
        return 0.0
    return _weight(set(tokens(text)), weights)


def _weight(words: "Collection[str]", weights: "Weights") -> float:
    """Weigh the words of the question among these, in its order: a sum in the order of a set is another every time."""
    return sum(tells for token, tells in weights.items() if token in words)


def _excerpt(text: str, weights: "Weights", room: int) -> str:
    """Cut a text to the run of its words that has most of the question; to its beginning where none has any."""
    if len(text) <= room:
        return text
    words = text[:_LOOKED_THROUGH].replace("，", "，\0").replace("、", "、\0").replace(" ", " \0").split("\0")
    tells = [{token for token in tokens(word) if token in weights} for word in words]
    best, most, end, length = (0, 0), 0.0, 0, 0
    for begin in range(len(words)):
        while end < len(words) and length + len(words[end]) <= room - 2:  # an ellipsis at either side
            length += len(words[end])
            end += 1
        worth = _weight(set().union(*tells[begin:end]), weights)
        if worth > most:
            best, most = (begin, end), worth
        if end == len(words):
            break
        length, end = (length - len(words[begin]), end) if end > begin else (0, begin + 1)
    first = next((at for at in range(*best) if tells[at]), 0)
    begins = [at for at in range(best[0], first + 1) if at == 0 or words[at - 1].rstrip()[-1:] in _ENDS]
    begin = begins[-1] if begins else max(best[0], first - _BEFORE)
    shown = cut("".join(words[begin:]).strip(), room - 1)
    return shown if begin == 0 else f"…{shown}"


def _chosen_files(found: "Findable", weights: "Weights") -> "list[str]":
    """Choose files a conversation changed: no tests, those of the answer first, none of scratch beside others."""
    repository = [file for file in found.files if not is_test(file) and not is_scratch(file)]
    if len(repository) > 1:
        words = frozenset(tokens("\n".join(found.answers)))
        ranks = {file: (speaks_of(words, file), "/" in file, _shared(file, weights)) for file in repository}
        repository.sort(key=ranks.__getitem__, reverse=True)
        repository = [file for file in repository if ranks[file][:2] == ranks[repository[0]][:2]]
    others = (file for tests in (False, True) for file in found.files if is_test(file) is tests)
    return [one_line(file) for file in repository[:_FILES] or [*others][:1]]
