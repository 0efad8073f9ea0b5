"""The head of a transcript and the steps of its conversation, messages and calls of tools, common to all formats.

A room's `past` module names the folders and files of a host's transcripts (`FOLDERS` below its directory, `NAMES`),
reads the head of a transcript (`past_session`), and its steps (`steps`). The head is whose transcript it is, where it
ran, from when to when.

Tools are recognised under the names of all hosts. A shell command is not parsed: quotes, redirections and the ends of
commands are recognised, everything else is words.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from eventlog.format import codec, timestamps
from eventlog.format.codec import dig
from eventlog.format.text import one_line
from eventlog.store.files import open_regular

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", re.ASCII)
LONGEST_LINE = 64 << 20  # bytes; longer lines are skipped: they hold pictures

StepKind = Literal["title", "prompt", "plan", "task", "notice", "reply", "proposal", "file", "created", "read",
                   "command", "passed", "failed", "output", "undone", "todos", "chosen"]  # fmt: skip
REQUESTS: tuple[StepKind, ...] = ("prompt", "plan", "task")
TranscriptRecord = dict[str, Any]
_TEXT_BLOCKS = ("text", "input_text", "output_text", None)


class PastSession(NamedTuple):
    """A transcript's head; times are timestamps of the log, texts "" where the host writes none.

    `is_dated` is False where a host writes no times: they are then the file's, which copying may change.
    """

    conversation: str
    started: str
    ended: str
    is_dated: bool = True
    where: str = ""
    subagent: str = ""
    model: str = ""
    branch: str = ""
    commit: str = ""


class Span:
    """The first and the last time of a transcript."""

    def __init__(self) -> None:
        self._first, self._last = "~", ""

    def see(self, value: object) -> None:
        """Add a time as a host writes it; skip any other value."""
        if isinstance(value, str) and (value < self._first or value > self._last) and _TIME.fullmatch(value):
            self._first, self._last = min(value, self._first), max(value, self._last)

    def of(self, path: Path) -> tuple[str, str, bool]:
        """Return the first time, the last, and True; else the file's time, twice, and False."""
        try:
            if self._last:
                return timestamps.read(self._first), timestamps.read(self._last), True
        except ValueError:  # a day no calendar has
            pass
        written = timestamps.from_ns(path.stat().st_mtime_ns)
        return written, written, False


def first_text(*values: Any) -> str:
    """Return the first of these that is a non-empty text, else ""."""
    return next((value for value in values if isinstance(value, str) and value), "")


def directory_spelled(slug: str) -> str:
    """Find the directory of this machine with this slug: its path, with `-` for all but letters and digits.

    "" for none. Several paths may have the same slug: the first that exists is returned.
    """
    return next(_spelled(slug.removeprefix("-"), Path("/")), "")


def _spelled(rest: str, below: Path) -> Iterator[str]:
    try:
        names = sorted(entry.name for entry in below.iterdir() if entry.is_dir())
    except OSError:
        return
    for name in names:
        spelled = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
        if spelled == rest:
            yield str(below / name)
        elif rest.startswith(f"{spelled}-"):
            yield from _spelled(rest[len(spelled) + 1 :], below / name)


# ------------------------------------------------------------------------------------------------ steps


class Step(NamedTuple):
    """A message or an effect of a tool.

    `text` is a title, the user's or the agent's words, a path or a command. Where the user's prompt could stand, a
    `plan` is the agent's own, which the user accepted, a `task` what a program asks, a `notice` what the host itself
    says. A `proposal` is a plan that the agent lays before the user. A `file` was changed; where a tool wrote it whole,
    `created` comes before, and where it was looked at, `read`. A command that ended badly is named again by `failed`,
    and what it printed last follows as `output`. Of `todos` it is the whole list of open to-dos, a line each, which
    replaces the list before. `chosen` is a question of the agent and, in its last line, what the user chose of its
    answers.
    """

    kind: StepKind
    text: str


def records(path: Path, damaged: list[int] | None = None) -> Iterator[TranscriptRecord]:
    """Yield the JSON objects of a file of lines, reading a line at a time; skip every other line.

    Add the numbers of skipped lines to `damaged`, except a half-written last line. Raises OSError.
    """
    skipped = [] if damaged is None else damaged
    with os.fdopen(open_regular(str(path)), "rb") as opened:
        number = 0
        while line := opened.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while (line := opened.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
                    pass
                continue
            record = codec.json_object(line)
            if record is not None:
                yield record
            elif line.strip() and line.endswith(b"\n"):
                skipped.append(number)


def texts(content: Any) -> list[str]:
    """List the texts of a message: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found = (
        block if isinstance(block, str) else dig(block, "text")
        for block in blocks
        if dig(block, "type") in _TEXT_BLOCKS
    )
    return [text for text in found if isinstance(text, str) and text.strip()]


def text_of(content: Any) -> str:
    """Join the texts of a message."""
    return "\n".join(texts(content)).strip()


_WRITES = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "writefile", "replace", "searchreplace", "editfile", "create",
     "createfile", "savefile", "strreplace", "strreplaceeditor", "delete", "deletefile", "insertedit",
     "replacestringinfile")
)  # fmt: skip
_CREATES = frozenset(("write", "writefile", "create", "createfile"))
_READS = frozenset(("read", "readfile", "view"))
_WRITTEN_WHOLE: tuple[StepKind, ...] = ("created", "file")
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path", "absolutePath")
_RUNS = frozenset(
    ("bash", "shell", "execcommand", "runshellcommand", "runterminalcmd", "runterminalcommand", "localshell", "exec",
     "execute", "launchprocess", "runinterminal", "powershell")
)  # fmt: skip
_PATCHES = frozenset(("applypatch",))
_PLANS = frozenset(("todowrite", "updateplan", "writetodos", "updatetodo"))
_PROPOSES = frozenset(("exitplanmode",))
_ASKS = frozenset(("askuserquestion", "requestuserinput", "askuser"))
_PATCH_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_CLOSED = ("completed", "cancelled")
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
_OPEN_BOX = re.compile(r"^\s*(?:[-*] )?\[[ -]\] +(\S.*)$", re.MULTILINE)


def from_tool(name: str, arguments: Any) -> Iterator[Step]:
    """Yield the effects of a tool call; its arguments as an object, or as the JSON text of an object."""
    plain, arguments = _plain(name), _object(arguments)
    path = next((dig(arguments, key) for key in _PATHS if isinstance(dig(arguments, key), str)), "")
    looks = dig(arguments, "command") == "view" if plain in _WRITES else plain in _READS
    if path and looks:
        yield Step("read", path)
    elif path and plain in _WRITES:
        if plain in _CREATES or dig(arguments, "command") == "create":
            yield Step("created", path)
        yield Step("file", path)
    elif plain in _RUNS:
        if command := _command(arguments):
            yield from _patched(command)
            yield from (Step(kind, path) for path in files_written(command) for kind in _WRITTEN_WHOLE)
            yield Step("command", command)
    elif plain in _PATCHES:
        yield from _patched(_command(arguments))
    elif plain in _PROPOSES:
        yield Step("proposal", str(_first(arguments, "plan") or ""))
    elif plain in _PLANS:
        yield Step("todos", "\n".join(_open_todos(arguments)))


def _plain(name: str) -> str:
    return name.rpartition("__")[2].casefold().replace("_", "").replace("-", "")


def _command(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    command = _first(arguments, "command", "cmd", "input", "patchText") or ""
    if not isinstance(command, list):
        return str(command)
    match [str(word) for word in command]:
        case [program, _, *_, script] if _SHELLS.fullmatch(program):
            return script
        case words:
            return " ".join(words)


def _patched(patch: str) -> Iterator[Step]:
    for line in patch.splitlines() if "*** Begin Patch" in patch else ():
        for head in _PATCH_HEADS:
            if line.startswith(head):
                path = line.removeprefix(head).strip()
                yield from [Step("created", path)] if head == _PATCH_HEADS[0] else []
                yield Step("file", path)


def _open_todos(arguments: Any) -> list[str]:
    items = _first(arguments, "todos", "plan")
    if isinstance(items, str):
        return _OPEN_BOX.findall(items)
    todos = [
        (dig(item, "content") or dig(item, "step") or dig(item, "description"), dig(item, "status"))
        for item in (items if isinstance(items, list) else [])
    ]
    return [text for text, status in todos if isinstance(text, str) and status not in _CLOSED]


_EXIT = r"\bexit(?:ed with)?(?: code| status)?:? [1-9]|\"exit_?code\": ?[1-9]"
_EXITED = re.compile(_EXIT, re.IGNORECASE)
_ENDED_BADLY = re.compile(rf"{_EXIT}|\b[1-9]\d* (?:failed|failures?|errors?)\b|^FAILED", re.IGNORECASE | re.MULTILINE)
_HEAD, _END_OF_OUTPUT = 200, 2000  # characters
_ECHO = re.compile(r"\ACommand: .*?\n(?=(?:Chunk ID|Wall time): )", re.DOTALL)  # before the exit code, as long as it is
_ARGUMENTS = ("input", "arguments", "args")
_OUTPUTS = ("functionResponse", "content", "output", "response", "result", "error", "text", "stdout", "llmContent",
            "textResultForLlm", "text_result_for_llm")  # fmt: skip
_SHELL_IDS = ("session_id", "bash_id", "shell_id", "shellId", "task_id", "cell_id")
_GOES_ON = re.compile(
    r"(?:\brunning in (?:the )?background with ID|\bProcess running with session ID|\bScript running with cell ID"
    r"|\"wall_time_seconds\":[\d.]+,\"session_id\"):? *(?P<shell>\w+)"
)
_NEVER_RAN = re.compile(
    r"\bdoesn't want to (?:proceed|take this action)\b|\b(?:rejected|denied|aborted|cancell?ed) by (?:the )?user\b"
    r"|\[(?:Request interrupted by user|Operation Cancelled)\b|\brequested permissions? to\b"
    r"|\bPermission to use\b.*\bdenied\b|\Aexec_command failed for ",
    re.IGNORECASE,
)
_BROKE_OFF = "Script failed"  # of Codex: whether its commands ran is not known
_REFUSED = re.compile(
    r"\W*(?:tool_use_|apply_patch verification |Script )?(?:error|failed)\b|Exit code: [1-9]", re.IGNORECASE
)
_COMMITTED = re.compile(r"^\[[^\]\n]+ [0-9a-f]{7,40}\] ", re.MULTILINE)  # the answer of git
_NOT_COMMITTED = re.compile(r"^(?:nothing (?:added )?to commit|no changes added to commit)", re.MULTILINE)
_STATES = ("success", "error", "cancelled")  # of Gemini's calls that ended
_ANSWERS = ("tool_result", "function_call_output", "custom_tool_call_output")


class SessionCalls:
    """The calls of a session by their ids, until they end; `runs` has the commands that ended, and whether they failed.

    A call is taken for done until its end says otherwise: not every transcript has the ends. That a command passed is
    only said by an end.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[Step]] = {}
        self._questions: dict[str, list[Any]] = {}
        self.runs: list[tuple[str, bool]] = []

    def called(self, call: Any, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps of a call, and remember them."""
        if isinstance(call, str):
            steps = self._open[call] = list(steps)
        yield from steps

    def ended(self, call: Any, answer: Any, *, badly: bool = False) -> Iterator[Step]:
        """Yield whether the command of a call passed, by the host and its output, and what was not done after all.

        Of a call that asked the user, yield what was chosen.
        """
        if questions := self._questions.pop(str(call), []):
            yield from _chosen(questions, _output_in(answer))
        steps = self._open.pop(call, []) if isinstance(call, str) else []
        if not steps:
            return
        output = _ECHO.sub("", _output_in(answer).strip())
        files = [step.text for step in steps if step.kind == "file"]
        head, end = output[:_HEAD], output[-_END_OF_OUTPUT:]
        command = next((step.text for step in steps if step.kind == "command"), "")
        if goes_on := _GOES_ON.search(head):
            self._open[goes_on["shell"]] = steps
        elif _NEVER_RAN.search(head) or (not command and (badly or _REFUSED.match(head))):
            yield from (Step("undone", text) for text in (*files, *commit_titles(command)))
        elif command and not output.startswith(_BROKE_OFF):
            failed = badly or bool(_EXITED.search(head) or _ENDED_BADLY.search(end))
            self.runs.append((command, failed))
            yield Step("failed" if failed else "passed", command)
            if failed and end:
                yield Step("output", end)
            if (failed or _NOT_COMMITTED.search(output)) and not _COMMITTED.search(output):
                yield from (Step("undone", title) for title in commit_titles(command))

    def of_blocks(self, content: Any, effects: Callable[[str, Any], Iterable[Step]] = from_tool) -> Iterator[Step]:
        """Yield the effects of the tool calls among the blocks of a message, as any host's model has them."""
        for block in content if isinstance(content, list) else ():
            kind, call = dig(block, "type"), _first(block, "functionCall") or block
            if isinstance(name := dig(call, "name"), str):
                arguments = _first(call, *_ARGUMENTS)
                shell = _first(_object(arguments), *_SHELL_IDS)  # a look at a command that goes on
                known = self._open.pop(str(shell), []) if shell else []
                called = _first(call, "call_id", "id", "name")
                if _plain(name) in _ASKS:
                    self._questions[str(called)] = _listed(_object(arguments), "questions")
                yield from self.called(called, [] if known else effects(name, arguments))
                self._open |= {called: known} if known else {}
            status = dig(block, "status") if kind is None else ""  # of Gemini, where a call has its answer in it
            answer = _first(block, "functionResponse") or block
            if answer is not block or kind in _ANSWERS or status in _STATES:
                badly = dig(answer, "is_error") is True or status in _STATES[1:]
                yield from self.ended(_first(answer, "tool_use_id", "call_id", "id", "name"), answer, badly=badly)


_RECOMMENDED = re.compile(
    r"\s*[(（](?:recom\w*|empfohlen|consigliat\w*|öneril\w*|推荐|推薦|推奨|おすすめ|권장|추천)[)）]", re.IGNORECASE
)


def _chosen(questions: list[Any], output: str) -> Iterator[Step]:
    """Yield the questions that the user answered as they were offered to; what they wrote instead is left out.

    Claude Code answers with `"question"="answer, answer"`, Codex and Gemini with a JSON object, an answer or a list
    of them for each question in turn.
    """
    answers = _first(codec.json_object(output), "answers")
    given = [*answers.values()] if isinstance(answers, dict) else []
    for place, question in enumerate(questions):
        text = str(dig(question, "question"))
        offered = sorted((str(dig(option, "label")) for option in _listed(question, "options")), key=len, reverse=True)
        if len(given) == len(questions):
            value = _first(given[place], "answers") or given[place]
            rest = ", ".join(map(str, value if isinstance(value, list) else [value])) + '"'
        else:
            rest = output.partition(f'"{text}"="')[2]
        chosen: list[str] = []
        while label := next((label for label in offered if rest.startswith(label)), ""):
            chosen.append(_RECOMMENDED.sub("", label))
            rest = rest.removeprefix(label).removeprefix(", ")
        if chosen and rest.startswith('"'):
            yield Step("chosen", f"{text}\n{one_line(', '.join(chosen))}")


def _listed(record: Any, name: str) -> list[Any]:
    found = _first(record, name)
    return found if isinstance(found, list) else []


def _object(arguments: Any) -> Any:
    """Return the arguments of a call, decoded where they are the JSON text of an object."""
    parsed = codec.json_object(arguments) if isinstance(arguments, str) else None
    return arguments if parsed is None else parsed


def _first(record: Any, *names: str) -> Any:
    """Return the first value under these names that is not empty; None for none."""
    for name in names if isinstance(record, dict) else ():
        if found := record.get(name):
            return found
    return None


def _output_in(answer: Any) -> str:
    """Join the texts of what a call came to, wherever a host puts them."""
    if isinstance(answer, list):
        return "\n".join(filter(None, map(_output_in, answer)))
    return answer if isinstance(answer, str) else _output_in(_first(answer, *_OUTPUTS)) if answer else ""


_LONGEST = 4000  # characters looked at
_HEREDOC_BODY = re.compile(r"(<<-?\s*(['\"]?)(\w+)\2[^\n]*)\n.*?(?:^\s*\3$|\Z)", re.DOTALL | re.MULTILINE)
_SYNTAX = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.
    |(?<![-=<])(?P<source>\d|&)?>{1,2}\|?[^\S\n]*(?P<target>'[^'\n]+'|"[^"\n]+"|[^\s;&|<>()'"]+)
    |(?P<end>&&|\|\||;|\n|&(?![>\d]))""",
    re.DOTALL | re.VERBOSE,
)
_TEE = re.compile(r"(?:^|\|)\s*tee\s+(?:-a\s+)?([^\s;&|<>()'\"-][^\s;&|<>()'\"]*)")
_TEMPORARY = ("/dev/", "/proc/", "/tmp/", "$")  # noqa: S108 - compared with, never opened
_SCRATCH_REPOSITORY = re.compile(  # made to try something in, and what is done there
    r"\bcd\s+['\"]?(?:/tmp\b|/var/folders/|\$\(mktemp|\$\w*tmp).*\bgit init\b.*", re.DOTALL | re.IGNORECASE
)
_READS_ONLY = re.compile(
    r"(?:\w+=\S*\s+)*(?:\S*/)?(?:cd|ls|cat|pwd|head|tail|grep|rg|find|echo|printf|sed -n|which|wc|tree|tee|true|sleep"
    r"|export|set|eventlog|git (?:-C \S+ )?(?:status|log|diff|show|add|commit))(?![\w-])"
)
_COMMIT = re.compile(r"""\bgit\b[^\n|;&]*?\bcommit\b[^\n]*?\s(?:-\w*m|--message[= ])\s*(?:"([^"\n]+)|'([^'\n]+))""")
_HEREDOC = re.compile(r"\bgit\b[^\n]*\bcommit\b.*?<<-?\s*['\"]?(\w+)['\"]?\n\s*([^\n]+)", re.DOTALL)


def files_written(command: str) -> Iterator[str]:
    """Yield the files a shell command redirects output to, in order; not temporary files and devices."""
    text = _SCRATCH_REPOSITORY.sub("", _HEREDOC_BODY.sub(r"\1", command[:_LONGEST]))
    redirected = [(found["source"], found["target"]) for found in _SYNTAX.finditer(text) if found["target"]]
    targets = [target.strip("'\"") for source, target in redirected if source != "2"]
    yield from (target for target in (*targets, *_TEE.findall(text)) if not target.startswith(_TEMPORARY))


def programs_run(command: str) -> Iterator[str]:
    """Yield the single commands of a shell line, without those that only look around, write, or commit."""
    text = _HEREDOC_BODY.sub(r"\1", command[:_LONGEST])
    start = 0
    ends = [found for found in _SYNTAX.finditer(text) if found["end"]]
    for stop, following in [*((found.start(), found.end()) for found in ends), (len(text), len(text))]:
        piece = " ".join(text[start:stop].split())
        start = following
        if piece and not _READS_ONLY.match(piece):
            yield piece


def commit_titles(command: str) -> list[str]:
    """List the first lines of the commit messages in a shell command."""
    text = _SCRATCH_REPOSITORY.sub("", command[:_LONGEST])
    quoted = [double or single for double, single in _COMMIT.findall(text) if not (double or single).startswith("$(")]
    return quoted or [title for _, title in _HEREDOC.findall(text)]
