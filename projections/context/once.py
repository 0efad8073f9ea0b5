"""Repetitions in a context: of equal bullets the most important stays; pure.

So is a bullet that stands, word for word, as a sentence of another. What people wrote into their own files stays as it
is; it is not said once more by ours.

Imported inside agents' hooks: standard library only.
"""

import sys

from eventlog.fast.copies import replace
from eventlog.format.text import sentences_of, statement_of
from eventlog.projections.line import Line
from eventlog.projections.views.markdown import ZEROS, undated, unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from eventlog.projections.context.budget import ContextSection

_TIME, _A_DAY = "00:00 ", "0000-00-00"
_REMEMBERED = 1024  # bullets
_COMPARED: dict[tuple[str, str], str] = {}  # each is compared several times
_MIN_CUT = 20  # characters; less of a sentence says nothing
_MIN_SENTENCE = 16  # bytes: `Done.` is said of many things


def without_repetitions(
    sections: "Sequence[ContextSection]",
    ranks: "Sequence[int]",
    project: str,
    theirs: "Iterable[Line]" = (),
    limit: int = sys.maxsize,
) -> "list[ContextSection]":
    """Drop what a section of a smaller rank repeats, or the same section before; `project` is its name in notes.

    Dropped is also what people's own files say as a bullet in a line of `theirs`, and a heading of nothing. What
    follows so many characters of a section has no room in any case, and is not compared.
    """
    texts = _ShownTexts(project)
    for line in theirs:
        texts.add(line)
    result = list(sections)
    for position in sorted(range(len(result)), key=ranks.__getitem__):
        before = result[position].lines
        lines = list(_new(before, texts, limit))
        lost_all = len(lines) < len(before) and not any(_bullet(line.text) for line in lines)
        # a heading that has nothing below goes: its lines were repetitions, or withdrawn since
        blocks = [block for block in _blocks(lines) if not block[0] or any(line.text for line in block[1])]
        filled = [] if lost_all else [line for heading, below in blocks for line in (*heading, *below)]
        while filled and not filled[-1].text:
            del filled[-1]
        result[position] = replace(result[position], lines=tuple(filled))
    return [replace(section, lines=tuple(map(texts.with_all_sources, section.lines))) for section in result]


def _new(lines: "Iterable[Line]", texts: "_ShownTexts", limit: int) -> "Iterator[Line]":
    for line in lines:
        limit -= len(line.text) + 1
        if limit < 0 or texts.is_new(line):
            yield line


def repeated_lines(theirs: "Iterable[Line]", sections: "Iterable[ContextSection]", project: str) -> set[Line]:
    """Find the bullets among lines of people's own files that our sections repeat."""
    statements = {line: words for line in theirs if (words := _their_words(line))}
    own_words = {_words(line.text, project) for section in sections for line in section.lines} if statements else set()
    return {line for line, words in statements.items() if words in own_words}


class _ShownTexts:
    """The texts shown so far, in words that are compared; a text that was cut stands for the whole, and the reverse."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._bullet_text: dict[str, tuple[str, ...]] = {}  # and the events behind it
        self._compared: dict[str, str] = {}  # lines, and their words
        self._cut: tuple[str, ...] = ()

    def is_new(self, line: Line) -> bool:
        """Return whether the line has a text that no line before it had; True for lines that are no bullets."""
        words = self._compared[line.text] = _words(line.text, self._project)
        if not words:
            return True
        is_cut = line.text.endswith("…") and len(words) >= _MIN_CUT
        first = self._shown_as(words, is_cut=is_cut)
        if is_cut and not first:
            self._cut += (words,)
        self._bullet_text[first or words] = (*self._bullet_text.get(first, ()), *line.sources)
        if not first:
            self._add_sentences(line)
        return not first

    def add(self, line: Line) -> None:
        """Note the text of a person's bullet, of any kind."""
        self._bullet_text.setdefault(_their_words(line), ())

    def _add_sentences(self, line: Line) -> None:
        """Note each sentence of a bullet of several sentences."""
        if len(sentences_of(line.text)) == 1:
            return  # as most have
        parts = sentences_of(_bullet_text(line.text, self._project))
        for part in parts if len(parts) > 1 else ():
            if len(part.encode()) >= _MIN_SENTENCE:
                self._bullet_text.setdefault(statement_of(part), line.sources)

    def with_all_sources(self, line: Line) -> Line:
        """Return the line with the sources of all lines that were found equal."""
        behind = self._bullet_text.get(self._compared.get(line.text, ""), ())
        if len(behind) <= len(line.sources):
            return line
        return Line(line.text, tuple(dict.fromkeys(behind)), line.conversations)

    def _shown_as(self, words: str, *, is_cut: bool) -> str:
        if words in self._bullet_text:
            return words
        whole = next((text for text in self._bullet_text if text.startswith(words)), "") if is_cut else ""
        if whole or not words.startswith(self._cut):
            return whole
        return next(cut for cut in self._cut if words.startswith(cut))


def _words(line: str, project: str) -> str:
    """Return the words of a bullet, as they are compared; "" of any other line."""
    key = line, project
    if key not in _COMPARED:
        if len(_COMPARED) >= _REMEMBERED:
            _COMPARED.clear()
        text = _bullet_text(line, project)
        _COMPARED[key] = statement_of(text) if text else ""
    return _COMPARED[key]


def _bullet_text(line: str, project: str) -> str:
    """Return the text of a bullet, without mark, day, time and project; "" of any other line."""
    text = _bullet(line)
    return unescaped(text).removeprefix(f"{project}: ") if text else ""


def _bullet(line: str) -> str:
    """Return what follows the marks of a bullet of our own; "" of other lines, and of `… (+9)`, which counts them."""
    if not line.startswith("- "):
        return ""
    text = line[2:]
    if text[:1] == "[":
        if text[2:3] == "]" and text[1:2] in ("W", "B", "O"):
            text = text[3:]
        text = undated(text)[1].removeprefix("[ ] ")
        if text[:1] == "[" and text[1:11].translate(ZEROS) == _A_DAY:
            text = text.partition("] ")[2]  # of a session, with its id
    elif text[:6].translate(ZEROS) == _TIME:
        text = text[6:]
    return "" if text.startswith("…") or "\n" in text else text


def _their_words(line: Line) -> str:
    """Return the words of a bullet as people write them; "" of any other line."""
    text = line.text.lstrip()
    item = text.lstrip("0123456789")
    is_bullet = item[:1] in (("-", "*", "+") if item == text else (".", ")"))
    if not (is_bullet and item[1:2].isspace()):
        return ""
    words = item[2:].lstrip()
    if words[:3] in ("[ ]", "[x]", "[X]") and words[3:4].isspace():
        words = words[4:].lstrip()
    return statement_of(words) if words else ""


def _blocks(lines: "Sequence[Line]") -> list[tuple[list[Line], list[Line]]]:
    """Split into headings with what stands below; before the first one there is none."""
    found: list[tuple[list[Line], list[Line]]] = [([], [])]
    for line in lines:
        if line.text.startswith("## "):
            found.append(([line], []))
        else:
            found[-1][1].append(line)
    return found
