"""The outcome of a session, its cause and its changes, in the words an agent closed with; pure.

Praise, announcements, words of the host, and where something was put for the occasion are left out.

A reply is Markdown: headings and bold labels tell what a sentence is about, items below a line that ends with a colon
belong to it, and a line of code below such a line is its object.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from eventlog.format.text import one_line
from eventlog.hosts.transcripts.prose import BULLET, FENCE, STATEMENTS, mentions, sentences, without_statements

_About = Literal["result", "problem", "cause", "change", "test", "open", "aside", ""]

_PRAISE = re.compile(
    r"^(?:[^\w\s`\"'(\[/]+\s*)?(?:perfect|excellent|great(?: (?:news|job|work))?|done|awesome|wonderful|fantastic"
    r"|success|nice|all (?:done|set)|got it|sure(?: thing)?|okay|ok|yes|yep|absolutely|certainly|of course"
    r"|you(?:'re| are) (?:very |most )?welcome|good(?: news)?|understood|noted|verstanden|alles klar"
    r"|parfait|terminé|c'est fait|compris|listo|perfecto|hecho|entendido|pronto|perfeito|feito|fatto|perfetto|capito"
    r"|готово|отлично|понял|알겠습니다|완료했습니다|承知しました|わかりました"
    r"|congratulations|you(?:'re| are) (?:absolutely )?right|太好了|完美|很好|好的|明白了?|收到|搞定了?|没问题|完成了?)"
    r"\s*[!.,:：，。！—–-]+\s*",
    re.IGNORECASE,
)
_MARKS = re.compile(r"^\[[xX]\]\s+|^[^\w\s`\"'(\[/.~$@#<*+-]+\s*|\s*[✓✔✅☑]\ufe0f?(?: PASS\w*)?$")
_ANNOUNCES = re.compile(
    r"(?:(?:now|next|first|then|so|finally)[,:]? )?(?:let me|let's|let us|i'll|i will|we'll"
    r"|i(?:'m| am) (?:now |also |just )?(?:going to|(?:patch|runn|add|check|read|updat|start|remov|creat|edit|apply"
    r"|retry|verify|inspect|look|implement|writ|test|fix|do)ing)"
    r"|i need to|i should|i can (?:also|now)|now let|now i|i (?:would|could)(?! not)|i'd"
    r"|(?:we|you) could(?! not)|would you|do you want|want me|shall i|feel free|if you|please|you can|you may|good luck"
    r"|try (?:again|it|that|this|the|to|\w+ing)|run (?:it|this|that|these|the following)|now (?:on|in) your"
    r"|(?:still )?waiting (?:on|for)|standing by|now (?:also )?(?:add|apply|build|check|clear|clone|commit|create"
    r"|do|drop|extend|extract|fix|implement|open|push|re-?(?:build|factor|run|try)|register|remove|replace|reply|resolve"
    r"|restore|rewrite|run|set|simplify|stage|test|trim|update|verify|wire|write)"
    r"|ich (?:werde|würde)|soll ich|als nächstes)\b"
    r"|让我|我来|我将|我会|接下来|现在我|请|如果(?:你|您)|需要我"
    r"|(?:je vais|laissez-moi|regardons|voyons|vérifions|souhaitez|voulez|n'hésitez|si vous"
    r"|je peux (?:aussi|maintenant)|(?:ahora )?(?:voy|vamos) a|déjame|permíteme|si (?:quieres|lo deseas)"
    r"|(?:agora )?(?:vou|vamos)|deixe?-me|se quiser|fammi|vediamo|se vuoi|ti preparo|posso anche"
    r"|(?:теперь )?давайте|приступаю|начинаю|анализирую|посмотрю|проверяю|если (?:хотите|нужно)"
    r"|(?:добав|обнов|исправ|провер|созда)(?:им|дим|лю|ляю|ю|м)|теперь я (?:вижу|понимаю)"
    r"|(?:теперь|сейчас|сначала|затем|далее) (?:я )?\w{2,}(?:им|ую|лю|рю|здам))\b"
    r"|.*(?:대기 ?중(?:입니다)?|대기합니다|기다립니다|겠습니다|[할볼릴]게요"
    r"|ましょうか?|(?:確認|調査|修正|実装|追加|作成|更新|削除|変更|実行|解決|コミット|プッシュ|マージ)します)\W*$",
    re.IGNORECASE,
)
_PROGRESS = re.compile(  # what the agent does now, where nothing tells what came of it
    r"(?i)(?:now |still )?(?!(?:every|some|any|no)thing|(?:exist|miss|remain|pend|follow|accord|depend|dur|be|us|stag)"
    r"ing)(?:also |re-?)?[a-z]{2,}ing (?!and \w+ing \w+ed\b)|now (?:the|an?) |이제 .*(?:작성|실행|교체|진행|수정)합니다"
)
_TELLS = re.compile(
    r"(?i)\b(?:(?:is|are|was|were|ha[sd]|have|do|did|can|could|will|would|must|may|make|pass|fail|work|us|show|confirm)"
    r"(?:e?s|e|ed|n't)?|made|came|kept|led|I(?:'d)? s[ae]\w+)\b|\w(?:[a-rt-z]s|ed) (?:the|an?|it|all|both|that|this|`)"
)
_CONTINUES = re.compile(r"(?:then|also|and|afterwards|after that)\b,? (?!\w+ed\b)|然后|再", re.IGNORECASE)
_INTRODUCES = re.compile(
    r"(?:here(?:'s| is| are)|below (?:is|are)|in summary|to summari[sz]e|(?:a )?summary of|the following|以下是|总结)"
    r"|.{0,12}(?:요약|내용|정리(?:하면|합니다))(?:입니다)?\W*$|모든 (?:작업|구현|수정|단계)[이가]? ?(?:모두 )?완료\S*$"
    r"|(?:i|we)(?:'ve| have)? (?:summari[sz]ed|provided)\b"
    r"|(?:(?:jetzt|ich|maintenant|je|ahora|agora|ora|теперь|я) )*"
    r"(?:sehe|verstehe|sehe ich|vois|veo|vejo|vedo|вижу|понял|нашёл|нашел)"
    r" (?:das |den |le |l'|el |o |il |la )?(?:problem|fehler|problème|erreur|problema|erro\w*|проблему|ошибку)\W*$",
    re.IGNORECASE,
)
_FOR_THE_OCCASION = re.compile(
    r"\b(?:patch|diff|predictions?)\b.*\b(?:saved|written|generated|stored|created|ready)\b"
    r"|\b(?:clean(?:ed)?[ -]?up|temporary (?:file|test)|removed the (?:test|debug) (?:file|script))"
    r"|\b(?:git clone|cloned|checked out|pip install|rm -rf"
    r"|installed (?:the |all )?(?:dependenc|requirement|package)\w+"
    r"|set up (?:the |a )?(?:testbed|environment|repo\w*|virtual))\b",
    re.IGNORECASE,
)
_PATCH_CLAUSE = re.compile(r"[，,；]?\s*补丁(?:文件)?[也均都]?已经?(?:成功)?(?:生成|保存|写入|创建)[^，。；]*")
_PLAIN_WORD = re.compile(r"[a-z]+(?![\w./(])")  # no name in code
_OF_THE_HOST = re.compile(
    r"API Error|Request timed out|No response requested|Credit balance|Prompt is too long|Invalid API key"
    r"|(?:\w+ )?usage limit reached|\[Request interrupted",
    re.IGNORECASE,
)
_UNRESOLVED = re.compile(  # what a session leaves broken, undone or unseen
    r"\bstill (?:fail|crash|broken|wrong|red|missing|flaky|reproduc)|\b\d+ (?:\w+ )?tests? fail\b|\bnot yet\b"
    r"|\b(?:is|are|has|have)(?:n't| not) (?:been )?(?:fixed|done|tested|verified|implemented|work|push|commit|deploy"
    r"|finish|complete)"
    r"|\b(?:i|we) (?:could(?:n't| not)|(?:was|were)(?:n't| not) able to|am unable to|have(?:n't| not)|did(?:n't| not))"
    r" (?:fix|run|verif|test|reproduc|finish|complet|push|commit)"
    r"|\bnoch nicht\b|\bnicht behoben\b|\bschl[aä]g(?:en|t)\b.*\bfehl\b"
    r"|pas encore|todavía no|aún no|ainda não|non (?:è|sono) (?:ancora )?stat|(?:ещё|еще|пока) не|아직|まだ"
    r"|尚未|仍然?(?:失败|报错)|未能|还?没有?(?:修复|完成|测试|提交|通过)",
    re.IGNORECASE,
)
_HOWEVER = re.compile(
    r"^(?:however|but|unfortunately|note(?: that)?|caveat|allerdings|但是?|不过)[,:，：]?\s*", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"^(?:(?:i|we)(?:'ve| have)?|successfully)(?: (?:also|now|just|then|successfully|have|been able to))* "
    r"(?=(?:\w+ed|made|wrote|rewrote|set|put|built|split|found|ran|kept)\b)",
    re.IGNORECASE,
)
_TWICE = re.compile(r"^([A-Z]\w+ed)\b[^:]{0,60}: (\1\b.*)$")
_VERBS = (
    r"(?:fix|add|chang|modif|updat|replac|remov|mov|renam|refactor|implement|introduc|extract|inlin|wrapp?|switch|revert"
    r"|creat|rewrit|merg|bump|migrat|extend|correct|resolv|simplif|adjust|convert|enabl|disabl|allow|prevent|ensur|restor"
    r"|delet|dropp?|insert|pass|call|return|us|handl|support|round|document|configur|upgrad|install|clean|optimi[sz]|improv"
    r"|mak|stripp?|check|guard|cach|show|hid|stor|keep|read|writ|limit|reduc|increas|align|parametri[sz]|solv)"
)
_ORDERS = re.compile(rf"{_VERBS}\w{{0,3}}(?<!ed)(?<!ing)\s", re.IGNORECASE)  # what is to be done, for what was
_CHANGE = re.compile(
    rf"^(?:fix: |{_VERBS}\w*(?:ed|s)|made|wrote|set|built|rewrote|split|kept|put)\b"
    r"|\b(?:the|this) (?:fix|change|solution|patch|implementation|refactoring|update|method|code|function|pr"
    r"|commit|branch|release|version)"
    r" (?:now )?\w+s\b"
    rf"|\b(?:i|we) (?:also |now |have )?(?:{_VERBS}\w*ed|made|wrote|set|rewrote)\b"
    rf"|\b(?:has|have|was|were|is|are) (?:been |now |all )*(?:{_VERBS}\w*ed|made|written)\b"
    r"|\b(?:is|are) (?:now )?(?:\w+ed|shown|hidden|kept|set|made|built)\b|\bnow \w+s?\b"
    r"|修复|添加|新增|修改|更新|删除|移除|重构|实现|改为|改成|替换|优化|解决|支持",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:root cause|because|due to|caused by|stems? from"
    r"|the (?:real |actual |underlying )?(?:issue|problem|bug|error|failure|cause)"
    r"(?: here)? ?(?:was|is|came|lies|lay|occurr\w+|:)|rather than|was missing|were missing|didn't|did not|doesn't"
    r"|does not|wasn't|never|incorrectly|without (?:checking|assigning|considering)|instead of|ignor(?:ed|ing)"
    r"|causing|which (?:caused|causes|triggers?|triggered|made|led|leads|means))\b|^since\b"
    r"|因为|由于|原因|导致|问题在于|问题是",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"^(?:(?:re)?(?:tested|verified|confirmed|validated|checked|ran)\b|(?:added|created|wrote|updated)\b[^,;:]*\btests?\b)"
    r"|^(?:已?(?:测试|验证|确认)|(?:新增|添加|增加|补充)了?[^，。]*测试)",
    re.IGNORECASE,
)
_FOUND = re.compile(r"^(?:found|identified|located|traced|reproduced|定位|找到|发现)", re.IGNORECASE)
_PLACE = re.compile(
    r"^the (?:bug|issue|problem|error|fix|change|root cause)(?: here)? (?:was|is|occurred|lies|lay) (?:in|at|on)\b"
    r"(?!.*\b(?:because|where|which)\b)",
    re.IGNORECASE,
)
_DEPENDS = re.compile(
    r"^(?:(?:this|these)(?! (?:fix|change|pr|patch|commit|release|branch|refactoring)s?\b)|that|those|it|they|however"
    r"|also|so|then|for example|e\.g|\w+ed (?:it|them|this|that)(?!.*: ))\b",
    re.IGNORECASE,
)
_RESTS = re.compile(  # a sentence that makes the one before it untrue by itself
    r"(?:(?:it|that|this|they|these) (?:does|do|is|are|has|have|works?)|now (?:it|they) (?:does|do|is|are|works?))"
    r"(?: now| been| fixed| done| gone| resolved| corrected)*[.!]?"
    r"|(?:that(?: is|'s| has been) )?(?:fixed|corrected)(?: now)?[.!]?"
    r"|(?:das )?ist (?:jetzt )?(?:behoben|erledigt)[.!]?"
    r"|(?:现在?|目前)?已经?(?:修复|解决|改好|更正)了?[。！]?",
    re.IGNORECASE,
)
_GENERAL_WORDS = """
a all also an and are as at backward backwards be been both branch bug bugs by change changed changes check checks
clean code commit commits committed compatibility compatible complete completed completely confirmed correctly created
done effective errors everything existing expected files final finished fix fixed fixes focused following for fulfilled
fully generated git good has have here hook hooks how i implementation implemented in is issue issues it its made
maintains minimal my now of on only or our pass passed passes passing patch pr pre-commit problem problems properly
pull pushed ran ready request requested required requirements resolved saved should simple so solution solved solves
stored succeeded success successful successfully suite task tasks test tested testing tests that the this through to
typecheck updated ve verified was we went were what with without work working works you your
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())
_WORD = re.compile(r"[^\W_][\w./-]*|_+\w[\w./-]*")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_HAN_GENERAL = re.compile(
    r"已经|全部|所有|改动|很小|接口|不变|任务|完成|测试|通过|成功|修改|修复|问题|提交|代码|以上|现在|了|的"
)
_NUMBER = re.compile(r"^[\d.]*\d[\da-f]*$|^[0-9a-f]{7,40}$")
_FEWEST_WORDS, _MOST_CAUSES = 2, 3


def read_closing(message: str, asked: str = "", scratch: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Choose the sentences of a closing: the outcome first, then the cause, then what else was changed; and the others.

    `asked` is what the session was about, `scratch` are names of files that only served the work on it.
    """
    found: dict[str, _About] = {}
    seen: set[str] = set()  # without the marks of code
    leads: set[str] = set()
    intends, last = False, ""
    for sentence in _sentences_in(message):
        text = _plain(sentence.text).rstrip(":：")
        if last and _RESTS.fullmatch(sentence.text):
            found = {f"{text} {sentence.text}" if text == last else text: about for text, about in found.items()}
        last = ""
        is_progress = _PROGRESS.match(text) and not _TELLS.search(text)
        intends = bool(is_progress or _ANNOUNCES.match(text) or (intends and _CONTINUES.match(text)))
        leads |= {text} if sentence.text.endswith((":", "：")) else set()
        is_order = sentence.about == "change" and _ORDERS.match(text) and not _CHANGE.search(text)
        text = f"Fix: {text}" if is_order else text
        if (
            not intends
            and not text.endswith(("?", "？"))
            and _is_telling(text)
            and sentence.about != "open"
            and not any(mentions(text, name) for name in scratch)
            and (plain := text.replace("`", "")) not in seen
        ):
            seen.add(plain)
            found.setdefault(text, sentence.about)
            last = text
    body = {text: about for text, about in found.items() if about not in ("aside", "test")}
    outcome = _outcome(body, telling_words(asked)) or next(iter(body or found), "")
    rest = {text: about for text, about in body.items() if text != outcome}
    changed = [text for text, about in rest.items() if about in ("change", "result") and _CHANGE.search(text)]
    changed += [text for text, about in rest.items() if about == "change" and text not in (*changed, *leads)]
    changes = sorted(changed, key=lambda text: (bool(_TEST.match(text)), bool(_DEPENDS.match(text))))
    causes = _causes(rest)
    result = [text for text, about in rest.items() if about == "result" and text not in leads and not _TEST.match(text)]
    unresolved = [text for text in found if _UNRESOLVED.search(text)]
    others = dict.fromkeys((*unresolved[:1], *causes[:1], *changes, *causes[1:], *result))
    worth = [*filter(None, (outcome,)), *(text for text in others if not _DEPENDS.match(text))]
    return worth, [text for text, about in found.items() if text not in worth and about != "aside"]


def _outcome(body: dict[str, _About], asked: set[str]) -> str:
    """Choose the outcome: of the changes in a result the first that bears on the request, else the nearest change."""
    ranks: tuple[tuple[_About, ...], ...] = (("result",), ("change",), ("", "cause", "problem"))
    first = ""
    for abouts in ranks:
        if first and "cause" in abouts:
            break
        of_rank = [text for text, about in body.items() if about in abouts]
        telling = [text for text in of_rank if _CHANGE.search(text)] or (of_rank if "change" in abouts else [])
        alone = [text for text in telling if not any(kind.match(text) for kind in (_DEPENDS, _TEST, _FOUND))]
        alone = alone or telling[:1]
        shared = [len(telling_words(text) & asked) for text in alone]
        if any(shared):
            return alone[[*map(bool, shared)].index(True) if "result" in abouts else shared.index(max(shared))]
        first = first or next(iter(alone), "")
    return first


def _causes(rest: dict[str, _About]) -> list[str]:
    """List the causes: of a section about them, then of others, then the problem."""
    of_section = [text for text, about in rest.items() if about == "cause"]
    elsewhere = [text for about in ("result", "", "problem") for text in rest if rest[text] == about]
    causes = [text for text in (*of_section, *elsewhere) if _CAUSE.search(text)]
    wrong = [text for text, about in rest.items() if about == "problem"]
    in_section = sorted(of_section, key=lambda text: not _CAUSE.search(text))
    choices = dict.fromkeys((*in_section, *causes, *wrong))
    by_itself = [text for text in choices if not _DEPENDS.match(text)] or list(choices)
    return sorted(by_itself, key=lambda text: bool(_PLACE.match(text)))[:_MOST_CAUSES]


def _plain(sentence: str) -> str:
    """Take off praise, marks and who did it."""
    text, before = sentence.strip(), ""
    while text != before:
        before, text = text, _PRAISE.sub("", _MARKS.sub("", text)).strip()
    text = _HOWEVER.sub("", text) if _UNRESOLVED.search(text) else text
    text = _TWICE.sub(r"\2", _SUBJECT.sub("", _PATCH_CLAUSE.sub("", text)))
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


def _is_telling(text: str) -> bool:
    nothing = (_INTRODUCES, _OF_THE_HOST)
    if any(pattern.match(text) for pattern in nothing) or _FOR_THE_OCCASION.search(text):
        return False
    han = len(_HAN_GENERAL.sub("", "".join(_HAN.findall(text))))
    return len(telling_words(text)) + han // 2 >= _FEWEST_WORDS


def telling_words(text: str) -> set[str]:
    """Collect the words of a text that any other closing need not have."""
    found = {word.casefold().rstrip("./-") for word in _WORD.findall(_HAN.sub(" ", text))}
    return {word for word in found if word not in _GENERAL and not _NUMBER.match(word)}


# ------------------------------------------------------------------------------------------------ sentences of a reply

_TITLES: dict[_About, str] = {
    "cause": "(?:root )?causes?|analysis|diagnosis|why|lessons?|takeaways?|insights?|教训|经验|(?:根本)?原因|根因|分析",
    "open": "next steps?|remaining|to-?dos?|limitations?|follow[- ]?ups?|not done|decisions?"
    "|what (?:i|we) need(?: from you)?|open questions?|action items?|manual steps?|offene fragen"
    r"|(?:plan|proposal|proposed changes|suggestions?|recommendations?|offen|nächste schritte)(?=\W*$)"
    "|下一步|待办|遗留|未完成|决[定策]|计划|建议|方案|需要你|残タスク|残作業|未対応|今後の",
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
_NOT_TEXT = re.compile(r"^\s*(?:[|<>\u2500-\u257f]|[-=_*]{3,}\s*$)|[\u2500-\u257f]{3}")
_CHECKED = re.compile(r"^\s*[✓✔✅☑❌✗]\ufe0f?\s+")
_SUMS_UP = re.compile(  # a line whose items are what was done, each by itself
    r"^(?:here(?:'s| is| are)|let me|this is)?\b.*(?:\bsummar[iy]\w*|\bthe (?:\w+ )?changes|总结|以下是)"
    r"|\bwhat (?:(?:was|has been|i|we|i've|we've|i have|we have) )?(?:did|done|changed|fixed|added)\b",
    re.IGNORECASE,
)
_SHELLS = frozenset(("bash", "sh", "shell", "console", "zsh", "text", "output", "diff"))
_CODE_ALONE = re.compile(r"`[^`]+`")
_PUNCTUATION = tuple(".,;:!?…。，；：！？")
_SHORT_CODE, _JOINED, _OF_PATHS = 90, 280, 140  # of code in a sentence, a line and its items as one, and mere paths
_PLANS = re.compile(  # a line whose items are not done
    r"\b(?:my|the|a) plan\b|\bплан\b|\b(?:could|would|should|suggest|propose|recommend)\b|计划|建议|下一步|待办",
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
        is_numbered = line.lstrip()[:1].isdigit()
        return _Block("item", one_line(line[bullet.end() :]), len(line) - len(line.lstrip()), is_numbered)
    return _Block("text", one_line(line))


# ------------------------------------------------------------------------------------------------ what is it about


class _Sentence(NamedTuple):
    """A sentence of a reply, and what it is about; it ends with a colon where what follows is left out."""

    text: str
    about: _About


def _about(title: str) -> _About | None:
    """Find the subject of what stands below a heading; None where its words mean nothing here."""
    plain = re.sub(r"^[\W\d_]+", "", title.replace("*", "")).strip()
    if len(plain) > _LONGEST_TITLE:
        return None
    if _heads_statements(plain):
        return "open"
    return next((about for about, words in _ABOUT.items() if words.fullmatch(plain) or words.match(plain)), None)


def _heads_statements(line: str) -> bool:
    return any(label.heads_a_list.match(line) for label in STATEMENTS)


def _sentences_in(message: str) -> Iterator[_Sentence]:
    """Yield the sentences of a message in order."""
    about: _About = "result"  # until a heading says something else
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


def _unit(blocks: list[_Block], about: _About) -> Iterator[_Sentence]:
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
    yield from (_Sentence(part, about) for part in found)
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
    intends = _ANNOUNCES.match(line) or _PLANS.search(line) or _heads_statements(line)
    return bool(intends) and line.endswith((":", "：")) and not _SUMS_UP.search(line)


def _labelled(text: str, about: _About) -> tuple[str, _About]:
    """Remove a label that names the subject of a text; any other label stays, as its first words."""
    label = _LABEL.match(text)
    if not label:
        return text.replace("**", ""), about
    word = label["label"].strip() if _COLON_IN.match(text) else ""
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
