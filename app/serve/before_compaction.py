"""The subject of a conversation before it was compacted, drawn from its transcript without a model; pure but for that.

The first request, what the user said holds for all of it, the files that were changed, the last command that failed and
what passed after it, and what is open. A transcript may be of many megabytes, and a session waits: of all but
its end, only lines are read that hold a prompt or a change. The lines of Claude Code, Codex, Qwen and Gemini are known.

Loaded where a session starts after a compaction: it needs libraries.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from eventlog.fast import fastjson
from eventlog.format.codec import dig
from eventlog.format.text import cut, one_line, same_text
from eventlog.hosts.transcripts.read import is_plan, of_the_user
from eventlog.hosts.transcripts.steps import SessionCalls, Step, programs_run, texts
from eventlog.projections.line import Line
from eventlog.projections.views.markdown import as_text
from eventlog.secrets import scrub_text
from eventlog.store.files import read_regular
from eventlog.store.index_lookup import line_at, lines_with

if TYPE_CHECKING:
    from eventlog.projections.context.phrases import ContextPhrases

CHARS = 1500
_BEGINNING, _LAST = 1 << 18, 24 << 20  # bytes that are read of a transcript
_END = 3 << 18  # bytes of which every line is read
_LONGEST_LINE = 1 << 18  # bytes; a longer line holds a picture, or a whole file
_BY_USER, _NEXT = b'"role":"user",', 48  # bytes after it that tell a prompt from the answer of a tool
_OF_TOOLS = (b'"tool_', b'"functionResponse', b'"type":"image')
_CHANGES = (b'"name":"Edit"', b'"name":"Write"', b'"name":"TodoWrite"')
_BEFORE_END = 4 << 20  # bytes in which earlier changes and plans of Claude Code are looked for
_NOT_THE_USER = ("<", "# AGENTS.md", "Caveat: The messages below", "[Request interrupted", "Stop hook feedback:")
_MAX_FILES, _MAX_RULES, _MAX_TODOS = 8, 6, 5
_REQUEST_CHARS, _RULE_CHARS, _COMMAND_CHARS, _TODO_CHARS = 300, 160, 140, 100
_BEGINS = ("always ", "never ", "do not ", "don't ", "please always ", "please never ", "please do not ",
           "please don't ", "make sure ", "remember to ", "from now on", "only ever ", "no matter what",
          "以后", "每次", "记得", "请记得", "确保", "请确保")  # fmt: skip
_HOLDS = ("must never", "must always", "must not", "should never", "should always", "from now on",
          "under no circumstances", "you may not ")  # fmt: skip
_HOLDS_ZH = ("不要", "务必", "始终", "永远", "禁止", "一律", "必须", "不得", "从现在起", "今后", "不许", "切勿",
             "一定要")  # fmt: skip
_ENDS = str.maketrans(dict.fromkeys("!?。！？；\r", "\n"))
_RUNNERS = frozenset(("", "python", "python3", "uv", "run", "npx", "node", "sh", "bash", "env", "sudo", "2>&1", "|"))


class _TranscriptParts:
    """The parts of a conversation, collected while its lines go by."""

    def __init__(self) -> None:
        self.request = ""
        self.rules: dict[str, str] = {}
        self.files: dict[str, None] = {}
        self.todos: list[str] = []
        self.calls = SessionCalls()

    def add(self, record: dict[str, Any]) -> None:
        """Take in a line."""
        if record.get("isSidechain") or record.get("isMeta") or record.get("isCompactSummary"):
            return
        payload: Any = record.get("payload") if record.get("type") == "response_item" else record.get("message", record)
        content = dig(payload, "content") or dig(payload, "parts")
        if (dig(payload, "role") or record.get("type")) == "user":
            self._ask("\n".join(texts(content)))
        called = dig(payload, "toolCalls")  # of Gemini: each with what it came to
        blocks = content if isinstance(content, list) else [payload]
        for step in self.calls.of_blocks([*blocks, *(called if isinstance(called, list) else [])]):
            self._take(step)

    def _ask(self, prompt: str) -> None:
        text = of_the_user(prompt)
        if not text or text.startswith(_NOT_THE_USER):
            return
        self.request = self.request or one_line(text)
        for rule in () if is_plan(text) else _rules(text):
            self.rules.pop(same_text(rule), None)
            self.rules[same_text(rule)] = rule

    def _take(self, step: Step) -> None:
        if step.kind == "file":
            self.files.pop(step.text, None)
            self.files[step.text] = None
        elif step.kind == "todos":
            self.todos = step.text.splitlines()


def before_compaction(path: str, project: str, words: "ContextPhrases", receipts: Iterable[str] = ()) -> list[Line]:
    """Draw what must not be lost from a transcript, in at most `CHARS` characters; raises OSError.

    `receipts` are lines that the conversation was given with its prompts.
    """
    drawn = _TranscriptParts()
    for line in _lines(path):
        drawn.add(fastjson.object_in(line))
    files = list(dict.fromkeys(file.removeprefix(f"{project}/") for file in drawn.files))
    failed, passed = _last_failure(drawn.calls.runs)
    lines: list[str] = []
    remaining = CHARS - len(words.before) - len("\n# \n\n")
    for part in (
        words.asked.format(text=cut(drawn.request, _REQUEST_CHARS)) if drawn.request else "",
        *(words.rule.format(text=cut(rule, _RULE_CHARS)) for rule in [*drawn.rules.values()][-_MAX_RULES:]),
        words.failed.format(command=cut(failed, _COMMAND_CHARS)) if failed else "",
        words.passed.format(command=cut(passed, _COMMAND_CHARS)) if passed else "",
        *(f"[ ] {cut(one_line(todo), _TODO_CHARS)}" for todo in drawn.todos[:_MAX_TODOS]),
        words.changed.format(files=", ".join(files[: -_MAX_FILES - 1 : -1])) if files else "",
        *receipts,
    ):
        text = f"- {as_text(one_line(scrub_text(part)))}"
        if part and len(text) < remaining:
            remaining -= len(text) + 1
            lines.append(text)
    return list(map(Line, lines))


def _lines(path: str) -> Iterator[bytes]:
    """Yield the lines that are read, in their order: the beginning, prompts, the last changes, and all of the end."""
    data = read_regular(path, start=-_LAST)
    if len(data) == _LAST:
        yield from read_regular(path, _BEGINNING).split(b"\n")
        data = data[data.find(b"\n") + 1 :]
    spans: dict[int, int] = {}
    at = data.find(_BY_USER)
    while at >= 0:
        following = data[at : at + _NEXT]
        if not any(mark in following for mark in _OF_TOOLS):
            start, end = line_at(data, at)
            spans[start] = end
        at = data.find(_BY_USER, at + 1)
    earlier = data.find(b"\n", max(0, len(data) - _BEFORE_END)) + 1
    spans |= {earlier + start: earlier + end for start, end in lines_with(data[earlier:], _CHANGES)}
    at = data.find(b"\n", max(0, len(data) - _END)) + 1 if len(data) > _END else 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        spans[at] = end
        at = end + 1
    yield from (data[start:end] for start, end in sorted(spans.items()) if end - start <= _LONGEST_LINE)


def _rules(prompt: str) -> Iterator[str]:
    """Yield the sentences of a prompt that ask for something that holds from then on."""
    for line in prompt[:_LONGEST_LINE].replace(". ", ".\n").translate(_ENDS).split("\n"):
        sentence = one_line(line).lstrip("-*•0123456789.) ").rstrip(".")
        lower = sentence.lower()
        holds = lower.startswith(_BEGINS) or any(mark in lower for mark in (*_HOLDS, *_HOLDS_ZH))
        if holds and len(sentence) <= _RULE_CHARS:
            yield sentence


def _last_failure(runs: Sequence[tuple[str, bool]]) -> tuple[str, str]:
    """Find the last command that failed, and the first about the same that passed later; "" for none."""
    for at in range(len(runs) - 1, -1, -1):
        command, has_failed = runs[at]
        if has_failed and (subject := _about(command)):
            later = (
                run for run, failed in runs[at + 1 :] if not failed and 2 * len(subject & _about(run)) >= len(subject)
            )
            return one_line(command), one_line(next(later, ""))
    return "", ""


def _about(command: str) -> set[str]:
    """List what a command runs, and on which files by their last names; nothing where it only looks around."""
    words = " ".join(programs_run(command)).split()
    return {word.rpartition("/")[2] for word in words if not word.startswith("-")} - _RUNNERS
