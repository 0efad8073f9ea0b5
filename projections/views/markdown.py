"""Text of events that would act as structure in a Markdown file: a backslash before it makes it text; pure.

A browser that shows the file would otherwise hide all that follows an unclosed `<!--` or `<details>`, or show a heading
that nobody wrote. Only what acts is touched; what stands in a span of code is text already.
Source: CommonMark 0.31 §2.4, §4.6 and §6.6; the tags are those of GitHub's tag filter, and what else hides or heads.
"""

import re
from collections.abc import Sequence
from functools import cache

from eventlog.fast.sha import sha256
from eventlog.projections.base import Document, Line, Sources

_ACTS = (
    r"!--|!\[CDATA\[|![A-Za-z]|\?|"
    r"/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext|pre|listing|details|dialog|template"
    r"|select|svg|math|object|applet|marquee|table|frameset|audio|video|canvas|h[1-6]|hr|ul|ol|li|dl|blockquote)\b"
)
_compiled = cache(re.compile)  # on first need: few texts have a `<`
_OPENS = rf"(?i)<(?:{_ACTS})"
_PIECE = r"(?s)\\.|(?P<code>(?<!`)(?P<ticks>`+)(?!`).{1,500}?(?<!`)(?P=ticks)(?!`))|<"
_ESCAPED = rf"(?i)(?<!\\)((?:\\\\)*)\\(?=<(?:{_ACTS}))"  # not one that is escaped itself
_STARTS = re.compile(r"(?=#{1,6}(?: |$)|[-+*](?: |$)|(?:[-_*] ?){3,}$|\[[^\]]+\]:|</?[A-Za-z])")
_STARTED = re.compile(r"\\(?=[#\-+*_\[<])")


def as_text(text: str) -> str:
    """The text of one line, with nothing in it that acts as HTML around or below it."""
    if "<" not in text or not _compiled(_OPENS).search(text):
        return text
    tags_before = False

    def escape(found: re.Match[str]) -> str:
        nonlocal tags_before
        if found["code"] and tags_before and _compiled(_OPENS).search(found[0]):  # the backticks may stand in a tag
            return found[0].replace("<", "\\<")
        if found[0] != "<":
            return found[0]
        if _compiled(_OPENS).match(text, found.start()):
            return "\\<"
        tags_before = True
        return "<"

    return _compiled(_PIECE).sub(escape, text)


def as_item(text: str) -> str:
    """The same for the beginning of a bullet: no heading, rule, bullet or HTML, no definition of a link."""
    return as_text(_STARTS.sub(r"\\", text, count=1) if _STARTS.match(text) else text)


def as_said(text: str) -> str:
    """The text that was made fit for a file, as it was said."""
    if "\\" not in text:
        return text
    return _compiled(_ESCAPED).sub(r"\1", _STARTED.sub("", text, count=1) if _STARTED.match(text) else text)


_STAMP = re.compile(
    rb"<!-- eventlog (?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) sha256:(?P<digest>[0-9a-f]{64}) -->\n?\Z"
)
STAMP_BYTES = len("<!-- eventlog 2026-02-21T08:35:44.123456Z sha256: -->\n") + 64


def stamped(path: str, lines: Sequence[Line], newest: str) -> Document:
    """Add an empty line and the certifying line; their sources are those of the whole document."""

    def behind() -> Sources:
        told = [line.behind() for line in lines]
        events = dict.fromkeys(event for events, _ in told for event in events)
        return tuple(events), tuple(dict.fromkeys(one for _, conversations in told for one in conversations))

    above = Document(path, (*lines, Line("", find=behind)))
    stamp = f"<!-- eventlog {newest} sha256:{_digest(above.data + newest.encode())} -->"
    data = above.data + f"{stamp}\n".encode()
    return Document(path, (*above.lines, Line(stamp, find=behind)), data)


def stamped_at(data: bytes) -> str | None:
    """Return the time a rendered file carries, edited or not; None where it carries none."""
    match = _STAMP.search(data)
    return match["ts"].decode() if match else None


def is_stamp(line: str) -> bool:
    """Return whether a line is the last one of a rendered file."""
    return _STAMP.fullmatch(line.encode()) is not None


def unstamped(document: Document) -> list[str]:
    """Take the lines of a rendered file without its stamp and the empty line above that."""
    lines = [line.text for line in document.lines]
    return lines[:-2] if lines and is_stamp(lines[-1]) else lines


def is_untouched(data: bytes) -> bool:
    """Return whether the bytes are exactly what was once rendered."""
    match = _STAMP.search(data)
    if match is None:
        return False
    above = data[: match.start()]
    return match["digest"].decode() in (_digest(above + match["ts"]), _digest(above))


def _digest(data: bytes) -> str:
    return sha256(data)
