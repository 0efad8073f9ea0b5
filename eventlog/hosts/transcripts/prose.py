"""Prose of messages: lines outside of code, sentences, the statements they label, the topic of a session; pure.

Decisions and to-dos are found where a message labels them: in the label's line, after a sentence, or in the list below.

A topic is the words of a request that distinguish it in its project. Programs and habits begin many prompts alike: an
opening that several sessions of a project share is no topic, and of a form (`task_id: …`, `problem_statement: …`) the
field in prose is.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise, takewhile
from os.path import commonprefix

from eventlog.format.text import GERMAN_MONTHS, cut, joined, one_line, same_text, states_nothing

ITEM_CHARS = 200
BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)、])\s+")
LINK = re.compile(r"(?<![\w\])!`])\[([^\[\]\n]+)\]\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)?)\)")
FENCE = re.compile(r"^\s*(?:```|~~~)(?P<language>\w*)")
_NO_PROSE = re.compile(r"^\s*(?:[{}\[\]<|#>]|[\"'][\w.-]+[\"']\s*:|[-=_*]{3,}\s*$|/[\w:-]+\s*$|!\w)")
_HUNK = re.compile(r"@@ -\d+(?:,(?P<before>\d+))? \+\d+(?:,(?P<after>\d+))? @@")
_OF_A_HUNK = ("", " ", "+", "-", "\\")
_NO_MONTH = rf"(?!(?<=\d\. )(?:{'|'.join(GERMAN_MONTHS)})\b)"
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)(?<!\bz\.)(?<!\bz\.B\.)(?<!\bz\. B\.)(?<!\bd\.)(?<!bzw\.)"
    rf"(?<!\bca\.)(?<!\bNr\.)\s+{_NO_MONTH}(?=[\"'(*]?[A-Z\d]|`|[^\x00-\x7f])"
    r"|(?<=[.!?][)\"'])\s+(?=[A-Z])|(?<=[。！？])\s*"
)

_DECISION = (  # not "решение", which is a solution, too
    r"(?:(?:key )?decisions?|decided|we decided|entscheidung(?:en)?|entschieden|(?:关键)?决策|(?:关键)?决定"
    r"|décisions?(?: prises?)?|decisi(?:ón|ones)(?: tomadas?)?|decis(?:ão|ões)(?: tomadas?)?|decision[ei](?: pres[ae])?"
    r"|принят(?:о|ые) решени[ея]|decidimos|(?:мы )?решили|решено|결정(?: ?사항)?|決定(?:事項)?)"
)
_OPEN_END = (
    r"(?:todos?|to[- ]dos?|next steps?|remaining(?: work)?|still open|open ends?|not done|follow[- ]?ups?"
    r"|(?:noch )?offen(?:e punkte)?|nächste schritte|noch zu tun|待办(?:事项)?|未完成|下一步|遗留(?:问题)?"
    r"|what (?:i|we) need from you|open questions?|action items?|offene fragen|残タスク|残作業|未対応|次のステップ"
    r"|(?:reste )?à faire|prochaines étapes|pendientes?|próximos pas(?:os|sos)|(?:por|queda por) hacer|pendências"
    r"|(?:falta|a) fazer|da fare|prossimi passi|осталось(?: сделать)?|следующие шаги|дальше"
    r"|남은 작업|할 일|다음 단계|还没做|尚未完成)"
)
_ASIDE = r"(?:\s*\([^()]*\))?"  # "(optional)"
_FOLLOWS = rf"{_ASIDE}[*_]*+\s*[:：]\s*+[*_]*+\s*(\S.*)$"
_QUOTES = re.compile(r"\W*[\"“„«「『`>]")
_UNQUOTED = rf"^(?!{_QUOTES.pattern})\W*"  # what is quoted, somebody else states


class _Label:
    """A word that labels statements: in its line, mid-line after a sentence, or in the list below it."""

    def __init__(self, word: str, bare: str = "") -> None:
        self.stated = re.compile(rf"{_UNQUOTED}{word}{_FOLLOWS}", re.IGNORECASE)
        self.heads_a_list = re.compile(rf"{_UNQUOTED}{word}{_ASIDE}[*_]*\s*[:：]?[*_]*\s*$", re.IGNORECASE)
        self.bare = re.compile(bare) if bare else None

    def find(self, part: str) -> re.Match[str] | None:
        """Match the statement of a part of a line."""
        return self.stated.search(part) or (self.bare.match(part) if self.bare else None)


DECISIONS = _Label(_DECISION)
OPEN_ENDS = _Label(_OPEN_END, rf"{_UNQUOTED}(?:TODO(?:\(\w+\))?:?\s+|\[ \]\s+)(\S.*)$")
STATEMENTS = (DECISIONS, OPEN_ENDS)  # told by themselves
_BEFORE_A_LABEL = re.compile(
    rf"(?<=[.!?。！？；;,，])\s*(?=[*_]*(?:{_DECISION}|{_OPEN_END}){_ASIDE}[*_]*\s*[:：])", re.IGNORECASE
)


_TO_MEMORY = (
    r"(?:\b(?:save|note|add|put|write)(?: (?:it|this|that))? (?:(?:in|to) your|(?<=save )(?:in|to)) memory\b"
    r"|(?:^|[.!;,:–—-] )(?:(?:and|also|please) )*remember (?:this|that|it(?=\W*$| for ))\b"
    r"(?: for (?:later|next time|the future))?)"
)
_LASTS = re.compile(
    rf"{_TO_MEMORY}|"
    r"\b(?:from now on|going forward|ab (?:sofort|jetzt)|von nun an|künftig|in zukunft"
    r"|we(?: have|'ve)? decided (?:to|on|against|that)|wir haben (?:uns )?(?:beschlossen|entschieden)"
    r"|désormais|dorénavant|à partir de maintenant"
    r"|(?:a partir|desde|de) ahora(?: en adelante)?|(?:a partir|de) agora(?: em diante)?|d['’]ora in poi"
    r"|с этого момента|отныне)\b|이제부터|앞으로는|기로 (?:결정)?했(?:습니다|다|어요?)$"
    r"|^(?:(?:nous avons|on a) décidé|hemos decidido|decidimos|abbiamo deciso|мы решили)\b|从现在起|从今以后|今后|今後"
    r"|(?:^|[，,；])以后[^，。；会要可再]{0,10}(?:都|一律|统一|不再|不要|请|用)|^我们(?:已经)?决定"
    r"|これからは|に決め(?:まし)?た|に決定し(?:まし)?た"
    r"|^(?:please )?(?:always|never) "
    r"(?!(?:been|mind|seen|again|gonna|the|an?|[a-z]+(?:[^s]s|[^e]ed|ing|ly))\b)[a-z]+ \S",
    re.IGNORECASE,
)
_LOWER_END = re.compile(
    r"(?<=[\w)`'\"][.!])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.) +"
)  # where nobody writes a capital
_POINTS_BACK = re.compile(rf"^(?:\w+\W+){{0,2}}{_TO_MEMORY}\W*(?:please\W*)?$", re.IGNORECASE)
_AT_THE_END = re.compile(rf"(?<=\w)\W*{_TO_MEMORY}\W*(?:please\W*)?$", re.IGNORECASE)
_SUPPOSES = re.compile(
    rf"{_POINTS_BACK.pattern}|"  # what, another sentence says
    r"\b(?:what if|suppose|said|says|wrote|i['’]ll|i will|if|whether|wenn|falls|ob|sagt|dit|dijo"
    r"|disse|если|ли)\b|(?:^|[,;] )s[ie]\b|如果|假如|是否|要不要|说过?|もし|[?？吗呢か]$",
    re.IGNORECASE,
)
_WHETHER = re.compile(r"(?:whether|if|ob)\b|是否|要不要", re.IGNORECASE)
_OF_WORK = re.compile(r"(?:I|I['’](?:ll|ve|m|d)|[Ll]et me|[Nn]ext|[Tt]omorrow|Ich|[Mm]orgen)\b|我(?!们)|接下来|明天")


def lasting(prompt: str) -> list[str]:
    """List the sentences of a prompt by which the user decides for later; no question and nothing of others."""
    texts = map(one_line, _text_lines(prompt))
    lines = (line for text in texts for line in (_LOWER_END.split(text) if text.islower() else [text]))
    found = [text.removesuffix("。").removesuffix(".") for line in lines for text in sentences(line)]
    lasts = [text for text in found if _LASTS.search(text) and not _SUPPOSES.search(text)]
    lasts += [before for before, text in pairwise(found) if _POINTS_BACK.match(text) and not _SUPPOSES.search(before)]
    chosen = [_AT_THE_END.sub("", text) for text in found if text in lasts and not _QUOTES.match(text)]
    return [text for text in chosen if len(text) <= ITEM_CHARS]


def stated(label: _Label, message: str) -> list[str]:
    """List the statements that a message labels so: its decisions, or the to-dos that it leaves open."""
    found: list[str] = []
    in_list = False
    for line in _text_lines(message):
        if labelled := [match[1] for part in _BEFORE_A_LABEL.split(line) if (match := label.find(part))]:
            found += labelled
            in_list = False
        elif label.heads_a_list.match(line):
            in_list = True
        elif in_list and (bullet := BULLET.match(line)):
            found.append(line[bullet.end() :])
        else:
            in_list = in_list and not line.strip()
    plain = (_without_work(one_line(LINK.sub(r"\1", text).replace("**", "")).strip(" *_")) for text in found)
    texts = (text.removesuffix("。").removesuffix(".") for text in plain)
    return [cut(text, ITEM_CHARS) for text in texts if not _is_empty(label, text)]


def _without_work(text: str) -> str:
    """Cut a statement where its author goes on to speak of the work: what was not done yet, what comes next."""
    first, *others = sentences(text) or [""]
    return joined((first, *takewhile(lambda sentence: not _OF_WORK.match(sentence), others)))


def _is_empty(label: _Label, text: str) -> bool:
    """Check whether a statement is empty: a question for a decision, a to-do that is done, "none"."""
    asks = label is DECISIONS and (_WHETHER.match(text) or "".join(sentences(text)[:1]).endswith(("?", "？")))
    is_done = text.startswith(("[x]", "[X]")) or (label is OPEN_ENDS and text.startswith(("✅", "✓", "✔", "☑")))
    return bool(asks or is_done or states_nothing(text))


def _text_lines(message: str) -> Iterator[str]:
    """Yield the lines outside of code blocks and of patches."""
    fenced, before, after = False, 0, 0  # lines that a hunk of a patch still has
    for line in message.splitlines():
        if (before > 0 or after > 0) and line[:1] in _OF_A_HUNK:
            before -= line[:1] not in ("+", "\\")
            after -= line[:1] not in ("-", "\\")
        elif hunk := _HUNK.match(line):
            before, after = int(hunk["before"] or 1), int(hunk["after"] or 1)
        elif FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line


def _prose_lines(message: str) -> Iterator[str]:
    """Yield the lines of prose: no code, data, tables, headings, decisions or to-dos."""
    heading: _Label | None = None
    for line in _text_lines(message):
        if label := next((label for label in STATEMENTS if label.heads_a_list.match(line)), None):
            heading = label
            continue
        if heading and BULLET.match(line):
            continue
        heading = heading if not line.strip() else None
        if line.strip() and not _NO_PROSE.match(line):
            yield from without_statements(line)


def without_statements(line: str) -> Iterator[str]:
    """Yield a line without the decisions and to-dos it labels, if anything is left."""
    parts = [part for part in _BEFORE_A_LABEL.split(line) if not any(label.find(part) for label in STATEMENTS)]
    if any(map(str.strip, parts)):
        yield joined(parts)


def prose(message: str) -> str:
    """Reduce a message to a line of prose."""
    return one_line(" ".join(_as_sentence(list(_prose_lines(message)))))


def _as_sentence(lines: list[str]) -> Iterator[str]:
    """Join the lines of a list as parts of a sentence."""
    for line, following in pairwise([*lines, ""]):
        text = BULLET.sub("", line).strip().replace("**", "")
        in_a_list = BULLET.match(line) and BULLET.match(following)
        yield text + ";" if in_a_list and text[-1:].isalnum() else text


def sentences(text: str) -> list[str]:
    """Split a line of prose into sentences."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def mentions(text: str, name: str) -> bool:
    """Check whether a text names a file."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) :][:1]
        if not (before.isalnum() or before in ("_", ".", "-")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


# ----------------------------------------------------------------------------------------------- the topic of a session

_SEVERAL = 3  # sessions
_WORD = re.compile(r"[^\s。：！？；]+[。：！？；]?|[。：！？；]")
_VARIES = re.compile(r"\S*\d\S*")
_LAST_CHARS = (".", ":", "!", "?", "。", "：", "！", "？", "…", ";", "；")
_A_SENTENCE = 12  # bytes: a shorter sentence is joined with the next
_WRAPPED = 65  # characters: a longer line may go on in the next
_FIELD = re.compile(r"^\s*(?P<key>[a-z][\w-]{1,30})\s*:\s+(?P<value>\S.*)$")
_FEWEST_FIELDS = 2
_FEWEST_WORDS = 3
_ASKS = (
    "title", "subject", "summary", "problem_statement", "problem", "task", "issue", "request", "goal", "description",
    "question", "prompt",
)  # fmt: skip
_TITLE_BELOW = re.compile(r"(?<=[:：])\s*\n\s*#{1,6} +(?:plan: )?(?=\S+ +\S|[^\x00-\x7f])", re.IGNORECASE)
_PASTED = re.compile(r"(?<=\S)[ \t]+(?:\w+: *)?Traceback \(most recent call last\):.*")  # in the line of a request
_NAMED = re.compile(rf"^(?:{'|'.join(_ASKS)})\s*[:：]\s+(?=\S)", re.IGNORECASE)
_GREETING = re.compile(
    r"\A(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag|abend))(?: +\w{1,20})?"
    r"|你好|您好|嗨|早上好)"
    r"\s*(?:[,.!，。！]\s*|$)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:(?:ok(?:ay)?|yes|yep|sure|no|please|go on|go ahead|continue|proceed|do (?:it|that)|fix (?:it|this)|lgtm"
    r"|sounds good|looks good|thanks?|thank you|test|wow|great|awesome|(?:this|that|it)(?:'s| is| was)(?: \w+)?"
    r" (?:helpful|great|awesome|amazing|perfect|wonderful|fantastic)|ja|nein|bitte|(?:mach )?weiter|danke"
    r"|好的?|是的?|可以|开始吧?|继续|谢谢)[\s.!,。！，]*)*[\s.!,。！，]*",
    re.IGNORECASE,
)


class Openings:
    """The first requests of sessions, by project: an opening that several share distinguishes none of them."""

    def __init__(self) -> None:
        self._prompts: dict[str, dict[str, str]] = {}
        self._sorted: dict[str, list[str]] = {}
        self._repeated: Counter[tuple[str, str]] = Counter()

    def add(self, project: str, conversation: str, prompt: str) -> None:
        """Add the first request of a session, once."""
        prompts = self._prompts.setdefault(project, {})
        if conversation not in prompts:
            prompts[conversation] = _alike(prompt)
            self._sorted.pop(project, None)
            self._repeated[project, same_text(prompt)] += 1

    def topic(self, project: str, prompt: str) -> str:
        """Find the words of a first request that distinguish its session; "" where several began with just these."""
        if self._repeated[project, same_text(prompt)] >= _SEVERAL:
            return ""
        text = _TITLE_BELOW.sub(" ", prompt)
        telling = self.telling_part(project, text).strip() or _numbered(text)
        return request(telling) or request(prompt)

    def telling_part(self, project: str, prompt: str) -> str:
        """Return a prompt without the opening that several sessions share, up to the end of a sentence or a line."""
        end = 0
        for word in islice(_WORD.finditer(prompt), self._shared_words(project, prompt)):
            remaining = prompt[word.end() :]
            if (
                word[0].endswith(_LAST_CHARS)
                or not remaining.strip()
                or "\n" in remaining[: len(remaining) - len(remaining.lstrip())]
            ):
                end = word.end()
        first, _, others = prompt[end:].partition("\n")
        is_field = end and not prompt[:end].rstrip(" ").endswith("\n") and len(first.split()) >= _FEWEST_WORDS
        return f"{first}\n\n{others}" if is_field else prompt[end:]

    def _shared_words(self, project: str, prompt: str) -> int:
        """Count the first words that the prompts of several sessions share: they are neighbours in their order."""
        if project not in self._sorted:
            self._sorted[project] = sorted(self._prompts.get(project, {}).values())
        in_order, mine = self._sorted[project], _alike(prompt)
        at = bisect_left(in_order, mine)
        longest = ""
        for start in range(max(0, at - _SEVERAL), at + 1):
            neighbours = in_order[start : start + _SEVERAL]
            if len(neighbours) == _SEVERAL:
                shared = commonprefix([mine, neighbours[0], neighbours[-1]])  # noqa: RUF071 - of texts, not of paths
                longest = max(longest, shared, key=len)
        return longest.count(" ")


def _alike(prompt: str) -> str:
    """Reduce a prompt to its words as they are compared: without capitals and numbers."""
    return "".join(f"{_VARIES.sub('0', word.casefold())} " for word in _WORD.findall(_TITLE_BELOW.sub(" ", prompt)))


def _numbered(prompt: str) -> str:
    """Find the last sentence with a number in it: prompts that are alike differ in numbers only."""
    return next((unit for unit in reversed([*_units(prompt)]) if _VARIES.search(unit)), "")


def request(prompt: str) -> str:
    """Find the request of a prompt; "" for a greeting, an agreement, or data only."""
    text = ""
    for sentence in _units(_GREETING.sub("", _PASTED.sub("", _TITLE_BELOW.sub(" ", prompt.strip())), count=1)):
        plain = _NAMED.sub("", sentence)
        text = joined((text, plain)) if not _NOTHING.fullmatch(plain) else text
        if len(text.encode()) >= _A_SENTENCE and not plain.endswith((":", "：")):
            break
    text = LINK.sub(r"\1", text).rstrip(".。:：")
    return text if " " in text or not text.isascii() else ""


def _units(prompt: str) -> Iterator[str]:
    """Yield the sentences of a prompt, of a form the field in prose first."""
    lines = list(_text_lines(prompt))
    fields = [(number, field) for number, line in enumerate(lines) if (field := _FIELD.match(line))]
    if len(fields) >= _FEWEST_FIELDS:
        lead = [line for line in lines[: fields[0][0]] if line.strip()]
        if lead and not lead[-1].rstrip().endswith((":", "：")):
            yield from _sentences(lead)
        in_prose = [field for _, field in fields if len(field["value"].split()) >= _FEWEST_WORDS]
        named = [field for key in _ASKS for field in in_prose if field["key"].casefold() == key]
        yield from (field["value"] for field in (*named, *in_prose)[:1])
    yield from _sentences(lines)


def _goes_on(line: str, following: str) -> bool:
    """Check whether a line was wrapped."""
    if line.rstrip().endswith(("?", "!")):
        return False
    if following.lstrip()[:1].islower():
        return True
    is_text = len(following.split()) > _FEWEST_WORDS and not following.rstrip().endswith((":", "："))
    return len(line) >= _WRAPPED and is_text


def _sentences(lines: list[str]) -> Iterator[str]:
    """Yield the sentences of lines; a line that is not wrapped ends a sentence."""
    parts: list[str] = []
    for line, following in pairwise([*lines, ""]):
        parts += [BULLET.sub("", text).strip().replace("**", "") for text in _prose_lines(line)]
        if not following.strip() or BULLET.match(following) or not _goes_on(line, following):
            yield from sentences(one_line(" ".join(parts)))
            parts.clear()
    yield from sentences(one_line(" ".join(parts)))
