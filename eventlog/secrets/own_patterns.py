"""A user's own patterns of secrets, `secrets: {patterns: ["corp-[0-9a-f]{16}"]}`: a beginning, then so many characters.

No more than that can be said, so that the search stays linear in the text, and hooks need no regular expressions.
Imported inside agents' hooks, where a user has any.
"""

from eventlog.secrets.patterns import DIGITS, WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    OwnPattern = tuple[str, str, int, int]  # its beginning, the characters that follow, at least and (unless 0) at most

_SHORTEST = 3  # characters of a beginning; with a shorter one too much would begin
_SHAPE = "write a beginning of 3 characters or more, then [characters]{how many}, like corp-[0-9a-f]{16}"
_CLASSES = {"d": DIGITS, "w": WORD}


def parse(pattern: str) -> "OwnPattern":
    """Read a pattern; raises ValueError with the way to write a pattern."""
    beginning, at = _beginning(pattern)
    alphabet, at = _alphabet(pattern, at)
    min_length, max_length = _how_many(pattern[at:])
    if len(beginning) < _SHORTEST or not alphabet or min_length < 1 or (max_length and max_length < min_length):
        raise ValueError(f"{pattern!r}: {_SHAPE}")
    return beginning, alphabet, min_length, max_length


def _beginning(pattern: str) -> tuple[str, int]:
    found, at = "", 0
    while at < len(pattern) and pattern[at] != "[" and pattern[at : at + 2] not in ("\\d", "\\w"):
        is_escaped = pattern[at] == "\\"
        at += is_escaped
        if not is_escaped and pattern[at] in "^$*+?{}()|":
            return "", len(pattern)
        found += pattern[at : at + 1]
        at += 1
    return found, at


def _alphabet(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at : at + 1] == "\\":
        return _CLASSES[pattern[at + 1]], at + 2
    end = at + 1
    while end < len(pattern) and pattern[end] != "]":
        end += 1 + (pattern[end] == "\\")
    inside = pattern[at + 1 : end]
    if pattern[at : at + 1] != "[" or end >= len(pattern) or inside[:1] == "^":
        return "", len(pattern)
    found, place = "", 0
    while place < len(inside):
        char = inside[place]
        if char == "\\":
            place += 1
            found += _CLASSES.get(inside[place : place + 1], inside[place : place + 1])
        elif inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
            found += "".join(map(chr, range(ord(char), ord(inside[place + 2]) + 1)))
            place += 2
        else:
            found += char
        place += 1
    return "".join(sorted(set(found))), end + 1


def _how_many(text: str) -> tuple[int, int]:
    if text == "+":
        return 1, 0
    min_length, comma, max_length = text[1:-1].partition(",")
    if text[:1] + text[-1:] != "{}" or not min_length.isdecimal() or (max_length and not max_length.isdecimal()):
        return 0, 0
    return int(min_length), int(max_length or 0) if comma else int(min_length)
