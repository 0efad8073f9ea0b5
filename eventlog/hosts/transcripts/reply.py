"""The sentences of an agent's reply, each with what it is about; pure.

A reply is Markdown: headings and bold labels tell what a sentence is about, items below a line that ends with a colon
belong to it, and a line of code below such a line is its object.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from eventlog.format.text import one_line
from eventlog.hosts.transcripts.prose import BULLET, FENCE, sentences, without_statements

About = Literal["result", "problem", "cause", "change", "test", "open", "aside", ""]

_TITLES: dict[About, str] = {
    "cause": "(?:root )?causes?|analysis|diagnosis|why|lessons?|takeaways?|insights?|教训|经验|(?:根本)?原因|根因|分析",
    "open": "next steps?|remaining|to-?dos?|limitations?|follow[- ]?ups?|not done|decisions?"
    "|下一步|待办|遗留|未完成|决[定策]",
    "test": r"test(?:s|ing)?|verif\w+|validat\w+|checks?|测试|验证",
    "aside": "output|benefits?|usage|examples?|files?|method|location|lines?|status|notes?|impact|deliverables?|how to"
    "|输出|用法|示例|文件|好处",
    "change": r"(?:bug )?fix(?:es)?|solutions?|chang\w*|implement\w*|modif\w*|resolution"
    r"|what (?:i|was|we) (?:did|done|changed)|解决|修复|修改|改动|变更|实现",
    "result": "summary|results?|overview|outcome|done|conclusion|总结|小结|摘要|结果|概述",
    "problem": "problems?|issues?|bugs?|background|context|symptoms?|问题|背景|现象",
}
_ABOUT = {
    about: re.compile(rf"(?:.*\b)?(?:{title})(?:\b|(?<=[^\x00-\x7f]))", re.IGNORECASE)
    for about, title in _TITLES.items()
}
_LABELS = {about: re.compile(rf"(?:the )?(?:{title})(?: \w+)?", re.IGNORECASE) for about, title in _TITLES.items()}
_LONGEST_TITLE = 50
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(?P<marked>.+?)\s*#*|(?:\*\*|__)(?P<bold>[^*]{1,60}?)(?:\*\*|__)\s*[:：]?)\s*$")
_LABEL = re.compile(r"^(?:\*\*|__)(?P<label>[^*]{1,60}?)\s*[:：]?\s*(?:\*\*|__)\s*[:：]?\s*(?P<rest>.*)$", re.DOTALL)
_COLON_IN = re.compile(r"^(?:\*\*|__)[^*]{1,60}?(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*(?:\([^)]*\)\s*)?[:：])")
_NOT_TEXT = re.compile(r"^\s*(?:\||<|[-=_*]{3,}\s*$|>)")
_CHECKED = re.compile(r"^\s*[✓✔✅☑❌✗]\ufe0f?\s+")
_SUMS_UP = re.compile(  # a line whose items are what was done, each by itself
    r"^(?:here(?:'s| is| are)|let me|this is)?\b.*(?:\bsummar[iy]\w*|\bthe (?:\w+ )?changes|总结|以下是)"
    r"|\bwhat (?:was|has been|i|we|i've|we've|i have|we have) (?:did|done|changed|fixed|added)\b",
    re.IGNORECASE,
)
_SHELLS = frozenset(("bash", "sh", "shell", "console", "zsh", "text", "output", "diff"))
_SHORT_CODE = 90  # characters that are told within a sentence
_JOINED = 280  # of a line and its items, told as one sentence
_OPENS = re.compile(
    r"\b(?:from|to|with|by|of|as|is|was|are|like|in|using|following|example|e\.g|that|including|before|after|code)\s*[:：]$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^(?:to|with|into|after|now)\s*[:：]$", re.IGNORECASE)


class _Block(NamedTuple):
    """A part of a message: a heading, a paragraph, an item of a list, or code with its language."""

    kind: Literal["heading", "text", "item", "code"]
    text: str
    indent: int = 0


def _blocks(message: str) -> list[_Block]:
    found: list[_Block] = []
    code: list[str] | None = None
    language, goes_on = "", False
    for line in message.splitlines():
        fence = FENCE.match(line)
        if fence and code is None:
            code, language, goes_on = [], fence["language"].casefold(), False
        elif fence:
            found.append(_Block("code", "" if language in _SHELLS else "\n".join(code or ())))
            code = None
        elif code is not None:
            code.append(line)
        else:
            block = _block_of(line)
            if block and goes_on and block.kind == "text":
                found[-1] = found[-1]._replace(text=f"{found[-1].text} {block.text}")
            elif block:
                found.append(block)
            goes_on = block is not None and block.kind != "heading"
    return found


def _block_of(line: str) -> _Block | None:
    """Read a line outside of code; None for an empty line and for what is no text."""
    if not line.strip() or _NOT_TEXT.match(line):
        return None
    if heading := _HEADING.match(line):
        return _Block("heading", heading["marked"] or heading["bold"])
    if bullet := BULLET.match(line) or _CHECKED.match(line):
        return _Block("item", one_line(line[bullet.end() :]), len(line) - len(line.lstrip()))
    return _Block("text", one_line(line))


# ------------------------------------------------------------------------------------------------ what is it about


class _Sentence(NamedTuple):
    """A sentence of a reply, and what it is about; it ends with a colon where what follows is left out."""

    text: str
    about: About


def _about(title: str) -> About | None:
    """Find the subject of what stands below a heading; None where its words mean nothing here."""
    plain = re.sub(r"^[\W\d_]+", "", title.replace("*", "")).strip()
    if len(plain) > _LONGEST_TITLE:
        return None
    return next((about for about, words in _ABOUT.items() if words.fullmatch(plain) or words.match(plain)), None)


def sentences_in(message: str) -> Iterator[_Sentence]:
    """Yield the sentences of a message in order."""
    about: About = "result"  # until a heading says something else
    blocks = _blocks(message)
    at = 0
    while at < len(blocks):
        if blocks[at].kind == "heading":
            about = _about(blocks[at].text) or ""
        end = _end_of_unit(blocks, at)
        if blocks[at].kind in ("text", "item"):
            yield from _unit(blocks[at:end], about)
        at = end


def _end_of_unit(blocks: list[_Block], at: int) -> int:
    """Find the end of a line and of all that belongs to it: deeper items, and what follows a colon."""
    first, end = blocks[at], at + 1
    leads = first.text.rstrip("*_ ").endswith((":", "："))
    if first.kind not in ("text", "item"):
        return end
    while end < len(blocks):
        block = blocks[end]
        goes_on = block.kind == "text" and blocks[end - 1].kind == "code" and bool(_GOES_ON.match(block.text))
        deeper = block.kind == "item" and (block.indent > first.indent or (leads and first.kind == "text"))
        if not (deeper or goes_on or (block.kind == "code" and (leads or end > at + 1))):
            break
        end += 1
    return end


def _unit(blocks: list[_Block], about: About) -> Iterator[_Sentence]:
    """Yield the sentences of a line with its items: short items become a part of its last sentence."""
    text, about = _labelled(blocks[0].text, about)
    text, at = _with_object(text, blocks, 1)
    found = [part for line in without_statements(text) for part in sentences(line)]
    items = [block for block in blocks[at:] if block.kind == "item"]
    texts = [_labelled(item.text, "")[0].rstrip(".;") for item in items]
    joined = f"{found[-1] if found else text} {'; '.join(texts)}".strip()
    if (
        items
        and found
        and not _SUMS_UP.search(found[-1])
        and len(joined) <= _JOINED
        and len({item.indent for item in items}) == 1
    ):
        found[-1] = joined
        at = len(blocks)
    elif found and found[-1].endswith((":", "：")):
        found[-1:] = [] if _OPENS.search(found[-1]) else found[-1:]
    yield from (_Sentence(part, about) for part in found)
    while at < len(blocks):
        end = _end_of_unit(blocks, at)
        if blocks[at].kind == "item":
            yield from _unit(blocks[at:end], about)
        at = end


def _labelled(text: str, about: About) -> tuple[str, About]:
    """Remove a label that names the subject of a text; any other label stays, as its first words."""
    label = _LABEL.match(text)
    if not label:
        return text.replace("**", ""), about
    word = label["label"].strip() if _COLON_IN.match(text) else ""
    means = next((about for about, words in _LABELS.items() if words.fullmatch(word)), None)
    if means:
        return label["rest"].replace("**", ""), means
    return text.replace("**", ""), about


def _with_object(text: str, blocks: list[_Block], at: int) -> tuple[str, int]:
    """Add to a line that ends with a colon the line of code below it, and what that became."""
    while at < len(blocks) and text.endswith((":", "：")) and blocks[at].kind == "code":
        code = blocks[at].text.strip()
        at += 1
        if not code or "\n" in code or "`" in code or len(code) > _SHORT_CODE:
            break
        text = f"{text[:-1].rstrip() if _OPENS.search(text) else text} `{code}`"
        if at < len(blocks) and blocks[at].kind == "text" and _GOES_ON.match(blocks[at].text):
            text = f"{text} {blocks[at].text.lower()}"
            at += 1
    return text, at
