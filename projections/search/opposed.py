"""Texts that oppose older texts: all but a number or a value is alike, or a text speaks of a change to it; pure.

A guess takes nothing away: of two such texts, the newer stands before the older wherever both are told.

Imported inside agents' hooks: standard library only, and no re.
"""

from eventlog.format import FIRST_HAN
from eventlog.format.text import differing_in_a_number
from eventlog.projections.search.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    Having = Callable[[Collection[str]], Mapping[str, int]]  # counts the texts with each of these tokens

_FEWEST_SHARED, _SHARED_PART = 2, 0.4  # words of an older text in a newer: so many, and that part of all its words
_MANY_SHARED, _NAMED_PART = 3, 0.5  # or so many, with that part of the words of the clause that gives something up
_RARE, _RARE_PART, _MAX_RARE = 4, 0.05, 50  # texts that a word is in which tells what a text is about
_TEXTS_OF_A_FACT = 3  # where others count, too: a session says it in its summary and in its text as well
_ENDS = """
no longer, anymore, any more, instead of, rather than, is out, are out, gone, replaced, dropped, removed, superseded,
deprecated, lifted, nicht mehr, statt, anstelle, ersetzt, abgelöst, abgeschaltet, ist raus, sind raus, au lieu d, à la
place d, remplac*, abandonn*, ne … plus, n … plus, ya no, en lugar de, en vez de, reemplaz*, sustitu*, já não, em vez
de, substitu*, não … mais, invece di, sostitu*, rimoss*, non … più, больше не, вместо, замен*, отключ*, отказ*
"""  # of words that follow each other, or stand apart (…); the last may go on (*)
_BEGINS = """
now, migrated, moved, switched, changed to, changed from, renamed to, extended to, raised to, lowered to, increased
to, reduced to, upgraded to, downgraded to, postponed, jetzt, umgestellt, umbenannt, verschoben, erhöht auf, gesenkt
auf, verlängert, désormais, maintenant, passe à, passe au, repouss*, reporté*, renomm*, ahora, pasó a, renombr*,
aplaz*, agora, passou a, passou para, mudou para, prorrog*, adiad*, renome*, ora, adesso, rinomin*, spostat*, теперь,
перенес*, переимен*, продлен*
"""
_ENDS_WITHIN = """
不再 替换 取代 代替 废弃 弃用 ではなく 代わり 廃止 やめ 置き換え 대신 아니라 더이상 말고
"""  # of scripts in which a word has no end, without spaces
_BEGINS_WITHIN = """
改用 改为 改成 改由 改存 改到 换成 迁移到 重写 移行 切り替え 변경 교체 전환
"""
_OF_A_KIND = """
monday tuesday wednesday thursday friday saturday sunday
montag dienstag mittwoch donnerstag freitag samstag sonntag
周一 周二 周三 周四 周五 周六 周日
星期一 星期二 星期三 星期四 星期五 星期六 星期日
hourly daily nightly weekly monthly yearly
stündlich täglich nächtlich wöchentlich monatlich jährlich
enabled disabled
aktiviert deaktiviert
启用 禁用
allowed forbidden
erlaubt verboten
允许 禁止
always never
immer nie
"""  # words of which one holds, a kind in a line; days also with an s
_OF_A_DATE = """
january jan february feb march mar april apr may june jun july jul august aug september sep sept october oct november
nov december dec januar februar märz mai juni juli oktober okt dezember dez
"""
_MONTHS = frozenset(_OF_A_DATE.split())
_KINDS = {word: kind for kind in _OF_A_KIND.split("\n") for word in kind.split()}
_KINDS_WITHIN = [word for word in _KINDS if word >= FIRST_HAN]
_IS = frozenset(
    ("is", "are", "ist", "sind", "lautet", "heißt", "=", "lives", "live", "runs", "liegt", "liegen", "läuft")
)
_NOT = frozenset(("not", "nicht"))
_DEFAULT = frozenset(("default", "standard"))
_MAX_NAMES, _MAX_HAN = 3, 3  # words of a name, and characters of one in Han
_A_LIST = 3  # values in one frame
_AROUND = ".,;:!?\"'`()[]。，；：！？"


def _apart(changes: str) -> "list[list[str]]":
    return [
        [f" {part.strip()}{'' if part.endswith('*') else ' '}".replace("*", "") for part in change.split("…")]
        for change in " ".join(changes.split()).split(", ")
    ]


_GIVING_UP = _apart(_ENDS), _ENDS_WITHIN.split()
_CHANGES = _GIVING_UP[0] + _apart(_BEGINS), _GIVING_UP[1] + _BEGINS_WITHIN.split()
_BEGINNING = 5  # letters: no word that may go on has fewer
_BEGINNINGS = frozenset(max(" ".join(parts).split(), key=len)[:_BEGINNING] for parts in _CHANGES[0])  # of one each
_CLAUSE_ENDS = dict.fromkeys(map(ord, "，。；：,;:"), "\n")


def opposed(
    texts: "Sequence[str]", doubtful: "Collection[str]", having: "Having | None" = None, total: int = 0
) -> dict[str, set[str]]:
    """Map texts, the newest first, to the older texts that they oppose, directly or through others.

    Those in doubt differ in a number from another. Where these are some of a `total`, `having` counts in all of them.
    """
    alike = [text for text in texts if text in doubtful]
    pairs = [(newer, older) for at, newer in enumerate(alike) for older in alike[at + 1 :]]
    found: dict[str, set[str]] = {}
    changed = _changed(texts, having, total or len(texts))
    for newer, older in (*filter(differing_in_a_number, pairs), *_revalued(texts), *changed):
        found.setdefault(newer, set()).update({older}, found.get(older, ()))
    return found


def _changed(texts: "Sequence[str]", having: "Having | None", total: int) -> "Iterator[tuple[str, str]]":
    """Yield each text that speaks of a change, with an older text that shares many of its rarer words."""
    changes = {text: {*tokens(change)} for text in texts if (change := _change_in(text))}
    if not changes:
        return
    given_up = {text: [*_given_up(text)] for text in changes}
    words = [frozenset(tokens(text)) for text in texts]
    counts = _counted(words)
    changed = (some for text, some in zip(texts, words, strict=True) if text in changes)
    every = {word for some in changed for word in some if counts[word] > 1}
    if having:
        counts = having(every)
    fewest = _RARE * (_TEXTS_OF_A_FACT if having else 1)
    rare = {word for word in every if counts[word] <= max(fewest, min(_MAX_RARE, _RARE_PART * total))}
    older: dict[str, list[int]] = {}
    for at in reversed(range(len(words))):
        shared: dict[int, int] = {}
        for word in (rare & words[at]) - changes[texts[at]] if texts[at] in changes else ():
            for other in older.get(word, ()):
                shared[other] = shared.get(other, 0) + 1
        for other, count in shared.items():
            is_named = count >= _MANY_SHARED and any(_names(each, words[other]) for each in given_up[texts[at]])
            if is_named or count >= max(_FEWEST_SHARED, _SHARED_PART * len(words[other])):
                yield texts[at], texts[other]
        for word in words[at] & rare:
            older.setdefault(word, []).append(at)


def _revalued(texts: "Sequence[str]") -> "Iterator[tuple[str, str]]":
    """Yield each text with an older text that has another value in the same frame; three values are a list."""
    frames: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for at, text in enumerate(texts):
        for value, *frame in _frames(text):
            frames.setdefault(tuple(frame), {}).setdefault(value, []).append(at)
    for values in frames.values():
        if 1 < len(values) < _A_LIST:
            newer, older = sorted(values.values())
            yield from ((texts[newer[0]], texts[at]) for at in older)


def _frames(text: str) -> "Iterator[tuple[str, ...]]":
    """Yield the values of a text, each with what stands around it: a word of a kind, a date, or a name."""
    if not text.isascii():
        yield from _frames_within("".join(text.split()).strip(_AROUND))
    words = [word for part in text.split() if (word := part.strip(_AROUND))]
    lower = [word.lower() for word in words]
    for at, word in enumerate(lower[1:], 1):
        value = word if word in _KINDS else word.removesuffix("s")
        if value in _KINDS:
            yield value, *lower[:at], _KINDS[value], *lower[at + 1 :]
        elif word in _MONTHS:
            start = at - lower[at - 1].isdecimal()  # `20 November`, or `Nov 20`
            date, after = lower[start : start + 2], lower[start + 2 :]
            if any(map(str.isdecimal, date)):
                yield " ".join(date), *lower[:start], "", *after
    yield " ".join(filter(_NOT.__contains__, lower)), *(word for word in lower if word not in _NOT)
    at = len(words) - (1 if words and not _DEFAULT.isdisjoint(lower) else 0)
    while at > 1 and len(words) - at < _MAX_NAMES and _is_name(words[at - 1]):
        at -= 1
    if 1 < at < len(words) and not _IS.isdisjoint(lower[1:at]):
        yield " ".join(lower[at:]), *lower[:at], ""


def _frames_within(text: str) -> "Iterator[tuple[str, ...]]":
    """Yield the same of a text in which words have no ends, without spaces."""
    for word in filter(text.__contains__, _KINDS_WITHIN):
        before, _, after = text.partition(word)
        if before:
            yield word, before, _KINDS[word], after
    yield text.partition("不")[1], text.replace("不", "", 1)
    before, found, name = text.partition("是")
    is_short = 0 < len(name) <= _MAX_HAN and not name.endswith("的")
    if len(before) > 1 and (is_short or (name.isascii() and _is_name(name))):
        yield name, before, found


def _is_name(word: str) -> bool:
    """Return whether a word is written like a name: with a capital."""
    return word != word.lower()


def _counted(words: "Sequence[frozenset[str]]") -> "Mapping[str, int]":
    found: dict[str, int] = {}
    for word in (word for some in words for word in some):
        found[word] = found.get(word, 0) + 1
    return found


def newer_first(
    statements: "Sequence[tuple[str, str, str]]",
    doubtful: "Collection[str]" = (),
    having: "Having | None" = None,
    total: int = 0,
) -> dict[int, list[int]]:
    """Order statements behind the newer statements that oppose them; each has a subject and a time.

    Map the place of each to the places of those that it opposes.
    """
    in_time = sorted(range(len(statements)), key=lambda at: statements[at][2], reverse=True)
    against = opposed([statements[at][1] for at in in_time], doubtful, having, total)
    order: dict[int, list[int]] = {}
    for at, (subject, text, _) in enumerate(statements):
        for newer in in_time if against else ():
            if subject == statements[newer][0] and text in against.get(statements[newer][1], ()):
                order.setdefault(newer, []).append(at)
        order.setdefault(at, [])
    return order


def _change_in(text: str, changes: "tuple[list[list[str]], list[str]]" = _CHANGES) -> str:
    """Return the words by which a text speaks of a change; "" where it has none."""
    words = text.lower().translate(_PLAIN).split()
    plain, may_have = f" {' '.join(words)} ", not _BEGINNINGS.isdisjoint([word[:_BEGINNING] for word in words])
    looked_for = changes[0] if may_have else ()
    apart = [" ".join(parts) for parts in looked_for if parts[0] in plain and _follow(parts, plain)]
    return " ".join(apart if text.isascii() else [*apart, *filter("".join(words).__contains__, changes[1])])


def _given_up(text: str) -> "Iterator[Collection[str]]":
    """Yield the words of each clause that speaks of an end, without those by which it does and parts of names."""
    for clause in text.translate(_CLAUSE_ENDS).split("\n"):
        if end := _change_in(clause, _GIVING_UP):
            words = {*tokens(_spaced(clause))}.difference(tokens(end))
            yield [word for word in words if not any(word in other != word for other in words)]


def _spaced(clause: str) -> str:
    """Put spaces around what speaks of an end: else it is one word with what is beside it."""
    for within in filter(clause.__contains__, _GIVING_UP[1]):
        clause = clause.replace(within, f" {within} ")
    return clause


def _names(clause: "Collection[str]", older: "Collection[str]") -> bool:
    return bool(clause) and sum(word in older for word in clause) >= _NAMED_PART * len(clause)


class _Plain(dict[int, int]):
    """Letters and figures as they are, a space for any other character."""

    def __missing__(self, code: int) -> int:
        self[code] = code if chr(code).isalnum() else ord(" ")
        return self[code]


_PLAIN = _Plain()


def _follow(parts: "Sequence[str]", plain: str) -> bool:
    at = 0
    for part in parts:
        at = plain.find(part, at) + 1
        if not at:
            return False
    return True
