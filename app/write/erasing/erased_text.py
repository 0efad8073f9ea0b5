"""Find texts however they are written, and replace them; pure.

A text is found in any letter case, with any white space between its words and invisible characters in them, with the
escapes of JSON, also where JSON lies in a string of JSON, as addresses and HTML have it (numbers, too), and in base64.
Both sides are brought to one form, whose every character knows where it came from. A backslash may stand for itself, as
in `CORP\\name`: such texts are read twice.
"""

import html
import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import partial
from unicodedata import normalize
from urllib.parse import quote, quote_plus

from eventlog.format.text import UNSEEN
from eventlog.secrets.plain import changed_in, spliced
from eventlog.secrets.redacted import marker

SHORTEST = 4  # characters; shorter texts stand in too much
_PAIR = r"\\+u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\+u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
_ENTITY = r"(?:&|\\+u0026)#(?:x(?P<base16>[0-9a-f]{1,8})|(?P<base10>[0-9]{1,8}));"
_WRITTEN = rf"(?i:{_ENTITY}|{_PAIR}|\\+u(?P<one>[0-9a-f]{{4}})|\\+x(?P<two>[0-9a-f]{{2}})|(?P<space>\\+[bfnrt])|\\+)"
_ESCAPE = re.compile(_WRITTEN)
_PIECE = re.compile(rf"{_WRITTEN}|(?P<run>[!-%'-\[\]-~]+)|(?P<other>.)", re.DOTALL)
# almost all that JSON has, replaced many times as fast; further backslashes before them mean nothing
_COMMON = {True: (('\\"', '"'), ("\\n", " ")), False: (('\\"', '"'), ("\\n", "n"))}
_UNSEEN = re.compile(UNSEEN)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_=-]+")
_PASSES = 4
_SHORTEST_CORE = 8  # characters of base64 that are the same whatever stands around the text
_STRUCTURE = frozenset(("v", "id", "ts", "after", "type", "replica", "redacted"))


class Needles:
    """The texts of one redaction, and what stands in their place."""

    def __init__(self, texts: Iterable[str], number: int) -> None:
        self.marker = marker(number)
        self.texts = sorted({text for text in texts if len(folded(text)) >= SHORTEST})
        self._folded = sorted({folded(form) for text in self.texts for form in _forms(text)}, key=len, reverse=True)
        self._cores = sorted({core for text in self.texts for core in _cores(text)})
        self._words = sorted({max(text.split(" "), key=len) for text in self._folded})
        self._any = re.compile("|".join(map(re.escape, self._folded)))
        self._are_in_marker = self.are_in(self.marker)

    def are_in(self, text: str) -> bool:
        """Return whether any of the texts stands in a text."""
        return self._are_folded_in(text) or _is_any_in(self._cores, text)

    def without(self, text: str) -> str:
        """Replace each of them; the same object where there is none."""
        for _ in range(1 if self._are_in_marker else _PASSES):  # what stood apart may come together
            if not self.are_in(text):
                break
            text = self._marked(text, self.places(text))
        return text

    def places(self, text: str) -> list[tuple[int, int]]:
        """Find where they stand, from and to, in order; what overlaps is one place."""
        found = []
        for escapes in _readings(text) if self._are_folded_in(text) else ():
            whole, starts, ends = _with_places(text, escapes=escapes)
            found += [(starts[match.start()], ends[match.end() - 1]) for match in self._any.finditer(whole)]
        if _is_any_in(self._cores, text):
            runs = ((run.start(), run.end(), run[0]) for run in _BASE64_RUN.finditer(text))
            found += [(start, end) for start, end, run in runs if _is_any_in(self._cores, run)]
        return _joined(found)

    def without_in_lines(self, text: str, lines: set[str]) -> str:
        """Replace them in those lines of a text whose folded forms are given."""

        def is_in_them(start: int, end: int) -> bool:
            first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            around = text[first : last if last >= 0 else len(text)].split("\n")
            return all(folded(line) in lines for line in around if line.strip())

        return self._marked(text, [place for place in self.places(text) if is_in_them(*place)])

    def _are_folded_in(self, text: str) -> bool:
        for escapes in _readings(text):
            # line by line: fast where one is ASCII, or without an escape
            plain = "\n".join(_caseless(_unescaped(line, escapes=escapes)) for line in text.split("\n"))
            if not _is_any_in(self._words, plain):  # most texts lack even the longest word, whatever stands around it
                continue
            if _is_any_in(self._folded, plain) or _is_any_in(self._folded, _collapsed(plain)):
                return True
        return False

    def _marked(self, text: str, places: list[tuple[int, int]]) -> str:
        return spliced(text, ((start, end, self.marker) for start, end in places))

    def without_in_fields(self, fields: dict[str, object]) -> dict[str, object]:
        """Replace the texts in the fields of an event, except those that identify it."""
        clean = partial(changed_in, change=lambda text, _: self.without(text))  # also in names below
        return {name: value if name in _STRUCTURE else clean(value) for name, value in fields.items()}


def text_of(data: bytes) -> str:
    """Decode any bytes; `bytes_of` encodes the text to the same."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Encode what `text_of` decoded."""
    return text.encode("utf-8", "surrogateescape")


def folded(text: str) -> str:
    """Bring a text to the form in which texts are compared."""
    return _collapsed(_caseless(_unescaped(text)))


def _caseless(text: str) -> str:
    return text.casefold() if text.isascii() else _UNSEEN.sub("", text).casefold()


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _readings(text: str) -> tuple[bool, ...]:
    """List how to read a text: whether a backslash and a letter are an escape."""
    return (True, False) if "\\" in text else (True,)


def _unescaped(text: str, *, escapes: bool = True) -> str:
    if "\\" in text:
        for escape, meant in _COMMON[escapes]:
            text = text.replace(escape, meant)
    return _ESCAPE.sub(partial(_meant, escapes=escapes), text) if "\\" in text or "&#" in text else text


def _is_any_in(texts: list[str], text: str) -> bool:
    return any(map(text.__contains__, texts))  # a pattern takes many times as long


def _meant(found: re.Match[str], *, escapes: bool) -> str:
    if number := found["base16"] or found["base10"]:
        code_point = int(number, 16 if found["base16"] else 10)
        return chr(code_point) if code_point <= sys.maxunicode else found[0]
    if not escapes:
        return found[0].lstrip("\\")
    if found["high"]:
        return chr(0x10000 + ((int(found["high"], 16) & 0x3FF) << 10) + (int(found["low"], 16) & 0x3FF))
    if code := found["one"] or found["two"]:
        return chr(int(code, 16))
    if found["space"]:
        return "\b" if found["space"][-1] in "bB" else " "  # the one of them that parts no words
    return ""


def _with_places(text: str, *, escapes: bool) -> tuple[str, list[int], list[int]]:
    """Return the folded text, and from where to where each of its characters stood."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for found in _PIECE.finditer(text):
        start, end = found.span()
        if run := found["run"]:
            parts.append(run.casefold())
            starts += range(start, end)
            ends += range(start + 1, end + 1)
            continue
        plain = _caseless(found["other"] or _meant(found, escapes=escapes))
        if plain.isspace():
            plain = " " if parts and parts[-1] != " " else ""
        parts += plain
        starts += [start] * len(plain)
        ends += [end] * len(plain)
    return "".join(parts), starts, ends


def _forms(text: str) -> Iterator[str]:
    """Yield a text as it is, in an address, in HTML, and with its letters composed or not."""
    yield from (text, normalize("NFC", text), normalize("NFD", text), html.escape(text), html.escape(text, quote=False))
    yield from (write(text, safe=safe, errors="replace") for write in (quote, quote_plus) for safe in ("", "/"))


def _cores(text: str) -> list[str]:
    """Compute what base64 has in common of a text, before and after any other text."""
    data, found = text.encode("utf-8", "replace"), []
    for before in range(3):
        encoded = b64encode(b"\0" * before + data).decode()
        core = encoded[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        if len(core) >= _SHORTEST_CORE:
            found += [core, core.replace("+", "-").replace("/", "_")]
    return found


def _joined(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
