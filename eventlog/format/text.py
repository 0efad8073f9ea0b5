"""Text from events, made fit for one line of a file or a terminal, and compared; pure.

Imported inside agents' hooks: `re` and the tables of Unicode are loaded for the few texts that need them.
"""

from eventlog.format import FIRST_HAN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

# C0 and C1 controls, whole terminal sequences (ECMA-48 CSI) where one is, and every code point that shows nothing or
# changes the direction (Default_Ignorable_Code_Point of Unicode, interlinear annotations, tags): they would act on the
# reader's terminal, hide text, or carry text that nobody sees. A joiner and the selector of an emoji stay within one,
# and a joiner and a non-joiner between letters of the scripts that write with them, from Arabic to Sinhala and Khmer.
_EMOJI = "[\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
_LETTER = "[\u0620-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3]"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x1f\x7f-\x9f"
UNSAFE = (
    f"(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|[{_CONTROLS}{_INVISIBLE}]"
    f"|(?<!{_LETTER})\u200c|\u200c(?!{_LETTER})|(?<={_LETTER})\u200d(?!{_LETTER})"
    f"|(?<!{_LETTER})(?<!{_EMOJI})(?<!{_EMOJI}\ufe0f)\u200d|(?<!{_LETTER})\u200d(?!{_EMOJI})"
    f"|(?<!{_EMOJI})(?<![0-9#*])\ufe0f|(?<=[0-9#*])\ufe0f(?!\u20e3)"
)
_SUSPECT = f"[{_CONTROLS}{_INVISIBLE}\u200c\u200d\ufe0f]"  # all that is unsafe has one of these, and few texts do
UNSEEN = f"[{_INVISIBLE}\u200c\u200d\ufe0f]+"  # joiners and selectors do not distinguish texts, either
# Han characters, kana and their punctuation: a space beside them is a matter of taste
_HAN = (
    ("\u2e80", "\u2fdf"), ("\u3001", "\u30ff"), ("\u31f0", "\u31ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"),
    ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip
_IDEOGRAPHS = _HAN[4]  # and these, beside ASCII, are what most texts have: NFKC leaves them as they are
# what NFKC changes of most Chinese texts: where nothing else is left for it, it takes a tenth of the time
_WIDE = (*zip("，：；！？（）", ",:;!?()", strict=True), ("…", "..."))
_UNCHANGED = frozenset("、。·–—“”‘’→×")  # by NFKC and case

# what Python takes for printable, and nobody sees: fillers of Hangul and Khmer, selectors of a variant, tags
_HIDING = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
)
_TAGS = "\U000e0000"
_JOINER, _FIRST_MARK, _FIRST_OF_EAST_ASIA = "\u200d", "\u0300", "\u2e80"
_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two letters are one
_SKINS = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_CLOSING = frozenset("!\"#%&'()*,-./:;?@[\\]_{}、。「」『』“”‘’…—")  # punctuation that most texts have
_SYMBOLS = frozenset("$+<=>^`|~")  # and what else ASCII has

# bytes of UTF-8: all of ASCII, those that follow a first one, and the first ones of U+4000 to U+9FFF
_COMMON = bytes((*range(0xC0), *range(0xE4, 0xEA)))

_SENTENCE_ENDS = (". ", "! ", "? ", "; ", "。", "！", "？", "；")
_JOINT = " → "  # between parts of a summary

_REMEMBERED = 2000  # characters of a text, at most
_MAX = 1024  # texts


GERMAN_MONTHS = (  # behind the number of a day, `29. März`, whose point ends no sentence
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
    "Dezember",
)  # fmt: skip


class _Remembered(dict[str, str]):
    """Results for short texts: those not of ASCII take their time, and entities and categories come again."""

    def __init__(self, function: "Callable[[str], str]") -> None:
        self._function = function

    def __missing__(self, text: str) -> str:
        found = self._function(text)
        if len(text) < _REMEMBERED:
            if len(self) >= _MAX:
                self.clear()
            self[text] = found
        return found


_NOTHINGS = ("none", "nothing", "no ", "n/a", "tba", "tbd", "pending", "kein", "nichts", "无", "没有", "暂无", "待定")
_NOTHING = (
    r"(?:none|nothing|no (?:\w+ )?(?:decisions?|to-?dos?|steps?|items?|work)|n/a|tb[ad]|pending|keine?|nichts"
    r"|无|没有|暂无|待定)(?: (?:at (?:this time|the moment)|for now|so far|yet|left|open|remaining|outstanding|pending"
    r"|else|needed|required|mehr|weiter|offen))*(?:\b\W*|\W+(?:all|everything|the (?:task|work)|alles|全部|都)\b.*)"
)
_NO_VALUES = frozenset(("null", "nil", "undefined", "n.a"))  # what programs write for nothing
_AROUND = " *_-–—.…()[]{}<>\"'`"
_STAGE = ("阶段摘要：", "阶段摘要:")  # before a stage that was saved as a fact; models spell it either way


def _compiled(pattern: str) -> "re.Pattern[str]":
    """Compile on first need; `re` remembers."""
    import re

    return re.compile(pattern)


def one_line(text: str) -> str:
    """Collapse white space, and strip characters that act or hide."""
    if text.isascii() and text.isprintable() and "  " not in text and text == text.strip():
        return text  # as most is
    return _one_lines[text]


def _one_line(text: str) -> str:
    collapsed = " ".join(text.split())
    seen = harmless(collapsed)
    return seen if seen is collapsed else " ".join(seen.split())


_one_lines = _Remembered(_one_line)


def is_harmless(text: str) -> bool:
    """Return whether `harmless` would leave a text as it is; False where in doubt."""
    return text.isprintable() and (_is_common(text) or (max(text) < _TAGS and _HIDING.isdisjoint(text)))


def _is_common(text: str) -> bool:
    """Return whether a text has nothing but ASCII and ideographs, as most have; these have no case and no width."""
    return text.isascii() or not text.encode("utf-8", "surrogatepass").translate(None, _COMMON)


def harmless(text: str) -> str:
    """Strip characters that would act on a terminal or hide what follows; line breaks are among them."""
    if is_harmless(text) or not _compiled(_SUSPECT).search(text):
        return text
    return _compiled(UNSAFE).sub("", text)


def spelled_out(text: str) -> str:
    """Write as escapes what would act on a terminal or hide, so that a person sees it; tabs stay."""
    if is_harmless(text) or not _compiled(_SUSPECT).search(text):
        return text
    return _compiled(UNSAFE).sub(lambda found: found[0] if found[0] == "\t" else ascii(found[0])[1:-1], text)


def encodable(text: str) -> str:
    """Replace what no encoding has: the bytes of a file's name that are not UTF-8, and halves of surrogate pairs."""
    if text.isascii():
        return text
    try:
        text.encode()  # by the codec that is there already
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def project_name(project: str) -> str:
    """Name a project for people: the last part of its path, fit for one line; "" for none."""
    if project not in _project_names:
        path = project
        while path.endswith(("/", "/.")):
            path = path.removesuffix(".").rstrip("/")
        _project_names[project] = one_line(encodable(path.rpartition("/")[2] or project))
    return _project_names[project]


_project_names: dict[str, str] = {}


def cut(text: str, limit: int, end: str = "…") -> str:
    """Cut a text to at most `limit` characters, none as people see it halved, with an ellipsis at its end.

    Nor is a word halved, unless a third of the text would go with it.
    """
    if len(text) <= limit:
        return text
    room = length = limit - len(end)
    while length > 0 and _belongs(text, length):
        length -= 1
    space = text.rfind(" ", length * 2 // 3, length + 1)
    halved = text[length - 1 : length + 1]
    if space > 0 and halved.isalnum() and max(halved) < _FIRST_OF_EAST_ASIA:
        length = space
    return text[: length or room].rstrip() + end


def _belongs(text: str, at: int) -> bool:
    """Return whether a character belongs to the one before: a mark, an emoji behind a joiner, the rest of a flag."""
    char = text[at]
    if text[at - 1] == _JOINER:
        return True
    if char < _FIRST_MARK or _is_common(char):
        return False
    if char in _FLAGS:
        return (at - len(text[:at].rstrip(_FLAGS))) % 2 == 1
    from unicodedata import category  # few texts end in marks

    return char in _SKINS or category(char) in {"Mn", "Mc", "Me", "Cf"}


def joined(texts: "Iterable[str]") -> str:
    """Join sentences; behind Chinese stands no space."""
    whole = ""
    for text in texts:
        whole += text if not whole or whole[-1] >= FIRST_HAN else f" {text}"
    return whole


def sentences_of(text: str) -> list[str]:
    """Split a text behind each sentence, and where parts of a summary are joined."""
    for end in _SENTENCE_ENDS:
        if end in text:
            text = text.replace(end, end.rstrip() + _JOINT)
    return text.removesuffix(_JOINT).split(_JOINT)


def same_text(text: str) -> str:
    """Reduce a statement to what all wordings of the same fact have in common.

    Unicode NFKC, case folding, invisible characters gone, white space collapsed, and gone beside Han characters,
    trailing punctuation gone.
    """
    return _reduced(" ".join(text.split()) if text.isascii() else text) or text


def _reduced(line: str) -> str:
    return _unclosed(line.lower()) if line.isascii() else _same_lines[line]


def _same_line(line: str) -> str:
    first, *words = fold(line).split() or [""]
    collapsed = first
    for word in words:
        collapsed += word if _is_han(collapsed[-1]) or _is_han(word[0]) else f" {word}"
    return _unclosed(collapsed) or line


_same_lines = _Remembered(_same_line)


def _is_han(char: str) -> bool:
    return char >= _HAN[0][0] and any(first <= char <= last for first, last in _HAN)


def _unclosed(text: str) -> str:
    """Take the punctuation off its end, unless that is all there is."""
    end = len(text)
    while end and not text[end - 1].isalnum() and _closes(text[end - 1]):
        end -= 1
    return text[:end] or text


def statement_line(text: str) -> str:
    """Take a text on one line, without the mark of a stage."""
    line = one_line(text)
    return line[len(_STAGE[0]) :].strip() if line.startswith(_STAGE) else line


def states_nothing(text: str) -> bool:
    """Check whether a text stands for no text, or an empty list: `None`, `null`, `nothing left`, `待定`."""
    plain = fold(text).strip(_AROUND)
    if not plain or plain in _NO_VALUES:
        return True
    return plain.startswith(_NOTHINGS) and bool(_compiled(_NOTHING).fullmatch(plain))


def statement_of(text: str) -> str:
    """Reduce a text to what all wordings of its statement have in common."""
    return _reduced(statement_line(text))


def key_of(key: str) -> str:
    """Reduce a key to what all its spellings have in common.

    `db_port`, `DB port` and `db-port` are one.
    """
    return "-".join(fold(key).replace("_", " ").replace("-", " ").split()) or key


def last_mention(ts: str, times: int, *, is_doubtful: bool) -> str:
    """Write the last day of a statement, its count, and a mark where it is in doubt."""
    return f"{ts[:10]}{f' ×{times}' if times > 1 else ''}{' ?' if is_doubtful else ''}"


def differing_in_a_number(texts: "Iterable[str]") -> set[str]:
    """Find the pairs of texts that differ in a single number; where three do, they are a list.

    Dates differ without contradiction, and so do numbers that name: `#12`.
    """
    by_letters: dict[bytes, list[str]] = {}  # few resemble any other in all but digits
    for text in texts:
        by_letters.setdefault(_letters_of(text), []).append(text)
    alike: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for text in (text for group in by_letters.values() if len(group) > 1 for text in group):
        pieces = _numbers_apart(statement_of(text))
        for at in range(1, min(len(pieces), _MAX_NUMBERS), 2):
            if not _is_a_name(*pieces[at - 1 : at + 2]):
                same = (str(at), *pieces[:at], *pieces[at + 1 :])
                alike.setdefault(same, {}).setdefault(pieces[at], []).append(text)
    pairs = (numbers for numbers in alike.values() if len(numbers) == len(("15", "16")))
    return {text for numbers in pairs for texts in numbers.values() for text in texts}


def _is_a_name(before: str, number: str, after: str) -> bool:
    """Return whether a number names a thing or a day, by what stands around it: `#12`, `2026-02-15`, `2026年2月`."""
    is_year, is_day = after.startswith("年") and len(number) == len("2026"), after.startswith(("日", "号"))
    return before.endswith(("#", "-")) or after.startswith(("-", "月")) or is_year or (is_day and before.endswith("月"))


_DIGITS = b"0123456789"
_IN_LOWER_CASE = bytes(range(256)).lower()
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def _letters_of(text: str) -> bytes:
    """Return what statements that are alike but for digits have in common, roughly and fast."""
    others = text if text.isascii() and text.isprintable() else _without_digits(statement_of(text))
    data = others.encode("utf-8", "surrogatepass")
    return data.translate(_IN_LOWER_CASE, _NO_LETTERS) if others.isascii() else data


def _without_digits(text: str) -> str:
    if _is_common(text):
        return text.encode().translate(None, _DIGITS).decode()
    return "".join([char for char in text if not char.isdigit()])


_MAX_NUMBERS = 16
_NUMBERS_ALONE = bytes(code if code in _DIGITS else ord(" ") for code in range(256))
_ZEROS = bytes.maketrans(_DIGITS, b"0" * len(_DIGITS))


def _numbers_apart(text: str) -> list[str]:
    """Split a text into what is before, in, between and after its numbers."""
    if _is_common(text):  # a pattern takes twenty times as long
        data = text.encode()
        numbers = data.translate(_NUMBERS_ALONE).split()
        around = [piece for piece in data.translate(_ZEROS).split(b"0") if piece]
        found = [b""] * (2 * len(numbers) + 1)
        first = 2 if data[:1].isdigit() else 0
        found[first : first + 2 * len(around) : 2] = around
        found[1::2] = numbers
        return [piece.decode() for piece in found]

    from itertools import groupby  # no hook looks for numbers

    pieces = [""] * text[:1].isdigit() + ["".join(run) for _, run in groupby(text, str.isdigit)]
    return pieces if len(pieces) % 2 else [*pieces, ""]


def fold(text: str) -> str:
    """Fold invisible characters, capitals and width (NFKC) away."""
    if text.isascii():
        return text.lower()
    seen = text if is_harmless(text) else _compiled(UNSEEN).sub("", text)
    for wide, narrow in _WIDE:
        seen = seen.replace(wide, narrow)
    if _is_plain(seen):
        return seen.lower()
    from unicodedata import normalize

    return normalize("NFKC", normalize("NFKC", seen).casefold())


def _is_plain(text: str) -> bool:
    """Return whether a text has nothing but ideographs, ASCII and usual marks, for which no tables are needed."""
    first, last = _IDEOGRAPHS
    return _is_common(text) or all(char < "\x80" or first <= char <= last or char in _UNCHANGED for char in set(text))


def _closes(char: str) -> bool:
    if char in _CLOSING or char in _SYMBOLS:
        return char in _CLOSING
    if char == " ":
        return True
    from unicodedata import category

    return category(char).startswith("P")
