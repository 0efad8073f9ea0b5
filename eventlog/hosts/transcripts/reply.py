"""The sentences of an agent's reply, and what each is about; pure.

A reply is Markdown: headings and bold labels tell what a sentence is about, items below a line that ends with a colon
belong to it, and a line of code below such a line is its object.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from eventlog.format.text import one_line
from eventlog.hosts.transcripts.prose import BULLET, FENCE, STATEMENTS, sentences, without_statements

About = Literal["result", "problem", "cause", "change", "test", "open", "aside", ""]

ANNOUNCES = re.compile(
    r"(?:(?:now|next|first|then|so|finally)[,:]? )?(?:let me|let's|let us|i'll|i will|we'll"
    r"|i(?:'m| am) (?:now |also |just )?(?:going to|(?:patch|runn|add|check|read|updat|start|remov|creat|edit|apply"
    r"|retry|verify|inspect|look|implement|writ|test|fix|do)ing)"
    r"|i need to|i should|i can (?:also|now)|now let|now i|i (?:would|could)(?! not)|i'd"
    r"|(?:we|you) could(?! not)|would you|do you want|want me|shall i|feel free|if you|please|you can|you may|good luck"
    r"|try (?:again|it|that|this|the|to|\w+ing)|run (?:it|this|that|these|the following)|now (?:on|in) your"
    r"|(?:still )?waiting (?:on|for)|standing by|now (?:also )?(?:add|apply|build|check|clear|clone|commit|create"
    r"|do|drop|extend|extract|fix|implement|open|push|re-?(?:build|factor|run|try)|register|remove|replace|reply|resolve"
    r"|restore|rewrite|run|set|simplify|stage|test|trim|update|verify|wire|write)"
    r"|(?:jetzt |nun |zuerst |dann )?(?:ich (?:werde|würde|kann (?:auch|gern)|schaue|sehe mir|prüfe|lese|suche|starte"
    r"|teste|ergänze|committe)|(?:prüfe|schaue|starte|teste|ergänze) ich)|soll ich|lass(?:en Sie)? mich|möchtest du"
    r"|(?:wenn|falls) (?:du (?:willst|möchtest|magst|noch)|noch)|bei (?:weiteren )?fragen"
    r"|meld(?:e|en sie)? dich|sag (?:mir )?(?:gern )?bescheid|als nächstes)\b"
    r"|让我|我来|我将|我会|我?先(?:看|分析|检查|了解)|接下来|现在我|请|如果(?:你|您|还|需要|有)|如[需有]|需要我|还有(?:什么|其他)"
    r"|有(?:任何|其他)问题|随时"
    r"|(?:je vais|laissez-moi|regardons|voyons|vérifions|souhaitez|voulez|n'hésitez|si (?:vous|tu)"
    r"|je peux (?:aussi|maintenant)|(?:ahora )?(?:voy|vamos) a|déjame|permíteme|si (?:quieres|necesitas|lo deseas)"
    r"|(?:agora )?(?:vou|vamos)|deixe?-me|se (?:quiser|precisar|tiver)|fammi|vediamo|se (?:vuoi|ti serve)|ti preparo"
    r"|posso anche"
    r"|(?:теперь )?давайте|приступаю|начинаю|анализирую|посмотрю|проверяю|если (?:хотите|нужно|что-то|понадобится)"
    r"|(?:добав|обнов|исправ|провер|созда)(?:им|дим|лю|ляю|ю|м)|теперь я (?:вижу|понимаю)"
    r"|(?:теперь|сейчас|сначала|затем|далее) (?:я )?\w{2,}(?:им|ую|лю|рю|здам))\b"
    r"|.*(?:ください|下さい|주세요|대기 ?중(?:입니다)?|대기합니다|기다립니다|겠습니다|[할볼릴]게요"
    r"|ましょうか?|(?:試み|試し|見てみ|進め|立て|直し|始め|(?:確認|調査|修正|実装|追加|作成|更新|削除|変更|実行|解決|インストール"
    r"|コミット|プッシュ|マージ)し)ます)\W*$",
    re.IGNORECASE,
)

_TITLES: dict[About, str] = {
    "cause": "(?:root )?causes?|analysis|diagnosis|why|lessons?|takeaways?|insights?|ursachen?|grund"
    "|教训|经验|(?:問題の)?原因|根[因源]|分析|定位",
    "open": "next steps?|remaining|to-?dos?|limitations?|follow[- ]?ups?|not done|decisions?"
    "|what (?:i|we) need(?: from you)?|open questions?|action items?|manual steps?|offene fragen"
    r"|(?:plan|proposal|proposed changes|suggestions?|recommendations?|offen|nächste schritte)(?=\W*$)"
    "|下一步|(?:后续|剩余|遗留|待(?:办|解决|处理|确认|优化|修复)?)(?:问题|事项|工作|优化)?|未完成|决[定策]|计划|建议|(?<!解决)(?<!修复)(?<!处理)方案|需要你"
    "|残タスク|残作業|未対応|今後の|次のステップ",
    "test": r"test(?:s|ing)?|verif\w+|validat\w+|checks?|geprüft"
    "|(?:自?测试?|验证)(?:结果|情况|方式|步骤)?|テスト|検証|動作確認",
    "aside": "output|benefits?|usage|examples?|files?|method|location|lines?|status|notes?|impact|deliverables?|how to"
    "|hinweise?|ausgabe|verwendung|beispiele?|dateien|输出|用法|(?:使用|运行)(?:方法|方式)|示例|(?<!修改)(?<!改动)(?<!变更)文件|好处|注意(?:事项)?|备注|使い方|補足|備考|影響範囲",
    "change": r"(?:bug )?fix(?:es)?|solutions?|chang\w*|implement\w*|modif\w*|resolution"
    r"|what (?:i|was|we) (?:did|done|changed)|änderung(?:en)?|lösung|behebung|umsetzung|geändert"
    r"|(?:主要)?(?:解决|修复|修改|改动|变更|实现|处理|优化|新增|做法)(?:方案|方式|办法|内容|文件|的?问题)?|(?:主な)?(?:変更|修正|対応|実装|解決)",
    "result": "summary|results?|overview|outcome|done|conclusion|zusammenfassung|ergebnis(?:se)?"
    "|überblick|fazit|总结|小结|摘要|结[果论]|效果|完成情况|概述|まとめ|概要|結果|結論",
    "problem": "problems?|issues?|bugs?|background|context|symptoms?|fehler|hintergrund|问题|背景|现象"
    "|問題|症状|不具合",
}
_HAN = "[\u4e00-\u9fff]"  # words without spaces: what a title says, its last one says
_ABOUT = {
    about: re.compile(rf"(?:.*(?:\b|(?<={_HAN})))?(?:{title})(?:\b|(?<=[^\x00-\x7f]))", re.IGNORECASE)
    for about, title in _TITLES.items()
}
_LABELS = {
    about: re.compile(rf"(?:the |{_HAN}{{1,4}}?)?(?:{title})(?: \w+)?", re.IGNORECASE)
    for about, title in _TITLES.items()
}
_PLAIN_LABEL = re.compile(rf"^(?P<label>{_HAN}{{1,8}})[:：]\s*(?P<rest>\S.*)$", re.DOTALL)
_LONGEST_TITLE = 50
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(?P<marked>.+?)\s*#*|(?:\*\*|__)(?P<bold>[^*]{1,60}?)(?:\*\*|__)\s*[:：]?)\s*$")
_LABEL = re.compile(r"^(?:\*\*|__)(?P<label>[^*]{1,60}?)\s*[:：]?\s*(?:\*\*|__)\s*[:：]?\s*(?P<rest>.*)$", re.DOTALL)
_COLON_IN = re.compile(r"^(?:\*\*|__)[^*]{1,60}?(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*(?:\([^)]*\)\s*)?[:：])")
_NOT_TEXT = re.compile(r"^\s*(?:[|<>\u2500-\u257f]|[-=_*]{3,}\s*$)|[\u2500-\u257f]{3}")
_CHECKED = re.compile(r"^\s*[✓✔✅☑❌✗]\ufe0f?\s+")
_SUMS_UP = re.compile(  # a line whose items are what was done, each by itself
    r"^(?:here(?:'s| is| are)|let me|this is)?\b.*(?:\bsummar[iy]\w*|\bthe (?:\w+ )?changes|总结|以下是"
    r"|(?:改动|变更|修改)如下)|\b(?:zusammenfassung|(?:änderungen|punkte)\W*$|was (?:ich|wir|sich)\b.*\bgeändert)"
    r"|(?:変更|修正|対応|実装)(?:点|内容|の(?:概要|まとめ))|以下の通り"
    r"|\bwhat (?:(?:was|has been|i|we|i've|we've|i have|we have) )?(?:did|done|changed|fixed|added)\b",
    re.IGNORECASE,
)
_SHELLS = frozenset(("bash", "sh", "shell", "console", "zsh", "text", "output", "diff"))
_CODE_ALONE = re.compile(r"`[^`]+`")
_PUNCTUATION = tuple(".,;:!?…。，；：！？")
_SHORT_CODE = 90  # characters that are told within a sentence
_JOINED, _OF_PATHS = 280, 140  # of a line and its items, told as one sentence; of a line and mere paths
_PLANS = re.compile(  # a line whose items are not done
    r"\b(?:have|are|see|between) (?:\w+ ){0,3}(?:options|choices|alternatives)\b"
    r"|\b(?:my|the|a) plan\b|\bплан\b|\b(?:could|would|should|suggest|propose|recommend)\b|计划|建议|下一步|待办"
    r"|\b(?:könnte[nst]*|würde[nst]*|vorschl[aä]ge?|empfehl\w*|nächste schritte)\b|次のステップ|提案|候補",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"\b(?:from|to|at|with|by|of|as|is|was|are|be|like|in|using|following|example|e\.g|that|including|before|after"
    r"|code|run|(?:include|cover|contain)s?|says?|reads?|states?|shows?|prints?|outputs?|returns?|becomes?|gives?"
    r"|looks? like this)(?: now)?\s*[:：]$"
    r"|\b(?:you|will|would|should|now|['’]ll) (?:now )?(?:show|print|read|say|be|return|output|give|become|display"
    r"|see)\s*[:：]$",
    re.IGNORECASE,
)
_OPTION = re.compile(  # one of several ways that are offered
    r"\W*(?:option|alternative|approach|variante|选项|方案) ?(?:\d|[A-F]\b|[一二三])\s*(?:[:：*(–—-]|$)", re.IGNORECASE
)
_LISTS = re.compile(r",? (?:covering|including|containing)\s*[:：]$", re.IGNORECASE)  # a line that is whole without it
_GOES_ON = re.compile(r"^(?:to|with|into|after|now)\s*[:：]$", re.IGNORECASE)


class _Block(NamedTuple):
    """A part of a message: a heading, a paragraph, an item of a list, or code with its language."""

    kind: Literal["heading", "text", "item", "code"]
    text: str
    indent: int = 0
    is_numbered: bool = False


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
            if block and goes_on and block.kind == "text" and not _begins_with_label(block.text):
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
        is_numbered = line.lstrip()[:1].isdigit()
        return _Block("item", one_line(line[bullet.end() :]), len(line) - len(line.lstrip()), is_numbered)
    return _Block("text", one_line(line))


class Sentence(NamedTuple):
    """A sentence of a reply, and what it is about; it ends with a colon where what follows is left out."""

    text: str
    about: About


def _about(title: str) -> About | None:
    """Find the subject of what stands below a heading; None where its words mean nothing here."""
    plain = re.sub(r"^[\W\d_]+", "", title.replace("*", "")).strip()
    if len(plain) > _LONGEST_TITLE:
        return None
    if _heads_statements(plain):
        return "open"
    return next((about for about, words in _ABOUT.items() if words.fullmatch(plain) or words.match(plain)), None)


def _heads_statements(line: str) -> bool:
    return any(label.heads_a_list.match(line) for label in STATEMENTS)


def sentences_in(message: str) -> Iterator[Sentence]:
    """Yield the sentences of a message in order."""
    about: About = "result"  # until a heading says something else
    blocks = _blocks(message)
    at, is_offered = 0, False
    while at < len(blocks):
        if blocks[at].kind == "heading":
            about = _about(blocks[at].text) or ""
        is_offered = bool(_OPTION.match(blocks[at].text)) or (is_offered and blocks[at].kind in ("item", "code"))
        end = _end_of_unit(blocks, at)
        if blocks[at].kind in ("text", "item"):
            yield from _unit(blocks[at:end], "open" if is_offered else about)
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
        is_below = first.kind == "text" or (first.is_numbered and not block.is_numbered)
        deeper = block.kind == "item" and (block.indent > first.indent or (leads and is_below))
        if not (deeper or goes_on or (block.kind == "code" and (leads or end > at + 1))):
            break
        end += 1
    return end


def _unit(blocks: list[_Block], about: About) -> Iterator[Sentence]:
    """Yield the sentences of a line with its items: short items become a part of its last sentence."""
    text, about = _labelled(blocks[0].text, about)
    text, at = _with_object(text, blocks)
    found = [part for line in without_statements(text) for part in sentences(line)]
    leads = (sentences(text) or [""])[-1]
    is_plan = _is_plan(leads)
    found = [part for part in found if not (is_plan and part == leads)]
    items = [block for block in blocks[at:] if block.kind == "item"]
    if items and found and not is_plan and not _SUMS_UP.search(found[-1]):
        whole, names = _with_items(found[-1], items), _named(blocks[at:])
        if len(names) < len(items) and len({item.indent for item in items}) == 1 and len(whole) <= _JOINED:
            found[-1], at = whole, len(blocks)
        elif names:
            named, limit = _with_items(found[-1], names), _OF_PATHS if "/" in names[0].text else _JOINED
            found[-1], at = named if len(named) <= limit else found[-1], at + len(names)
    if found and found[-1].endswith((":", "：")):
        lead = _LISTS.sub("", found[-1])
        found[-1:] = [] if _OPENS.search(lead) else [lead]
    yield from (Sentence(part, about) for part in found)
    while at < len(blocks):
        end = _end_of_unit(blocks, at)
        if blocks[at].kind == "item":
            yield from _unit(blocks[at:end], "open" if is_plan else about)
        at = end


def _with_items(line: str, items: Sequence[_Block]) -> str:
    """Join items to the line above."""
    texts = [_labelled(item.text, "")[0].rstrip(".;") for item in items]
    return f"{line}{' ' if line.endswith(_PUNCTUATION) else ': '}{'; '.join(texts)}".strip()


def _named(blocks: Sequence[_Block]) -> Sequence[_Block]:
    """Take the first items that only name code, without items of their own."""
    for at, (block, after) in enumerate(pairwise([*blocks, _Block("text", "")])):
        if block.kind != "item" or after.indent > block.indent or not _CODE_ALONE.fullmatch(block.text):
            return blocks[:at]
    return blocks


def _is_plan(line: str) -> bool:
    """Check whether the items below a line are not done: a plan, an offer, what is open."""
    intends = ANNOUNCES.match(line) or _PLANS.search(line) or _heads_statements(line)
    return bool(intends) and line.endswith((":", "：")) and not _SUMS_UP.search(line)


def _begins_with_label(text: str) -> bool:
    return bool(_PLAIN_LABEL.match(text) or _COLON_IN.match(text))


def _labelled(text: str, about: About) -> tuple[str, About]:
    """Remove a label that names the subject of a text; any other label stays, as its first words."""
    plain = _PLAIN_LABEL.match(text)
    label = plain or _LABEL.match(text)
    if not label:
        return text.replace("**", ""), about
    word = label["label"].strip() if plain or _COLON_IN.match(text) else ""
    means = next((about for about, words in _LABELS.items() if words.fullmatch(word)), None)
    if means:
        return label["rest"].replace("**", ""), means
    return text.replace("**", ""), about


def _with_object(text: str, blocks: list[_Block]) -> tuple[str, int]:
    """Add to a line that ends with a colon the line of code below it, and what that became."""
    at = 1
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
