"""The ranking of texts by how well they answer a query, and the gate before a prompt; pure.

Ranking      BM25 (Robertson and Zaragoza 2009) as SQLite's FTS5 computes it: of words, and of two that stand side by
             side in the query and in the text. Without FTS5, texts are ranked here, by the same tokens and constants.
Gate         most prompts need nothing, and get nothing. A text bears on a prompt if the words they share are rare
             enough together, and enough of what the prompt is about. Words of every day's work count for nothing:
             "run the tests" is about no test in particular; nor does German grammar, which texts in English make rare.
             The longer a text, the more it has to share: a long one has any word. Where there are few texts, all may be
             about one subject, whose words are rare elsewhere: who has most of the prompt needs less, and two words
             side by side count once more. A text begins with what it is about: of a prompt's words the one that stands
             there counts half as much again. A word that few texts have is enough where a prompt is about nothing else,
             but no pair of Chinese characters. The name of a thing in code that few texts have needs no other words.
             Who asks what `we` do asks for what was said before: it takes less.

Imported inside agents' hooks: standard library only.
"""

from math import log

from eventlog.projections.search.findable import files_in
from eventlog.projections.search.words import HIRAGANA, KATAKANA, translated, with_translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    Translation = tuple[Mapping[str, int], frozenset[str]]

_K1, _B = 1.2, 0.75
_MIN_IDF = 1e-6
BESIDE = 0.5  # what two words side by side count of what a single one does that is as rare
_BY_CHANCE, _MAX_BESIDE = 2, 5  # facts of a conversation that share words with any query; that support one
_FURTHER = 0.3  # of its score that such a fact adds
_COMMON, _FEW = 0.05, 1000  # a token of a larger share of so many rows tells little and costs much


def idf(rows: int, having: int) -> float:
    """Compute the weight of a token that so many of all rows have."""
    return max(_MIN_IDF, log((rows - having + 0.5) / (having + 0.5)))


def telling(having: "Mapping[str, int]", rows: int) -> "list[str]":
    """Choose what to look for of the tokens asked: those that occur; common tokens only where there are no others."""
    found = [token for token, times in having.items() if times]
    rare = [token for token in found if having[token] <= most_rows(rows)]
    return rare or found


def most_rows(rows: int) -> float:
    """Return how many of all rows may have a token that is not common."""
    return max(_FEW, _COMMON * rows)


def side_by_side(terms: "Iterable[str]", chosen: "Collection[str]") -> "list[str]":
    """Pair the tokens that follow each other in a query, of those that are looked for."""
    pairs, before = [], ""
    for token in terms:
        if before in chosen and token in chosen:
            pairs.append(f"{before} {token}")
        before = token
    return pairs


def supported(scores: "Mapping[int, float]", facts: "Iterable[tuple[int, str]]") -> dict[int, float]:
    """Score facts, best first and with their conversations, by the others of a conversation that answer, too.

    That two facts of a conversation share words with a query is chance, so the best of the others counts nothing; the
    next one counts a share of its score, and each further one that share of what the one before it did. Facts to which
    nothing is added are left out.
    """
    together: dict[str, list[int]] = {}
    for unit, conversation in facts:
        together.setdefault(conversation, []).append(unit)
    found = {}
    for units in together.values():
        for unit in units if len(units) > _BY_CHANCE else ():
            others = [scores[other] for other in units[: _MAX_BESIDE + 1] if other != unit][1:_MAX_BESIDE]
            found[unit] = scores[unit] + sum(_FURTHER**place * score for place, score in enumerate(others, 1))
    return found


def scanner(
    rows: "Sequence[str]", having: "Mapping[str, int] | None" = None, total: int = 0
) -> "Callable[[Iterable[str], str], dict[int, float]]":
    """Make the search that scores the rows with any of some tokens, pairs of two, or a word with a beginning.

    It numbers the rows. Where these are a sample of a `total`, what a token tells is told by all rows `having` it, as
    far as that is known.
    """
    known, count_of_all, spaces = having or {}, total or len(rows), [row.count(" ") for row in rows]
    lengths = [count + bool(row) for count, row in zip(spaces, rows, strict=True)]
    mean = sum(lengths) / max(1, len(rows))
    longer = [_K1 * (1 - _B + _B * length / mean) if length else 0.0 for length in lengths]
    spaced = [f" {row.replace(' ', '  ')} " for row in rows]  # each token has spaces of its own: `str.count` finds all

    def scan(asked: "Iterable[str]", prefix: str) -> dict[int, float]:
        terms = [(token, f" {token.replace(' ', '  ')} ") for token in asked] + ([("", f" {prefix}")] if prefix else [])
        scores: dict[int, float] = {}
        for token, mark in terms:
            times = [text.count(mark) for text in spaced]
            found = len(times) - times.count(0)
            tells = idf(count_of_all, known.get(token) or found * count_of_all // max(1, len(rows)))
            for number in range(len(times)) if found else ():
                if count := times[number]:
                    score = tells * count * (_K1 + 1) / (count + longer[number])
                    scores[number] = scores.get(number, 0.0) + score
        return scores

    return scan


NEAR = 0.7  # of the score of the first that a further line needs
RARE, _RARE_ABOUT_US = 1.6, 1.28  # times what a word tells that one text alone has; for a question about `us`
SHARE = 0.25  # of all that the words of the prompt tell
_OTHERS = 50  # texts that say nothing to the point: in a small store every word is rare
_COVERS, _PHRASE = 0.4, 0.4  # of what is rare: less for a text with all of a prompt, what a phrase counts
_LEADS, _LEADING = 0.5, 2  # what a word counts once more that is among so many at the beginning of a text
_SMALL = 1000  # texts; of more than so many, how many have a word tells enough
_SHORT, _LONGER = 40, 0.12  # tokens of a statement; what e times as many raise the need by
_OVERLAP = 0.5  # what a pair of characters counts of which the pair before has one
_OF_A_THING = 3  # texts at most that have the name of a thing
_SHORTEST_NAME = 5  # characters
_NO_THINGS = ("error", "exception", "warning")  # endings of what goes wrong anywhere
# Words of every day's work, as `stem` leaves them: at each prompt it would take longer than all else here.
_ENGLISH = """
actual add allow already also alway anyth array ask back better big bigger branch bug build call chang check clean cod
command comment commit complet continu convert creat current delet docstr don english error exampl explain fail fast
faster fil find finish fix format funct go good great happen help implement improv issu keep larg larger lin list long
longer look loop mak many mayb mean merg need new next nic often ok okay open paragraph perfect possibl pr problem
project pull push quest read readabl real refactor regex remov renam rerun review right run say script see sentenc
short shorter show simpl simpler small smaller start still stop str summaris summariz sur task tell test thank thing
think tim today tomorrow translat try turn typ undo updat variabl version wait want way word work writ yes yesterday
"""
_CHINESE = """
继续 谢谢 多谢 感谢 测试 提交 代码 运行 修改 修复 文件 问题 检查 一下 没有 可以 现在 需要 这样 好的 看看
看一 不要 如何 什 怎 为什 解释 写一 一个 函数 项目 任务 完成 开始 更新 删除 添加 合并 分支 多少 多久 怎样 时候
今天 明天 昨天
"""
_JAPANESE = """
コミット テスト ファイル コード コメント エラー ブランチ 何 使 続 変 説明 実行 確認 削除
変更 関数 変数 問題 翻訳 英語 今日 明日 昨日
"""
_GERMAN = """
ab aber all als an auch auf aufräum aus aussehen bedeutet bei beim benutz benutzen benutzt besser bin bis bitt brauch
braucht da dabei damit dank dann daran darauf darf das dass datei dateien davon dein deinem deinen deiner dem den der
des deutsch dich die dies diesem diesen dieser dir doch du durch dürf eigentlich ein einem einen einer einfacher
englisch er erklär erlaubt es etwa euch funkt funktioniert füge für ganz gefällt gegen geht gemacht gern gestern gibt
gut hab haben habt hast hat hatt heißt heut hier hilf hinzu hätt ich ihm ihn ihnen ihr ihrer im immer ins ist ja jed
jeder jetzt kann kannst kein keinen kommen kommt könn könnt könntest kürz lang lass laufen liegen liegt läuft mach
macht mal man mehr mein meinen meiner meinst mich mir mit muss möcht möglich müss nach nehmen nein nicht noch nochmal
nur nutz nutzen nutzt ob oder oft ohn passiert passt richtig rückgängig schau schneller schon schreib sehr seid sein
seit sich sie sieht sind skript so soll sollen sollt sonst stehen steht um und uns unser unter verwend verwenden
verwendet viel vom von vor wann war waren warum was weiter welch welchem welchen welcher wem wen wenn wer werden wie
wieder wieso will wir wird wo wofür woher wohin womit worüb wozu wurd wurden während wäre würd zeig zeil zu zum zur
änder über übersetz
"""
_ROMANCE = """
abbiamo aggiungi ahora ahí ainda ajout al ali alla allí altra altro anch ancora ant aprè aqui aquí archivo arquivo até
au aujourd aussi autr aux avant avec avet avoir avon ayer añad aún bem ben bien borra cambia ce cela ces cet cett che
chi codic combien como con così cuando cuál cuándo cuánto código cómo dal dalla dan de deb dei del della dell depois
depuis desd despué di dois doit dond dopo déjà dónd e ejemplo el ela ele ella ell ello em en encor entr escrev escrib
esempio essa ess esser est esta estamo esto está et exempl exemplo explica expliqu fa fai fais faz fazer fichier fino
foi fonct foram fra fu fue fueron funzion função già gracia grazi ha hac hacer hai hanno hasta hay ho hoj hoy hui ici
ieri il ils isso je jusqu já l la las le lei les leur lign linha lo loro los luego lui là lì línea ma mais mas me mentr
merci mes meu mi minha mio mis moi molto mon montr mostra muestra muito muy más na ne nei nel nella nem ni no noi nos
nossa nosso nous nuestra nuestro não né nós o obrigada obrigado oggi ogni ond ont otra otro ou outra outro où para pelo
perché però peut più podemo poi por porqu pour pourquoi prima prueba pued pue puis puoi può qu qual quali quando quanto
que quel quell quello quem questa questi questo qui quien quiero quié quoi qué riga scrivi se sem sempr senza ser seu
si sia siamo siempr sobr sois somo sono sont soy spiega sta stanno stato su sua sugli sulla suo suoi sus são também tem
temo tenemo tengo tien tienen toda tous tout tra tu tuo tutta tutt tutti tutto uma un una une va vai vas vedo veo veux
você vogliamo voglio voi vois vont vorrei vous voy y ya à às è é écri étaient était été
"""  # Spanish, French, Italian, Portuguese
_OF_QUESTIONS = """
we we're our ours us wir uns unser unsere unserem unseren unserer
how what when where which who do was welche welcher welches wann wer wie wo
should shall could can this soll sollen sollten können könnten
"""  # about us; how they begin; those that ask for a plan
_ABOUT_US, _ASKS, _PLANS = (frozenset(words.split()) for words in _OF_QUESTIONS.strip().split("\n"))
_WORK = frozenset((_ENGLISH + _GERMAN + _ROMANCE + _CHINESE + _JAPANESE).split())
_SMALL_TALK = """
abend adió afternoon bonjour bonsoir buena bueno buongiorno bye cheer ciao dia días even goodby guten hallo hello hey hi
hola mañana moin morgen morn night noch olá salut servus tal tard tschüs 好 您好 再见 早上 上好 晚上 晚安 早安
"""
_AROUND = ".,;:!?\"'()"
_GREETS = frozenset(_SMALL_TALK.split())


def subjects(terms: "Iterable[str]") -> list[str]:
    """List the tokens of a prompt that name its subject, each once; none where they only number items.

    No grammar of Japanese, nor parts of its words.
    """
    found, word = [], ""
    for token in dict.fromkeys(terms):
        code = ord(token[0])
        if code in KATAKANA and len(token) > len("カナ"):
            word = token
        is_part = token in word and token != word
        if not is_part and code not in HIRAGANA and token not in _WORK:
            found.append(token)
    return [] if all(map(is_item, found)) else found


def asks_of_us(prompt: str) -> bool:
    """Return whether a prompt asks what those do who work here, and not for a plan: `which broker do we use?`."""
    words = [word.strip(_AROUND) for word in prompt.lower().split()]
    return not _ASKS.isdisjoint(words[:1]) and not _ABOUT_US.isdisjoint(words) and _PLANS.isdisjoint(words)


def is_small_talk(terms: "Iterable[str]") -> bool:
    """Return whether a text, by its tokens, has no subject: it greets, thanks, or takes leave."""
    return _GREETS.issuperset(subjects(terms))


def is_item(token: str) -> bool:
    """Return whether a token numbers an item."""
    return len(token) == 1 and token.isdecimal()


def weighed(having: "Mapping[str, int]", texts: int) -> dict[str, float]:
    """Weigh tokens by their rarity, from the texts that have them."""
    return {token: max(0.0, log((texts + _OTHERS) / (times + 0.5))) for token, times in having.items()}


class Gate:
    """The gate of a subject; `having` counts the texts with each of its tokens, in their order, of all there are.

    A text with one of the `others`, terms in another language and how many texts have them, has what that stands for.
    It needs words `rare` enough.
    """

    def __init__(
        self, having: "Mapping[str, int]", texts: int, others: "Sequence[Translation]" = (), rare: float = RARE
    ) -> None:
        self._others = [(other, same) for other, same in others if all(other.values())]
        self._having = dict(having)
        for other, same in self._others:
            self._having |= {token: max(having[token], min(other.values())) for token in same}
        self.counted = {**self._having, **{word: times for other, _ in self._others for word, times in other.items()}}
        self.weights = weighed(self.counted, texts) | dict.fromkeys(filter(is_item, having), 0.0)
        self.tells = {token: self.weights[token] for token in having}
        self._rarest = log((texts + _OTHERS) / 1.5)
        self._rare = rare * self._rarest
        self._small = min(1.0, _SMALL / (texts + 1))
        terms = [*having]
        self._before = {after: before for before, after in _neighbours(terms) if _overlap(before, after)}
        after = {before: after for after, before in self._before.items()}
        self._all = sum(tells * self._part_of_all(token, after.get(token, "")) for token, tells in self.tells.items())
        self._phrases = [pair for pair in _phrases(terms) if not any(map(is_item, pair))]
        self._phrase = _PHRASE * self._rarest * self._small if self._phrases else 0.0
        self._things = [name for name in _things(terms) if 0 < having[name] <= _OF_A_THING]
        self.needed = max(self._rare, SHARE * self._all)

    @classmethod
    def of(
        cls,
        subject: "Sequence[str]",
        count: "Callable[[Iterable[str]], Mapping[str, int]]",
        texts: int,
        *,
        is_of_us: bool = False,
    ) -> "Gate":
        """Make the gate of a subject, of a question about us, by what counts the texts with each of some tokens."""
        others = translated(subject)
        having = count([*subject, *(word for other, _ in others for word in other)])
        counted = [({word: having[word] for word in other}, same) for other, same in others]
        rare = _RARE_ABOUT_US if is_of_us else RARE
        return cls({token: having[token] for token in subject}, texts, counted, rare)

    def _part_of_all(self, token: str, after: str) -> float:
        """Return the share of its weight that a token adds to a prompt; less where those beside it have its characters.

        A pair that no text has, beside one that some have, is mostly the end of one word and the beginning of another.
        """
        beside = [pair for pair in (self._before.get(token), after) if pair]
        found = 0 if self._having[token] else sum(self._having[pair] > 0 for pair in beside)
        return _OVERLAP * (1 - found / 2) if beside else 1.0

    def is_met_by_one(self) -> bool:
        """Return whether a word is enough by itself: the rarest, the rarest that is no pair, or a term of `others`."""
        found = [token for token, times in self._having.items() if times]
        kinds = found, [token for token in found if not _is_a_pair(token)]
        rarest = [[max(tokens, key=self.tells.__getitem__)] for tokens in kinds if tokens]
        return any(map(self.bears_on, [*rarest, *([*other] for other, _ in self._others)]))

    def bears_on(self, text: "Sequence[str]") -> bool:
        """Return whether a text, by its tokens, bears on the subject."""
        weight = self.weight(text)
        return weight > 0 and weight >= self.needed

    def weight(self, text: "Sequence[str]") -> float:
        """Weigh what a text, by its tokens, shares with the subject, against what its length makes `needed`."""
        words = with_translated(text, self._others)
        found = [token for token in self.tells if token in words]
        shared = sum(self.tells[token] * (_OVERLAP if self._before.get(token) in words else 1) for token in found)
        if not shared:
            return 0.0
        longer = max(0.0, log(_length(words) / _SHORT))
        leading = _LEADS * self._small * max((self.tells.get(token, 0.0) for token in text[:_LEADING]), default=0.0)
        of_all = 0.0 if len(found) == 1 and _is_a_pair(found[0]) else min(1.0, (shared + leading) / self._all)
        share = SHARE * self._all / (1 if words.isdisjoint(self._things) else 2)
        phrases = [pair for pair in self._phrases if words.issuperset(pair)]
        if phrases and not {*_neighbours(text)}.isdisjoint(phrases):
            shared += self._phrase / (1 + longer)
        rare = self._rare * (1 - _COVERS * self._small * of_all) / (1 + leading / shared)
        if not words.isdisjoint(self._things) and shared >= share:
            return max(shared, self.needed)
        return shared * self.needed / (max(rare, share) * (1 + _LONGER * longer))

    def asked(self, limit: int) -> dict[str, int]:
        """Choose the tokens to look for, with the texts that have them: all, where these are not more than so many.

        Else the rarest, and in any case as many that whatever bears on the subject has one of them.
        """
        deciding, rest = self._deciding(), limit
        chosen: set[str] = set()
        for token in sorted(self._having, key=self._having.__getitem__) if deciding else ():
            rest -= self._having[token]
            if rest >= 0 or token in deciding:
                chosen.add(token)
        found = {token: times for token, times in self._having.items() if token in chosen}
        for other, same in self._others:
            found |= {} if same.isdisjoint(chosen) else other
        return found

    def _deciding(self) -> "Collection[str]":
        """Find the tokens of which a text needs some: all but the most common, which come to too little."""
        minimum = self._rare * (1 - _COVERS * self._small) - self._phrase
        spare = max(minimum / (1 + _LEADS * self._small), SHARE * self._all - self._phrase)
        tokens = sorted(self.tells, key=self.tells.__getitem__)
        while tokens and spare > self.tells[tokens[0]]:
            spare -= self.tells[tokens.pop(0)]
        return {*tokens, *self._things}


def _neighbours(tokens: "Sequence[str]") -> "Iterable[tuple[str, str]]":
    return zip(tokens, tokens[1:], strict=False)  # noqa: RUF007 - no hook has itertools


def _length(words: "Collection[str]") -> float:
    """Count the words of a text: two Chinese characters make a word, and every two neighbours a token."""
    return len(words) - sum(not word.isascii() for word in words) * _OVERLAP


def _is_a_pair(token: str) -> bool:
    """Return whether a token is less than a word: a pair of Chinese characters, or a single character."""
    return not token.isascii() and len(token) <= len("二字")


def _overlap(before: str, after: str) -> bool:
    """Return whether two tokens that follow each other share characters: of two pairs, or of `e-mail` and `mail`."""
    if before.isascii():
        parts = before.split("-")
        return len(parts) > 1 and all(map(str.isalpha, parts)) and any(part.startswith(after) for part in parts)
    return len(before) == len("二字") and before[1] == after[0]


def _phrases(terms: "Sequence[str]") -> "Iterator[tuple[str, str]]":
    """Yield two words that follow each other, none of them Chinese; not the parts of one name."""
    name = ""
    for before, after in _neighbours(terms):
        if after in before:
            name = before
        elif not (before in name and after in name) and before.isascii() and after.isascii():
            yield before, after


def _things(terms: "Sequence[str]") -> "Iterator[str]":
    """Yield the names of things in code: `snake_case`, `camelCase`, which its parts follow, and files."""
    files = {*files_in(terms)}
    for name, part in _neighbours([*terms, ""]):
        if name.isascii() and len(name) >= _SHORTEST_NAME and not name.endswith(_NO_THINGS):
            is_camel = len(part) > 1 and name.isalpha() and name != part and name.startswith(part)
            if "_" in name.strip("_") or is_camel or name in files:
                yield name
