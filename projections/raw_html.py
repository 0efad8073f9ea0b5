"""Text of events that would act as structure in a Markdown file: a backslash before it makes it text; pure.

A browser that shows the file would otherwise hide all that follows an unclosed `<!--` or `<details>`, or show a heading
that nobody wrote. Only what acts is touched; what stands in a span of code is text already.
Source: CommonMark 0.31 §2.4, §4.6 and §6.6; the tags are those of GitHub's tag filter, and what else hides or heads.
"""

import re
from functools import cache

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
