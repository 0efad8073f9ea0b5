"""Text of events that would act as structure in a Markdown file: a backslash before it makes it text; pure.

A browser that shows the file would otherwise hide all that follows an unclosed `<!--` or `<details>`, show a heading
that nobody wrote, or load a picture: its address may tell its owner what an agent was made to write there. Only what
acts is touched; a link waits for a click, and what stands in a span of code is text already.
Source: CommonMark 0.31 §2.4, §4.6, §6.4 and §6.6; the tags are those of GitHub's tag filter, what else hides or heads,
and those with attributes, many of which load something.

Imported inside agents' hooks: `re` is loaded for the few texts that need it.
"""

from eventlog.fast.sha import sha256
from eventlog.projections.line import Line, Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from eventlog.projections.base import Document

_ACTS = (
    r"!--|!\[CDATA\[|![A-Za-z]|\?|"
    r"/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext|pre|listing|details|dialog|template"
    r"|select|svg|math|object|applet|marquee|table|frameset|audio|video|canvas|h[1-6]|hr|ul|ol|li|dl|blockquote)\b|"
    r"[a-z][\w-]*(?:[\s/]+[a-z_:][\w.:-]*)+\s*="
)
_OPENS = rf"(?i)<(?:{_ACTS})"
_PIECE = r"(?s)\\.|(?P<code>(?<!`)(?P<ticks>`+)(?!`).{1,500}?(?<!`)(?P=ticks)(?!`))|<|!\["
_ESCAPED = r"(?i)(?<!\\)((?:\\\\)*)\\(?=%s)"  # not one that is escaped itself
_STARTS = r"(?=#{1,6}(?: |$)|[-+*](?: |$)|(?:[-_*] ?){3,}$|\[[^\]]+\]:|</?[A-Za-z])"
_MAY_START = frozenset("#-+*_[<")  # what a text that `_STARTS` begins with
_STARTED = r"\\(?=[#\-+*_\[<])"


def as_text(text: str) -> str:
    """Escape the text of a line, so that nothing in it acts as HTML around or below it, or loads a picture."""
    last_address = text.rfind("](")  # behind the last picture
    if "<" not in text and not 0 <= text.find("![") < last_address:
        return text
    import re

    if not (re.search(_OPENS, text) or "![" in text):
        return text
    tags_before = False

    def escape(found: "re.Match[str]") -> str:
        nonlocal tags_before
        if found["code"] and tags_before and (re.search(_OPENS, found[0]) or "![" in found[0]):
            return found[0].replace("<", "\\<").replace("![", "\\![")  # the backticks may stand in a tag
        if found[0] == "![" and found.start() < last_address:
            return "\\!["
        if found[0] != "<":
            return found[0]
        if re.compile(_OPENS).match(text, found.start()):
            return "\\<"
        tags_before = True
        return "<"

    return re.sub(_PIECE, escape, text)


def as_item(text: str) -> str:
    """Escape the beginning of a bullet: no heading, rule, bullet or HTML, no definition of a link."""
    if text[:1] not in _MAY_START:
        return as_text(text)
    import re

    return as_text(f"\\{text}" if re.match(_STARTS, text) else text)


def unescaped(text: str) -> str:
    """Unescape a text that was made fit for a file."""
    if "\\" not in text:
        return text
    import re

    plain = re.sub(_ESCAPED % r"!\[", r"\1", text[1:] if re.match(_STARTED, text) else text)
    return re.sub(_ESCAPED % _OPENS.removeprefix("(?i)"), r"\1", plain)


DATED = r"\[(?P<day>\d{4}-\d\d-\d\d)(?P<marks>(?: ×\d+)?(?: \?)?)\] "  # before the text of a bullet


ZEROS = str.maketrans("123456789", "0" * 9)  # a day or a time becomes its shape


def undated(text: str) -> tuple[str, str]:
    """Split the text of a bullet into the day that stands before it, "" for none, and what follows; without `re`."""
    head, end, rest = text[1:].partition("] ") if text[:1] == "[" else ("", "", "")
    day, _, marks = head.partition(" ")
    is_dated = end and day.translate(ZEROS) == "0000-00-00" and not marks.strip("×0123456789 ?")
    return (day, rest) if is_dated else ("", text)


_BEFORE, _BETWEEN, _AFTER = b"<!-- eventlog ", b" sha256:", b" -->"
_SHAPE = b"0000-00-00T00:00:00.000000Z"  # of the time
_TO_SHAPE = bytes.maketrans(b"123456789", b"000000000")
_HEX = frozenset(b"0123456789abcdef")
_DIGEST = 64
_TIME_AT = len(_BEFORE)
_DIGEST_AT = _TIME_AT + len(_SHAPE) + len(_BETWEEN)
STAMP_BYTES = _DIGEST_AT + _DIGEST + len(_AFTER) + 1  # with the end of the line


def stamped(path: str, lines: "Sequence[Line]", newest: str) -> "Document":
    """Add an empty line and the certifying line; their sources are those of the whole document."""
    from eventlog.projections.base import Document  # whoever only reads stamps waits for no views

    def behind() -> Sources:
        behind = [line.behind() for line in lines]
        events = dict.fromkeys(event for events, _ in behind for event in events)
        return tuple(events), tuple(
            dict.fromkeys(conversation for _, conversations in behind for conversation in conversations)
        )

    above = Document(path, (*lines, Line("", find=behind)))
    stamp = f"<!-- eventlog {newest} sha256:{sha256(above.data + newest.encode())} -->"
    data = above.data + f"{stamp}\n".encode()
    return Document(path, (*above.lines, Line(stamp, find=behind)), data)


def stamped_at(data: bytes) -> str | None:
    """Return the time a rendered file carries, edited or not; None where it carries none."""
    _, time, _ = _read(data)
    return time.decode() or None


def is_stamp(line: str) -> bool:
    """Return whether a line is the last line of a rendered file."""
    if not line.startswith("<!--"):
        return False
    above, time, _ = _read(line.encode())
    return bool(time) and not above


def unstamped(document: "Document") -> list[str]:
    """Take the lines of a rendered file without its stamp and the empty line above that."""
    lines = [line.text for line in document.lines]
    return lines[:-2] if lines and is_stamp(lines[-1]) else lines


def is_untouched(data: bytes) -> bool:
    """Return whether the bytes are exactly what was once rendered."""
    above, time, digest = _read(data)
    return bool(time) and any(digest.decode() == sha256(part) for part in (above + time, above))


def _read(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Split into what is above the stamp, its time and its digest; no time where there is no stamp."""
    start = max(len(data) - STAMP_BYTES + (not data.endswith(b"\n")), 0)
    stamp = data[start:].removesuffix(b"\n")
    time, digest = stamp[_TIME_AT : _TIME_AT + len(_SHAPE)], stamp[_DIGEST_AT : _DIGEST_AT + _DIGEST]
    is_whole = stamp == _BEFORE + time + _BETWEEN + digest + _AFTER and len(digest) == _DIGEST
    if is_whole and time.translate(_TO_SHAPE) == _SHAPE and _HEX.issuperset(digest):
        return data[:start], time, digest
    return data, b"", b""
