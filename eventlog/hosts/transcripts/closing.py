"""The outcome of a session, its cause and its changes, in the words an agent closed with; pure.

Praise, announcements, words of the host, and where something was put for the occasion are left out.
"""

import re
from collections.abc import Sequence

from eventlog.hosts.transcripts.prose import mentions
from eventlog.hosts.transcripts.reply import ANNOUNCES, About, sentences_in

_PRAISE = re.compile(
    r"^(?:[^\w\s`\"'(\[/]+\s*)?(?:perfect|excellent|great(?: (?:news|job|work))?|done|awesome|wonderful|fantastic"
    r"|success|nice|all (?:done|set)|got it|sure(?: thing)?|okay|ok|yes|yep|absolutely|certainly|of course"
    r"|you(?:'re| are) (?:very |most )?welcome|good(?: news)?|understood|noted|verstanden|alles klar"
    r"|fertig|erledigt|geschafft|perfekt|super|prima|gut|gern(?:e|(?: geschehen))?|klar|natürlich"
    r"|parfait|terminé|c'est fait|compris|listo|perfecto|hecho|entendido|pronto|perfeito|feito|fatto|perfetto|capito"
    r"|готово|отлично|понял|알겠습니다|완료했습니다|承知しました|わかりました"
    r"|\w{0,4}完了(?:しました|です)?|(?:修正|対応|変更|追加|実装|更新|削除)しました|できました|了解(?:です|しました)?"
    r"|congratulations|you(?:'re| are) (?:absolutely )?right|太好了|完美|很好|好的|明白了?|收到|搞定了?|没问题|完成了?"
    r"|(?:已经?)?(?:找到|定位到?)(?:问题|[根原]因)?了?)"
    r"\s*(?:[!.,:：，。！—–-]|[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)+\s*",
    re.IGNORECASE,
)
_MARKS = re.compile(r"^\[[xX]\]\s+|^[^\w\s`\"'(\[/.~$@#<*+-]+\s*|\s*[✓✔✅☑]\ufe0f?(?: PASS\w*)?$")
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
    r"(?:here(?:'s| is| are)|below (?:is|are)|in summary|to summari[sz]e|(?:a )?summary of|the following|以下是|总结"
    r"|hier (?:ist|sind|kommt)|im folgenden|(?:die )?(?:wichtigsten|folgenden) (?:änderungen|punkte)|zusammenfassung"
    r"|.{0,6}(?:改动|变更|修改)如下|以下の通り|(?:変更|修正|対応|実装)(?:点|内容|の(?:概要|まとめ))$)"
    r"|.{0,12}(?:요약|내용|정리(?:하면|합니다))(?:입니다)?\W*$|모든 (?:작업|구현|수정|단계)[이가]? ?(?:모두 )?완료\S*$"
    r"|(?:i|we)(?:'ve| have)? (?:summari[sz]ed|provided)\b"
    r"|(?:i(?:'m| am)? (?:(?:so|very|truly|really|sincerely|once|again) )*)?(?:apologi[sz]e|sorry)\b"
    r"|(?:my )?apologies\b|my (?:mistake|bad)\b|(?:i )?(?:really )?hope (?:this|that|it|you)\b"
    r"|(?:(?:i'm|i am) )?(?:glad|happy) (?:to|i|it)\b|(?:you're|you are)(?: now| all)* (?:set|(?:ready|good) to \w+)\b"
    r"|(?:it's|it is|everything(?:'s| is))(?: now| all)* (?:set\W*$|(?:ready|good) to (?:go|use|ship|merge)\b)"
    r"|entschuldig|(?:es )?tut mir leid|désolé|je m'excuse|lo siento|perdón\b|(?:peço )?desculp|mi dispiace|извини"
    r"|抱歉|对不起|不好意思|すみません|申し訳|죄송"
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
_PLAIN_WORD = re.compile(r"[a-z]+(?![\w./(])")  # no name in code
_OF_EAST_ASIA = re.compile(r"[\u3040-\u9fff]")  # where only names begin with a Latin letter
_OF_THE_HOST = re.compile(
    r"API Error|Request timed out|No response requested|Credit balance|Prompt is too long|Invalid API key"
    r"|(?:\w+ )?usage limit reached|\[Request interrupted",
    re.IGNORECASE,
)
_FILE = re.compile(r"`[^`\s]*[./][^`\s]*`")
_INSTRUCTS = re.compile(  # what the reader may do with it
    r"(?:then |finally )?(?:make|add|put|copy|start|restart|install|deploy|open|set|use|call|paste|place|save)"
    r" (?:it|them|these)\b",
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
    r"|\b(?:geändert|ersetzt|hinzugefügt|ergänzt|entfernt|gelöscht|behoben|korrigiert|um(?:gestellt|gebaut|benannt)|angepasst"
    r"|ein(?:gebaut|geführt|gerichtet)|verschoben|aktualisiert|implementiert|migriert|erweitert|vereinfacht|jetzt)\b"
    r"|修复|添加|新增|修改|更新|删除|移除|重构|实现|改为|改成|替换|优化|解决|支持|换成|改用|迁移|加上|去掉|调整"
    r"|(?:変更|修正|追加|削除|作成|実装|解決|移行|導入|統合|改善|リネーム)(?:しま|した|し、|。?$)|置き換え|ようにし",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:root cause|because|due to|caused by|stems? from"
    r"|the (?:real |actual |underlying )?(?:issue|problem|bug|error|failure|cause)"
    r"(?: here)? ?(?:was|is|came|lies|lay|occurr\w+|:)|rather than|was missing|were missing|didn't|did not|doesn't"
    r"|does not|wasn't|never|incorrectly|without (?:checking|assigning|considering)|instead of|ignor(?:ed|ing)"
    r"|causing|which (?:caused|causes|triggers?|triggered|made|led|leads|means))\b|^since\b"
    r"|\b(?:weil|wegen|ursache|dadurch|verursacht\w*|lag (?:in|an|am|daran)|fehlten?|anstatt|ohne dass)\b"
    r"|因为|由于|原因|导致|问题在于|问题是|たため|ていたので|せいで",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"^(?:(?:re)?(?:tested|verified|confirmed|validated|checked|ran)\b|(?:added|created|wrote|updated)\b[^,;:]*\btests?\b)"
    r"|^(?:alle )?(?:\d+ )?tests? (?:laufen|bestehen|sind)\b|^[^,;:]*\btests? [^,;:]*\b(?:ergänzt|hinzugefügt)\b"
    r"|^(?:已?(?:测试|验证|确认)|(?:新增|添加|增加|补充)了?[^，。]*测试)|^(?:全)?テスト",
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
    r"|also|so|then|for example|e\.g|\w+ed (?:it|them|this|that)(?!.*: )"
    r"|dies|dadurch|damit|dabei|außerdem|zudem|ebenso|das (?:ist|war|hat|wird|wurde|liegt|lag|führt|behebt))\b"
    r"|另外|此外|同时|这(?:样|会|导致|使)|これ(?:により|で|は)|また、|さらに|なお、",
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
alle alles auch behoben das dem den der des die durch ein eine einen erfolgreich erledigt es fehler gefunden habe ich
ist jetzt laufen nun sind und wir wurde wurden änderung änderungen
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())
_WORD = re.compile(r"[^\W_][\w./-]*|_+\w[\w./-]*")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_HAN_GENERAL = re.compile(
    r"已经?|全部|所有|改动|很小|接口|不变|任务|完成|测试|通过|成功|修改|修复|问题|提交|代码|以上|现在|定位|并|了|的"
)
_NUMBER = re.compile(r"^[\d.]*\d[\da-f]*$|^[0-9a-f]{7,40}$")
_FEWEST_WORDS = 2
_MAX_CAUSES = 3


def read_closing(message: str, request: str = "", scratch: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Choose the sentences of a closing: the outcome first, then the cause, then what else was changed; and the others.

    An outcome that speaks of what stands before it is told behind that. `request` is what the session was about;
    `scratch` names files that only served the work on it.
    """
    found: dict[str, About] = {}
    seen: set[str] = set()  # without the marks of code
    leads: set[str] = set()
    intends, names = False, ""  # `names`: the first change of which nothing but a file is said
    for sentence in sentences_in(message):
        text = _plain(sentence.text).rstrip(":：")
        is_progress = _PROGRESS.match(text) and not _TELLS.search(text)
        instructs = sentence.about != "change" and _INSTRUCTS.match(text)
        intends = bool(is_progress or instructs or ANNOUNCES.match(text) or (intends and _CONTINUES.match(text)))
        leads |= {text} if sentence.text.endswith((":", "：")) else set()
        is_order = sentence.about == "change" and _ORDERS.match(text) and not _CHANGE.search(text)
        text = f"Fix: {text}" if is_order else text
        if (
            not intends
            and not text.endswith(("?", "？"))
            and sentence.about != "open"
            and not (_INTRODUCES.match(text) or _OF_THE_HOST.match(text) or _FOR_THE_OCCASION.search(text))
            and not any(mentions(text, name) for name in scratch)
            and (plain := text.replace("`", "")) not in seen
        ):
            is_telling = _is_telling(text)
            names = names or (text if not is_telling and _CHANGE.match(text) and _FILE.search(text) else "")
            if is_telling or text == names:
                seen.add(plain)
                found.setdefault(text, sentence.about if is_telling else "aside")
    body = {text: about for text, about in found.items() if about not in ("aside", "test")}
    outcome = _outcome(body, telling_words(request)) or next(iter(body or found), "")
    rest = {text: about for text, about in body.items() if text != outcome}
    changed = [text for text, about in rest.items() if about in ("change", "result") and _CHANGE.search(text)]
    changed += [text for text, about in rest.items() if about == "change" and text not in (*changed, *leads)]
    changes = sorted(changed, key=lambda text: (bool(_TEST.match(text)), bool(_DEPENDS.match(text))))
    causes = _causes(rest)
    result = [text for text, about in rest.items() if about == "result" and text not in leads and not _TEST.match(text)]
    unresolved = [text for text in found if _UNRESOLVED.search(text)]
    others = dict.fromkeys((*unresolved[:1], *causes[:1], *changes, *causes[1:], *result))
    worth = [*filter(None, (outcome,)), *(text for text in others if not _DEPENDS.match(text))]
    if _DEPENDS.match(outcome) and names not in ("", outcome):
        worth.insert(0, names)
    if _DEPENDS.match(outcome) or outcome.startswith("Now "):
        worth.sort(key=list(found).index)
    return worth, [text for text, about in found.items() if text not in worth and about != "aside"]


def _outcome(body: dict[str, About], request: set[str]) -> str:
    """Choose the outcome: of the changes in a result the first that bears on the request, else the nearest change."""
    ranks: tuple[tuple[About, ...], ...] = (("result",), ("change",), ("", "cause", "problem"))
    first = ""
    for abouts in ranks:
        if first and "cause" in abouts:
            break
        of_rank = [text for text, about in body.items() if about in abouts]
        telling = [text for text in of_rank if _CHANGE.search(text)] or (of_rank if "change" in abouts else [])
        alone = [text for text in telling if not any(kind.match(text) for kind in (_DEPENDS, _TEST, _FOUND))]
        alone = alone or telling[:1]
        shared = [len(telling_words(text) & request) for text in alone]
        if any(shared):
            return alone[[*map(bool, shared)].index(True) if "result" in abouts else shared.index(max(shared))]
        first = first or next(iter(alone), "")
    return first


def _causes(rest: dict[str, About]) -> list[str]:
    """List the causes: of a section about them, then of others, then the problem."""
    of_section = [text for text, about in rest.items() if about == "cause"]
    elsewhere = [text for about in ("result", "", "problem") for text in rest if rest[text] == about]
    causes = [text for text in (*of_section, *elsewhere) if _CAUSE.search(text)]
    wrong = [text for text, about in rest.items() if about == "problem"]
    in_section = sorted(of_section, key=lambda text: not _CAUSE.search(text))
    choices = dict.fromkeys((*in_section, *causes, *wrong))
    by_itself = [text for text in choices if not _DEPENDS.match(text)] or list(choices)
    return sorted(by_itself, key=lambda text: bool(_PLACE.match(text)))[:_MAX_CAUSES]


def _plain(sentence: str) -> str:
    """Take off praise, marks and who did it."""
    text, before = sentence.strip(), ""
    while text != before:
        before, text = text, _PRAISE.sub("", _MARKS.sub("", text)).strip()
    text = _HOWEVER.sub("", text) if _UNRESOLVED.search(text) else text
    text = _TWICE.sub(r"\2", _SUBJECT.sub("", text))
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) and not _OF_EAST_ASIA.search(text) else text


def _is_telling(text: str) -> bool:
    han = len(_HAN_GENERAL.sub("", "".join(_HAN.findall(text))))
    return len(telling_words(text)) + han // 2 >= _FEWEST_WORDS


def telling_words(text: str) -> set[str]:
    """Collect the words of a text that any other closing need not have."""
    found = {word.casefold().rstrip("./-") for word in _WORD.findall(_HAN.sub(" ", text))}
    return {word for word in found if word not in _GENERAL and not _NUMBER.match(word)}


def subject(text: str) -> set[str]:
    """Collect the words of a text that another need not have, and the pairs of its Chinese characters."""
    runs = _HAN.findall(_HAN_GENERAL.sub(" ", text))
    return telling_words(text) | {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
