"""Texts that oppose older texts: all but a number is alike, or a text speaks of a change to the older text; pure.

A guess takes nothing away: of two such texts, the newer stands before the older wherever both are told.

Imported inside agents' hooks: standard library only, and no re.
"""

from eventlog.format.text import differing_in_a_number
from eventlog.projections.search.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    Having = Callable[[Collection[str]], Mapping[str, int]]  # counts the texts with each of these tokens

_FEWEST_SHARED, _SHARED_PART = 2, 0.4  # words of an older text in a newer: so many, and that part of all its words
_MANY_SHARED, _NAMED_PART = 3, 0.5  # or so many, with that part of the words of the clause about the change
_RARE, _RARE_PART, _MAX_RARE = 4, 0.05, 50  # texts that a word is in which tells what a text is about
_TEXTS_OF_A_FACT = 3  # where others count, too: a session says it in its summary and in its text as well
_CHANGES = """
now, no longer, anymore, any more, instead of, rather than, is out, are out, gone, replaced, dropped, removed, migrated,
moved, switched, jetzt, nicht mehr, statt, anstelle, ersetzt, abgelöst, abgeschaltet, umgestellt, ist raus, sind raus,
désormais, maintenant, au lieu d, à la place d, remplac*, abandonn*, ne … plus, n … plus, ahora, ya no, en lugar de,
en vez de, reemplaz*, sustitu*, agora, já não, em vez de, substitu*, não … mais, ora, adesso, invece di, sostitu*,
rimoss*, non … più, теперь, больше не, вместо, замен*, отключ*, отказ*
"""  # of words that follow each other, or stand apart (…); the last may go on (*)
_CHANGES_WITHIN = """
不再 改用 改为 改成 改由 改存 改到 换成 迁移到 重写 替换 取代 代替 废弃 弃用 ではなく 代わり 廃止 やめ 移行 置き換え
切り替え 변경 교체 전환 대신 아니라 더이상 말고
"""  # of scripts in which a word has no end, without spaces
_APART = [
    [f" {part.strip()}{'' if part.endswith('*') else ' '}".replace("*", "") for part in change.split("…")]
    for change in " ".join(_CHANGES.split()).split(", ")
]
_WITHIN = _CHANGES_WITHIN.split()
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
    for newer, older in (*filter(differing_in_a_number, pairs), *_changed(texts, having, total or len(texts))):
        found.setdefault(newer, set()).update({older}, found.get(older, ()))
    return found


def _changed(texts: "Sequence[str]", having: "Having | None", total: int) -> "Iterator[tuple[str, str]]":
    """Yield each text that speaks of a change, with an older text that shares many of its rarer words."""
    changes = {text: {*tokens(change)} for text in texts if (change := _change_in(text))}
    if not changes:
        return
    clauses = {text: [*_clauses_of_change(text, changes[text])] for text in changes}
    words = [frozenset(tokens(text)) for text in texts]
    every = frozenset[str]().union(*words)
    counts = having([*every]) if having else _counted(words)
    fewest = _RARE * (_TEXTS_OF_A_FACT if having else 1)
    rare = {word for word in every if counts[word] <= max(fewest, min(_MAX_RARE, _RARE_PART * total))}
    older: dict[str, list[int]] = {}
    for at in reversed(range(len(words))):
        shared: dict[int, int] = {}
        for word in (rare & words[at]) - changes[texts[at]] if texts[at] in changes else ():
            for other in older.get(word, ()):
                shared[other] = shared.get(other, 0) + 1
        for other, count in shared.items():
            is_named = count >= _MANY_SHARED and any(_names(each, words[other]) for each in clauses[texts[at]])
            if is_named or count >= max(_FEWEST_SHARED, _SHARED_PART * len(words[other])):
                yield texts[at], texts[other]
        for word in words[at] & rare:
            older.setdefault(word, []).append(at)


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


def _change_in(text: str) -> str:
    """Return the words by which a text speaks of a change; "" where it has none."""
    plain = f" {' '.join(text.lower().translate(_PLAIN).split())} "
    joined = plain.replace(" ", "")
    apart = (" ".join(parts) for parts in _APART if parts[0] in plain and _follow(parts, plain))
    return " ".join([*apart, *filter(joined.__contains__, _WITHIN)])


def _clauses_of_change(text: str, change: "Collection[str]") -> "Iterator[Collection[str]]":
    """Yield the words of each clause that speaks of a change, without those by which it does and parts of names."""
    for within in filter(text.__contains__, _WITHIN):
        text = text.replace(within, f" {within} ")  # else it is one word with what is beside it
    for clause in filter(_change_in, text.translate(_CLAUSE_ENDS).split("\n")):
        words = {*tokens(clause)}.difference(change)
        yield [word for word in words if not any(word in other != word for other in words)]


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
