"""Claude Code's history: `projects/<slug>/<session>.jsonl`, a line per block of a message and per piece of bookkeeping.

Subagents write to `<session>/subagents/agent-*.jsonl`, in older versions beside the sessions, lines with
`isSidechain`: what they changed counts, their words do not. After a compaction the summary stands as a user's message;
a rewind leaves the abandoned branch in the file. Bookkeeping lines have no times and are written again when a session
is opened. The agent's notes to itself lie in `projects/<slug>/memory/`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from eventlog.format import MARK, codec
from eventlog.format.codec import dig
from eventlog.hosts.call import not_the_user, text
from eventlog.hosts.transcripts.steps import (
    PastSession,
    SessionCalls,
    Span,
    Step,
    TranscriptRecord,
    directory_spelled,
    first_text,
    records,
    text_of,
    texts,
)

FOLDERS = ("projects",)
NAMES = ("*.jsonl",)
_SUBAGENTS, _SUBAGENT = "subagents", "agent-"  # what their files' names begin with


def past_session(path: Path, damaged: list[int]) -> PastSession | None:
    """Read the head of a session's or a subagent's file; None where no message is in it. Raises OSError."""
    span = Span()
    sessions: dict[str, None] = {}
    where = branch = model = ""
    for record in records(path, damaged):
        if "message" not in record:
            continue
        span.see(record.get("timestamp"))
        sessions.setdefault(text(record, "sessionId"))
        where, branch = where or text(record, "cwd"), branch or text(record, "gitBranch")
        model = model or first_text(dig(record, "message", "model"))
    if not sessions:
        return None
    helper = path.stem.removeprefix(_SUBAGENT) if path.name.startswith(_SUBAGENT) else ""
    conversation = path.stem if path.stem in sessions else first_text(*sessions, _root(path))
    return PastSession(conversation, *span.of(path), where, helper, model, branch)


def _root(path: Path) -> str:
    """Name the session above the folder of subagents of a file, else the file itself."""
    return path.parts[path.parts.index(_SUBAGENTS) - 1] if _SUBAGENTS in path.parts[1:] else path.stem


def notes(directory: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the agent's own notes, each with the directory it is about; "" where that is unknown."""
    for folder in sorted(directory.glob("projects/*/memory")):
        about = _directory_of(folder.parent)
        for path in sorted(folder.rglob("*.md")):
            yield path, about


def _directory_of(folder: Path) -> str:
    """Find the directory the sessions of a folder ran in, else the directory of its slug."""
    for path in filter(Path.is_file, sorted(folder.glob("*.jsonl"))):
        for record in records(path):
            if where := text(record, "cwd"):
                return where
    return directory_spelled(folder.name)


_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}  # the last counts before others


def steps(path: Path) -> Iterator[Step]:
    """Yield the steps of a session, after the changes of its subagents; or of a subagent's file. Raises OSError."""
    is_subagent = path.name.startswith(_SUBAGENT)
    for file in filter(Path.is_file, sorted((path.parent / path.stem / "subagents").glob("**/agent-*.jsonl"))):
        helper = SessionCalls()
        for record in records(file):
            yield from helper.of_blocks(dig(record, "message", "content"))
    abandoned, calls, titles, queue = _abandoned(path), SessionCalls(), _Titles(path), _Queue()
    for record in records(path):
        titles.see(record)
        if (record.get("isSidechain") and not is_subagent) or text(record, "uuid") in abandoned:
            continue
        yield from _own_request(record)
        for step in queue.words(record):
            yield Step("task", step.text) if step.kind == "prompt" and _is_of_program(record) else step
        yield from calls.of_blocks(dig(record, "message", "content"))
    yield from titles.own()


class _Titles:
    """The titles in a session's file, where the host also writes those of other sessions.

    A `summary` names a message by `leafUuid`, any other title its session: it is of that message's file, or session.
    """

    def __init__(self, path: Path) -> None:
        self._messages: set[str] = set()
        self._sessions = {path.stem}
        self._found: list[TranscriptRecord] = []

    def see(self, record: TranscriptRecord) -> None:
        if text(record, "type") in _TITLES:
            self._found.append(record)
        elif uuid := text(record, "uuid"):
            self._messages.add(uuid)
            if "message" in record:
                self._sessions.add(text(record, "sessionId"))

    def own(self) -> Iterator[Step]:
        """Yield the title of this session: the newest a person gave, else the newest of the host."""
        ranks = list(_TITLES)
        mine = [record for record in self._found if self._is_own(record)]
        for record in sorted(mine, key=lambda record: ranks.index(str(record["type"])))[-1:]:
            kind = str(record["type"])
            if title := text(record, _TITLES[kind]) or text(record, "title"):
                yield Step("title", title)

    def _is_own(self, record: TranscriptRecord) -> bool:
        if record["type"] == "summary":
            return text(record, "leafUuid") in self._messages
        return text(record, "sessionId") in self._sessions - {""}


def _own_request(record: TranscriptRecord) -> Iterator[Step]:
    """Yield the request of our own hook at the end of a turn: feedback, or an attachment."""
    attached = dig(record, "attachment") if dig(record, "attachment", "hookEvent") == "Stop" else None
    request = text_of(
        dig(attached, "content") if attached else record.get("isMeta") and dig(record, "message", "content")
    )
    if MARK in request:
        yield Step("prompt", request[request.index(MARK) :])


def _is_of_program(record: TranscriptRecord) -> bool:
    """Check whether a program started the session, and no person is known to have typed this."""
    return text(record, "entrypoint").startswith("sdk-") and dig(record, "origin", "kind") != "human"


_OF_NOBODY = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")


_COMMAND = re.compile(  # of a person's own, or a skill; what the host itself does begins with the name
    r"^\s*<command-message>.*?<command-name>(.*?)</command-name>\s*(?:<command-args>(.*?)</command-args>)?", re.DOTALL
)


def _words(record: TranscriptRecord) -> Iterator[Step]:
    content, of_nobody = dig(record, "message", "content"), any(map(record.get, _OF_NOBODY))
    if record.get("type") == "assistant" and not of_nobody and (reply := text_of(content)):
        yield Step("reply", reply)
    if record.get("type") == "user":
        typed = (_COMMAND.sub(r"\1 \2", part) for part in texts(content))
        prompt = "\n".join(part for part in typed if not not_the_user(part)).strip()
        if prompt and not of_nobody:
            yield Step("prompt", prompt)
        elif not prompt and (notice := text_of(content)) and not record.get("isCompactSummary"):
            yield Step("notice", notice)


def _attached(record: TranscriptRecord) -> Iterator[Step]:
    """Yield what a person typed during a turn, where the host hands it to the agent as an attachment."""
    queued = dig(record, "attachment")
    by_person = dig(queued, "commandMode") in (None, "prompt") and dig(queued, "origin", "kind") in (None, "human")
    prompt = text_of(dig(queued, "prompt")) if dig(queued, "type") == "queued_command" and by_person else ""
    if prompt and not not_the_user(prompt):
        yield Step("prompt", prompt)


class _Queue:
    """The queue of a session: a turn takes words in, the next begins with them, or a person takes them back."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._taken_in: list[Step] = []  # a host may record it once more, as an attachment or a message

    def words(self, record: TranscriptRecord) -> Iterator[Step]:
        """Yield the prompts and replies of a record, each once."""
        for step in (*self._removed(record), *_attached(record)):
            if step in self._taken_in:
                self._taken_in.remove(step)
            else:
                self._taken_in.append(step)
                yield step
        for step in _words(record):
            if step not in self._taken_in:
                yield step
            if step.kind == "prompt":
                self._taken_in.clear()

    def _removed(self, record: TranscriptRecord) -> Iterator[Step]:
        operation = text(record, "operation") if record.get("type") == "queue-operation" else ""
        if operation == "enqueue":
            self._waiting.append(text_of(record.get("content")))
        elif operation == "popAll":
            self._waiting.clear()
        elif operation and self._waiting:
            named = text_of(record.get("content"))
            taken = self._waiting.pop(self._waiting.index(named) if named in self._waiting else 0)
            by_person = dig(codec.json_object(taken), "task_id") is None  # the host queues its own tasks, too
            if operation == "remove" and taken and by_person and not not_the_user(taken):
                yield Step("prompt", taken)


def _abandoned(path: Path) -> set[str]:
    """Find the messages of branches that were rewound.

    A rewind leaves two prompts with the same parent, and the later prompt is the conversation. (Tools called in
    parallel fork the chain too, but not with prompts.)
    """
    children: dict[str, list[str]] = {}
    prompts: dict[str, list[str]] = {}
    for record in records(path):
        uuid, parent = text(record, "uuid"), text(record, "parentUuid")
        if uuid and parent:
            children.setdefault(parent, []).append(uuid)
            if any(step.kind == "prompt" for step in (*_words(record), *_attached(record))):
                prompts.setdefault(parent, []).append(uuid)
    waiting = [uuid for siblings in prompts.values() for uuid in siblings[:-1]]
    found: set[str] = set()
    while waiting:
        uuid = waiting.pop()
        if uuid not in found:
            found.add(uuid)
            waiting += children.get(uuid, [])
    return found
