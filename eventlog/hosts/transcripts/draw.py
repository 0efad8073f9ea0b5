"""A summary and the text to search by, drawn from the steps of a session without any model; pure.

The summary begins with the outcome, in the agent's last words about it; then why, what was changed, and a test that
failed before it passed. Decisions and to-dos are those that somebody stated.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from eventlog.format.text import cut, joined, one_line, same_text
from eventlog.hosts.transcripts.changed_files import ChangedFiles
from eventlog.hosts.transcripts.closing import read_closing, subject, telling_words
from eventlog.hosts.transcripts.failures import Failures
from eventlog.hosts.transcripts.prose import (
    DECISIONS,
    ITEM_CHARS,
    LINK,
    OPEN_ENDS,
    Openings,
    lasting,
    mentions,
    prose,
    request,
    sentences,
    stated,
)
from eventlog.hosts.transcripts.steps import REQUESTS, Step, commit_titles, programs_run

MAX_CHARS = 4000  # of a searchable text, all fields together
_TITLE, _CLOSING, _FILES, _PROMPT = 200, 1200, 800, 600
TOPIC_CHARS, _SUMMARY_CHARS = 100, 300
_OPENING = 4000  # characters of a request that are looked at
_MAX_NAMED, _MAX_ITEMS = 3, 8
_TRIVIAL_PROMPTS = 2  # no more than a topic of so few, without a change, a command or a decision
_CLOSING_TURNS, _CLOSING_REPLIES = 3, 2  # the last replies of the last turns: a commit often is the very last
_SHORTEST_PROMPT = 3  # characters; shorter prompts are not searched
_TEST = re.compile(
    r"\b(?:pytest|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|runtests|(?:npm|pnpm|yarn|bun)(?: run)? test"
    r"|(?:go|cargo|dotnet|mvn|gradle|swift|bazel|deno|mix) test|gradlew test|make \w*(?:test|check)\w*)"
)
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_OF_HAN = re.compile(  # a sentence of these ends with its own full stop, also behind a name or code
    r"[\u2e80-\u9fff\uff00-\uffef](?:(?! [a-z]+ [A-Za-z]+)[^\u2e80-\u9fff\"“])*$"
)
_NOISE = re.compile(r"\s*(?:2>&1|\|.*)")
_HEADING = re.compile(r"^#+ +(?:plan: +)?", re.IGNORECASE)
_COMMAND_CHARS, _REQUEST_CHARS = 80, 80
_PLAINLY = 2  # times as many words as another shares
_OF_MANY = ("__init__.", "__main__.", "index.", "main.", "mod.rs", "lib.rs")
_DECIDED = re.compile(
    r"(?:(?:(?:I|we)(?:'ve| have)? (?:also )?)?(?:decided|chose|opted|agreed|settled)(?: to| on| for| against|\b)"
    r"|(?:(?:I|we) )?went with\b.*\b(?:instead of|over|rather than)\b|(?:我们?)?(?:决定|选择了))",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    r"(?:\b(?:instead of|rather than|not|no longer|statt|nicht|keine?|au lieu de|à la place de"
    r"|en (?:lugar|vez) de|em vez de|invece di|вместо)\b|而不是|不再用)\s*([^,.;:，。；()]+)",
    re.IGNORECASE,
)
_FOR_LATER = re.compile(
    r"(?:which|what|how|where|when|who|should|do|does|is|are|can|must"
    r"|welche[mnrs]?|was|wo|wann|wer|wie (?!weit|soll es)|soll(?:en)?|darf|dürfen|muss|müssen)\b"
    r"|.*[\u3040-\u9fff].*[?？]$",
    re.IGNORECASE,
)
_ABOUT_THE_WORK = re.compile(  # of this session
    r"\b(?:next|ready|proceed|continue|go ahead|start|commit(?:ted|s)?|push|merge|PRs?|pull request|review|plan|clarify"
    r"|first|did|you (?:see|mean|have|believe|think|know)|should I|shall I|can you|could you|like me|want me"
    r"|this (?:session|change|task)"
    r"|weiter(?:machen|gehen)?|fortfahren|anfangen|loslegen|starten|committen|pushen|mergen|zuerst|nächste[rsn]?"
    r"|(?:soll|darf|kann) ich|dass ich|hast du|siehst du|meinst du|in Ordnung|einverstanden"
    r"|diese[rn]? (?:Sitzung|Änderung|Aufgabe))\b"
    r"|继续|开始|提交|推送|合并|下一步|接下来|首先|先(?:做|改|修)|计划|评审|要我|让我|[可行好对]以?吗|没问题吗|确认"
    r"|这个?(?:任务|改动|会话)|[这本]次"
    r"|進め|続け|始め|開始|コミット|プッシュ|マージ|プラン|レビュー|計画|問題(?:あり|ない)|よろしい|[よい]いです|今回|このまま"
    r"|次[には]|まず|最初に|を(?:作成|実行|確認|修正)しま(?:す|しょう)か|この(?:セッション|タスク|変更|エピック)",
    re.IGNORECASE,
)
_ASKS_NOTHING = 12  # characters of a question that says nothing without the sentences before it: `Which one?`
_BOTH = re.compile(r"both|beides?|两者.*|都.{0,2}|両方|どちらも", re.IGNORECASE)  # nobody knows later of which
_OF_ANY_DECISION = frozenset(("use", "uses", "used", "using", "keep", "go", "more", "any"))
_GOES_ON = (*REQUESTS, "file", "read", "command", "todos")  # what the agent has still to speak of
_WORKS = ("file", "command")
_NOTES = re.compile(
    r"(?:^|/)[A-Z]+$|\.(?:md|rst|adoc|txt|lock|sum)$|(?:^|[/.-])lock\.\w+$"
)  # beside the work, and not it
_TELLS_OF_FAILURE = re.compile(r"fail|broken|red\b|失败|未通过|报错|fehl|schl[aä]g|失敗|通らな", re.IGNORECASE)


class _Language(NamedTuple):
    """Sentences for what was done; the first two take a list, the next two a command, the last a plan or a request."""

    changed: str
    committed: str
    passed: str
    fails: str
    planned: str
    broke_off: str
    broke_off_at: str
    more: str
    between: str


_LANGUAGES = {
    "en": _Language("Changed {}.", "Committed {}.", "`{}` failed, then passed.", "`{}` failed last.", "Planned “{}”.",
                    "Broke off.", "Broke off at “{}”.", "{} and {} more", ", "),
    "zh": _Language("修改了 {}。", "提交了{}。", "`{}` 先失败，后通过。", "`{}` 最后失败。", "拟定了计划“{}”。",
                    "中途中断。", "在“{}”处中断。", "{} 等，另有 {} 项", "、"),
}  # fmt: skip


class Drawing(NamedTuple):
    """The parts that are drawn of a session, but its topic, which depends on how other sessions began.

    `opening` is the first request as it was made, `summary` "" where there is nothing to tell but the topic, `turns`
    the number of requests to which the agent's words are the end. It is an errand where a program asked once, and
    nothing was changed.
    """

    title: str
    opening: str
    summary: str
    decisions: list[str]
    of_user: list[str]
    todos: list[str]
    prompts: list[str]
    closing: str
    outcome: str
    files: list[str]
    fixes: list[dict[str, str]]
    turns: int
    is_errand: bool

    def topic(self, project: str, openings: Openings) -> str:
        """Name the session: by its host's title, else what was asked, else what came of it."""
        named = self.title or openings.topic(project, self.opening) or self.outcome
        return named or request(self.opening) or prose(self.opening) or self.summary or one_line(self.opening)

    def summary_fields(self, topic: str) -> dict[str, Any]:
        """Return the fields of its `stage_summary`; without a summary it repeats the topic."""
        topic = cut(topic, TOPIC_CHARS)
        of_user = {"of_user": self.of_user} if self.of_user else {}
        fields = {"topic": topic, "summary": self.summary or topic, "decisions": self.decisions, "todos": self.todos}
        return {**fields, **of_user}

    def text_fields(self, topic: str) -> dict[str, Any] | None:
        """Return the fields of its `conversation_text`, within their bounds; None for neither a prompt nor a file."""
        if not (self.prompts or self.files):
            return None
        title, files = cut(topic, _TITLE), list(_within(self.files, _FILES))
        room = MAX_CHARS - len(title) - len(self.closing) - sum(map(len, files))
        fields = {
            "title": title,
            "prompts": _first_and_last(self.prompts, room),
            "closing": self.closing,
            "files": files,
        }
        return fields | ({"fixes": self.fixes} if self.fixes else {})


def draw(steps: Iterable[Step], project: str = "", locale: str = "en", where: str = "") -> Drawing | None:
    """Draw a session from its steps; None without a prompt, but for work with an answer.

    Files are named as they are in the project, also below the directory `where` it ran: a worktree, elsewhere.
    """
    is_elsewhere = project and where and not f"{project}/".startswith(f"{where.rstrip('/')}/")
    transcript = _Transcript([root.rstrip("/") for root in (project, where if is_elsewhere else "") if root])
    for step in steps:
        transcript.add(step)
    is_any = transcript.prompts or transcript.has_ended
    return transcript.drawing(_LANGUAGES.get(locale, _LANGUAGES["en"])) if is_any else None


class _Transcript:
    """The parts of a session a drawing needs, collected while its steps stream by."""

    def __init__(self, roots: list[str]) -> None:
        self._roots = roots
        self.prompts: list[str] = []
        self.asked_by: set[str] = set()  # kinds of requests
        self.opening = self.title = self.todos = self.planned = ""
        self.lists = self.speaks = self.has_ended = False  # whether the agent's words are all that is last
        self.turns = 0
        self.turn_replies: deque[str] = deque(maxlen=_CLOSING_REPLIES)  # in this turn
        self.answers_host = False  # this turn
        self.replies: deque[deque[str]] = deque(maxlen=_CLOSING_TURNS)  # of ended turns
        self.answered: deque[str] = deque(maxlen=_CLOSING_TURNS)  # the prompts of these turns
        self.at_work: deque[deque[str]] = deque(maxlen=_CLOSING_TURNS)  # of ended turns that changed or ran something
        self.work: set[str] = set()  # of this turn
        self.edits: deque[deque[str]] = deque(maxlen=_CLOSING_TURNS)  # of those that changed more than notes
        self.files = ChangedFiles(roots)
        self.commits: dict[str, str] = {}
        self.decisions: dict[str, str] = {}
        self.of_user: dict[str, str] = {}
        self.failed: set[str] = set()
        self.passed = self.fails = ""  # a test that failed before, and the last that was run
        self._failures = Failures()

    def add(self, step: Step) -> None:
        self._failures.add(step)
        if not one_line(step.text) and step.kind != "todos":
            return
        if step.kind in REQUESTS:
            self.turns += self.has_ended
            self._end_turn()
        elif step.kind == "notice" and self.has_ended:
            self._end_turn()
            self.answers_host = True
        if step.kind in _GOES_ON and (step.kind != "command" or any(programs_run(step.text))):
            self.has_ended, self.planned = False, ""
            self.work.add("command" if step.kind == "file" and _NOTES.search(step.text) else step.kind)
        match step:
            case ("title", text):
                self.title = one_line(text)
            case ("prompt" | "plan" | "task", text):
                self._ask(text, of_user=step.kind == "prompt")
                self.asked_by.add(step.kind)
            case ("reply", text):
                text = text.replace("’", "'")  # models differ, and words are looked for with the plain one
                self.speaks, self.has_ended = True, bool(self.prompts or self.work)
                self.turn_replies.append(text)
                self._decide(stated(DECISIONS, text))
            case ("proposal", text):  # whatever the user makes of it, here or in a session of its own
                self.speaks = self.has_ended = True
                self.planned = cut(_HEADING.sub("", one_line(text.strip().partition("\n")[0])), _REQUEST_CHARS)
            case ("todos", text):
                self.todos, self.lists = text, True
            case _:
                self._do(step)

    def _end_turn(self) -> None:
        """Remember the words of a turn by what was done before.

        A host may speak after the closing of a session. An answer to it is a turn where the agent worked for it, or has
        more to tell than before: the report that it waited for.
        """
        at_work = self.has_ended and not self.planned and bool(self.work.intersection(_WORKS))
        if at_work or not self.answers_host or len(joined(self.turn_replies)) > len(joined(self.replies[-1])):
            self.replies.append(self.turn_replies)
            self.answered.append("".join(self.prompts[-1:]))
            self.at_work.extend([self.turn_replies] if at_work else [])
            self.edits.extend([self.turn_replies] if at_work and "file" in self.work else [])
        self.turn_replies, self.answers_host = deque(maxlen=_CLOSING_REPLIES), False
        self.work.clear()

    def _do(self, step: Step) -> None:
        match step:
            case ("command", text):
                _add(self.commits, commit_titles(text))
                self.files.run(text)
                self.fails = "" if _tests_in(text) else self.fails  # until it has ended
            case ("undone", text):
                self.commits.pop(same_text(text), None)
                self.files.undo(text)
            case ("passed", text):
                for test in self.failed.intersection(_tests_in(text)):
                    self.failed.discard(test)
                    self.passed = test
                self.fails = "" if _tests_in(text) else self.fails
            case ("failed", text):
                self.failed.update(tests := _tests_in(text))
                self.fails = next(iter(tests), self.fails)
                self.passed = "" if self.passed in self.failed else self.passed
            case ("chosen", text):
                self._choose(*text.rsplit("\n", 1))
            case ("output" | "notice", _):
                return
            case (kind, path):
                self.files.add(kind, path)
                self.fails = "" if kind == "file" else self.fails

    def _ask(self, prompt: str, *, of_user: bool) -> None:
        if not self.opening or not request(self.opening):
            self.opening = self.opening if self.opening and not request(prompt) else prompt[:_OPENING]
        self.prompts.append(prompt)
        plain = prompt.replace("’", "'")
        decisions = [*stated(DECISIONS, plain), *(lasting(plain) if of_user else ())]
        self._decide(decisions)
        _add(self.of_user, decisions if of_user else ())

    def _choose(self, question: str, choice: str) -> None:
        """Add what the user chose as a decision, and as their own where the question is not about the session."""
        whole = one_line(question)
        asked = next((text for text in reversed(sentences(whole)) if text.endswith(("?", "？"))), whole)
        asked = asked if len(asked) > _ASKS_NOTHING else whole
        if _ABOUT_THE_WORK.search(asked) or _BOTH.fullmatch(choice) or len(asked) + len(choice) >= ITEM_CHARS:
            return
        decisions = [f"{asked} {choice}"]
        self._decide(decisions)
        _add(self.of_user, decisions if _FOR_LATER.match(asked) else ())

    def _decide(self, texts: Iterable[str]) -> None:
        """Add decisions, and take away those that they reverse."""
        for text in texts:
            self.decisions = {same: past for same, past in self.decisions.items() if not _reverses(text, past)}
            _add(self.decisions, (text,))

    def drawing(self, language: _Language) -> Drawing:
        self._end_turn()
        of_turns = (*reversed(self.edits), *reversed(self.at_work), *reversed(self.replies))
        worth, others = self._closing(*of_turns)
        after, _ = self._closing(*[*self.at_work][-1:])
        worth = [*dict.fromkeys((*worth[:1], *after[:1], *worth[1:]))]
        later, _ = self._closing(self.replies[-1])
        unlabelled = (text.rstrip(".。") for text in (*worth, *others, *later) if _DECIDED.match(text))
        self._decide(cut(text, ITEM_CHARS) for text in unlabelled)
        others = [text for text in (*others, *later) if text not in worth]
        others += self._earlier(worth) if self.at_work else []
        lead = self._question(joined(worth[:2]))
        behind_request = [*(lead + text for text in worth[:1]), *worth[1:]]
        decided, todos = [*self.decisions.values()][:_MAX_ITEMS], self._open()
        enough = (
            self.files.changed
            or self.at_work
            or self.commits
            or decided
            or todos
            or any(stated(OPEN_ENDS, reply) for turn in self.replies for reply in turn)  # that have their answers
            or self.planned
            or len(self.prompts) > _TRIVIAL_PROMPTS
        )
        is_of_topic = lead == self._lead(self.opening)
        summary = self._summary(worth if is_of_topic else behind_request, language) if enough else ""
        worth = behind_request
        return Drawing(
            title=self.title,
            opening=self.opening,
            summary=summary,
            decisions=decided,
            of_user=[text for same, text in self.of_user.items() if same in self.decisions][:_MAX_ITEMS],
            todos=todos,
            prompts=[cut(text, _PROMPT) for text in map(one_line, self.prompts) if len(text) >= _SHORTEST_PROMPT],
            closing=_join_fitting(dict.fromkeys((*worth, *others)), _CLOSING) or self._last_words(),
            outcome=cut(worth[0], TOPIC_CHARS).rstrip(".。") if worth else "",
            files=[*self.files.known, *self.files.others],
            fixes=self._failures.fixes(),
            turns=self.turns + self.has_ended,
            is_errand=self.asked_by == {"task"} and len(self.prompts) == 1 and not (self.files.changed or self.commits),
        )

    def _closing(self, *turns: Iterable[str]) -> tuple[list[str], list[str]]:
        """Read the sentences of worth, and the others, of the first of these turns that has any of worth."""
        topic, scratch = f"{self.title} {request(self.opening)}", self.files.scratch
        read = (read_closing(reply, topic, scratch) for turn in turns for reply in reversed([*turn]))
        worth, others = next((closing for closing in read if closing[0]), ([], []))
        return [*map(self._sentence, worth)], [*map(self._sentence, others)]

    def _question(self, outcome: str) -> str:
        """Return the request of the last turns that an outcome is of: where nothing was done, the last with an answer.

        Else it is the one that it plainly is of, "" for the first.
        """
        if not (self.at_work or self.files.changed):
            turns = zip(reversed(self.answered), reversed(self.replies), strict=True)
            answers = (asked for asked, replies in turns if any(read_closing(reply)[0] for reply in replies))
            return self._lead(next(answers, ""))
        shared = {asked: len(subject(asked) & subject(outcome)) for asked in (self.opening, *self.answered)}
        asked = max(shared, key=shared.__getitem__)
        return self._lead(asked) if shared[asked] > max(1, _PLAINLY * shared[self.opening]) else ""

    def _earlier(self, last: Sequence[str]) -> list[str]:
        """List what came of the other turns that were among the last, each behind its request."""
        came = ((asked, self._closing(turn)[0][:2]) for asked, turn in zip(self.answered, self.replies, strict=True))
        return [f"{self._lead(asked)}{joined(worth)}" for asked, worth in came if worth and worth[0] not in last]

    def _lead(self, asked: str) -> str:
        """Write a request as the lead of what came of it, in one sentence; "" where the session has no other."""
        others = (request(prompt) for prompt in self.prompts if prompt != asked)
        question = cut(request(asked), _REQUEST_CHARS).rstrip("?？ ") if any(others) else ""
        return question and question + ("：" if _OF_HAN.search(question) else ": ")

    def _sentence(self, text: str) -> str:
        """End a sentence of a closing, and name files as they are called in the project."""
        for root in self._roots:
            text = text.replace(f"{root}/", "").replace(f"{root}\\", "")
        text = LINK.sub(r"\1", text).rstrip(" ;,；，")
        return text if text.endswith(_ENDS) else f"{text}{'。' if _OF_HAN.search(text) else '.'}"

    def _summary(self, worth: Sequence[str], language: _Language) -> str:
        """Join the sentences of worth; add files, tests and commits that they do not name, and where it broke off."""
        broke_off = self._broke_off(language)
        limit = _SUMMARY_CHARS - len(broke_off)
        names = [_called(PurePath(path)) for path in self.files.known or self.files.changed]
        changed = _listed(language, language.changed, names)
        committed = _listed(language, language.committed, [f"“{title}”" for title in self.commits.values()])
        added = [
            "" if any(mentions(" ".join(worth[:2]), name) for name in names) else changed,
            language.passed.format(self.passed) if self.passed else "",
            language.fails.format(self.fails) if self.fails and not _TELLS_OF_FAILURE.search(joined(worth)) else "",
            committed,
        ]
        added = [text for text in added if text and len(text) <= _SUMMARY_CHARS // 2]
        chosen = [_join_fitting(worth[:1], limit)] if worth else []
        for text in (*added[:1], *worth[1:], *added[1:]):
            if len(joined((*chosen, text))) <= limit:
                chosen.append(text)
        for listed, named in ((changed, names), (committed, [*self.commits.values()])):  # once is enough
            if any(mentions(" ".join(text for text in chosen if text != listed), name) for name in named):
                chosen = [text for text in chosen if text != listed]
        in_order = (text for text in (*worth, *added) if text in chosen[1:])
        return joined(dict.fromkeys(filter(None, (*chosen[:1], *in_order, broke_off))))

    def _broke_off(self, language: _Language) -> str:
        """Name the plan that ends a session, or the request without an answer; "" for thanks, or if no agent spoke."""
        if self.planned:
            return language.planned.format(self.planned)
        prompt = cut(request("".join(self.prompts[-1:])), _REQUEST_CHARS)
        if self.has_ended or not self.speaks or not prompt:
            return ""
        return language.broke_off_at.format(prompt) if len(self.prompts) > 1 else language.broke_off

    def _last_words(self) -> str:
        """Return the longest of the last replies, where no outcome is in any, behind the request that it answers."""
        turns = zip(self.answered, self.replies, strict=True)
        words = [(_join_fitting(sentences(prose(reply)), _CLOSING), asked) for asked, turn in turns for reply in turn]
        longest, asked = max(reversed(words), key=lambda word: len(word[0]), default=("", ""))
        return longest and self._lead(asked) + longest

    def _open(self) -> list[str]:
        """List the to-dos the last list leaves open; without a list, those of the last message with any.

        A question of an earlier turn had its answer.
        """
        replies = ((turn, reply) for turn in reversed(self.replies) for reply in reversed(turn))
        labelled = (
            [text for text in stated(OPEN_ENDS, reply) if turn is self.replies[-1] or text[-1:] not in "?？"]
            for turn, reply in replies
        )
        remaining = self.todos.splitlines() if self.lists else next(filter(None, labelled), [])
        return [cut(one_line(line), ITEM_CHARS) for line in remaining if one_line(line)][:_MAX_ITEMS]


def _called(path: PurePath) -> str:
    """Name a file as people do: with its folder, where most folders have such a file."""
    return f"{path.parent.name}/{path.name}" if path.name.startswith(_OF_MANY) and path.parent.name else path.name


def _tests_in(command: str) -> list[str]:
    """List the test runs of a shell line, without what is done with their output."""
    ran = programs_run(command) if _TEST.search(command) else ()
    pieces = (_NOISE.sub("", piece).strip() for piece in ran if _TEST.search(piece))
    return [cut(piece, _COMMAND_CHARS) for piece in pieces]


def _add(distinct: dict[str, str], texts: Iterable[str]) -> None:
    """Add the texts that are new; the order is that of the first occurrence."""
    for text in texts:
        if text.strip():
            distinct.setdefault(same_text(text), text)


def _reverses(text: str, earlier: str) -> bool:
    """Check whether a decision rejects by name what an earlier one about the same chose."""
    rejected = telling_words(" ".join(_REJECTS.findall(text)))
    chosen = telling_words(_REJECTS.sub("", earlier)) - _OF_ANY_DECISION
    differing = chosen - rejected
    return bool(chosen & rejected) and (not differing or bool(differing & telling_words(_REJECTS.sub("", text))))


def _listed(language: _Language, form: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    named = language.between.join(items[:_MAX_NAMED])
    return form.format(language.more.format(named, len(items) - _MAX_NAMED) if len(items) > _MAX_NAMED else named)


def _join_fitting(texts: Iterable[str], limit: int) -> str:
    """Join the first sentences that fit into so many characters; of the first, as much as fits."""
    fitting = ""
    for text in texts:
        longer = joined((fitting, text))
        if len(longer) <= limit:
            fitting = longer
        elif not fitting:
            fitting = cut(text, limit)
    return fitting


def _within(texts: Iterable[str], room: int) -> Iterable[str]:
    """Yield texts as long as they fit into so many characters."""
    for text in texts:
        room -= len(text)
        if room < 0:
            return
        yield text


def _first_and_last(prompts: list[str], room: int) -> list[str]:
    """Choose prompts from both ends as long as they fit: the first requests and the last matter most."""
    last = len(prompts) - 1
    pairs = zip(range(last + 1), range(last, -1, -1), strict=True)
    order = list(dict.fromkeys(place for pair in pairs for place in pair))
    fitting = list(_within((prompts[place] for place in order), room))
    return [prompts[place] for place in sorted(order[: len(fitting)])]
