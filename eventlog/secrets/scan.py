"""Look at the characters of a text: where a word begins, a run ends, a value looks generated; all in linear time.

Loaded by hooks: no re.
"""

from eventlog.secrets.patterns import ALNUM, DIGITS, HEADER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Found = tuple[int, int, str]  # from, to, kind

OPENS = tuple("$<{[(*%")  # what a placeholder begins with, or a call ends in
KIND = "[secret:"  # how what stands for a secret begins
MIN_PASSWORD = 6
LONGEST_VALUE = 256  # characters of what is assigned to a name
MIN_PART = 8
MIN_ASSIGNED = 14  # characters of a generated value that a name says is one
_CHUNK = 256  # characters looked at in one go
_LONGEST_ESCAPE = 16
_RANDOM_BITS = 3.0  # of Shannon entropy per character; words of a language joined together seldom have digits as well
_RANDOM = HEADER + "%!@#$^*:"
_SEPARATED = dict.fromkeys(map(ord, "_-./:="), " ")


def begins(text: str, at: int) -> bool:
    r"""Return whether a word can begin here; the end of an escape before it belongs to no word.

    Such are `\n`, `%20`, `\u0026`, and the colours of a terminal, `[0;32m`.
    """
    if not at or text[at - 1] not in ALNUM:
        return True
    before = text[max(0, at - _LONGEST_ESCAPE) : at]
    is_colour = before[-1] in "mK" and before[:-1].rstrip(DIGITS + ";").endswith("[")
    return before[-2:-1] == "\\" or before[-3:-2] == "%" or before[-6:-4] == "\\u" or is_colour


def run(text: str, start: int, alphabet: str) -> int:
    """Find where the run of these characters ends that begins there."""
    while part := text[start : start + _CHUNK]:
        if rest := part.lstrip(alphabet):
            return start + len(part) - len(rest)
        start += len(part)
    return start


def tail(text: str, alphabet: str) -> int:
    """Count the characters of this kind at the end of the text."""
    return len(text) - len(text.rstrip(alphabet))


def places(text: str, word: str) -> "Iterator[int]":
    """Yield where a word stands."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def end_of_line(text: str, at: int) -> int:
    """Find where the line ends, at a line break of any spelling."""
    line = text[at : at + 80]
    return at + min((place for stop in ("\n", "\\n", "\\r", '"') if (place := line.find(stop)) >= 0), default=len(line))


def is_random(value: str) -> bool:
    """Return whether a value is generated: long, with letters and digits in one part, and of high entropy."""
    if len(value) < MIN_ASSIGNED or value.startswith(OPENS) or value.count("/") > max(3, len(value) // 20):
        return False  # a path has many short parts; base 64 has few slashes
    parts = value.translate(_SEPARATED).split()
    mixed = any(len(part) >= MIN_PART and not part.isalpha() and not part.isdigit() for part in parts)
    return mixed and run(value, 0, _RANDOM) == len(value) and entropy_of(value) >= _RANDOM_BITS


def is_word(value: str) -> bool:
    """Return whether a value is a word, words that are joined, or a name of a program: nothing that was generated."""
    if "." in value and all(part.isidentifier() for part in value.split(".")):
        return True
    return value.rstrip(".!?:").replace("_", "").replace("-", "").isalpha()


def entropy_of(value: str) -> float:
    """Compute Shannon's entropy, in bits per character."""
    from math import log2

    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)


def before_any(text: str, stops: str) -> str:
    """Return the text before the first of these characters."""
    return text[: min((place for stop in stops if (place := text.find(stop)) >= 0), default=len(text))]


def words_at(text: str, at: int, end: int) -> "Iterator[tuple[int, int]]":
    """Yield where the words of a part of a text begin and end."""
    for word in text[at:end].split():
        at = text.index(word, at) + len(word)
        yield at - len(word), at


def printable(value: str) -> str:
    """Return the text that is there in base 64; "" where it is none."""
    from binascii import Error, a2b_base64

    if len(value) < MIN_PART:
        return ""
    try:
        decoded = a2b_base64(value).decode()
    except (Error, UnicodeDecodeError):
        return ""
    return decoded if decoded.isprintable() else ""
