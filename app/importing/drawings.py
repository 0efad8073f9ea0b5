"""Conversations in the log, and their drawings: how sessions began, and which drawings may be replaced.

A drawing is a summary or a text that a program drew from a transcript. Drawn again and otherwise it is a revision: an
event of its own right after the one before, under an id derived from what it says, so that whoever draws the same adds
nothing. What somebody withdrew or erased is not drawn again.
"""

from collections.abc import Iterator
from typing import NamedTuple, get_args

import msgspec

from eventlog.app.importing.source import SourceEvent
from eventlog.format import SESSION_END, ids, timestamps
from eventlog.format.codec import from_fields
from eventlog.format.events import Event, Withdrawal
from eventlog.format.retractions import Retractions
from eventlog.format.text import cut
from eventlog.hosts.transcripts.draw import TOPIC_CHARS
from eventlog.hosts.transcripts.prose import Openings, request
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.projections.current.standing import WHOLE
from eventlog.store import Store
from eventlog.store.files import read
from eventlog.store.index_lookup import lines_with

_TYPES = ("session_start", "session_end", "stage_summary", "conversation_text")
_SAID = ("topic", "summary", "decisions", "todos", "of_user", "title", "prompts", "closing", "files", "fixes")
_WHERE = ("type", "ts", "conversation_id", "project", "agent", "layer")
_WITHDRAWALS = tuple(f'"{kind.__struct_config__.tag}"'.encode() for kind in get_args(Withdrawal))
_MICROSECOND = 1000  # nanoseconds
_CONTINUES_NS = 600 * 10**9  # a transcript's last line and the hook at its end are less apart
_SAVED = "saved"


class _ConversationLine(msgspec.Struct):
    """A line of the log about a conversation."""

    type: str
    conversation_id: str
    ts: str
    id: str = ""
    after: str | None = None
    project: str | None = None
    agent: str | None = None
    subagent: str | None = None
    layer: int | None = None
    redacted: str | None = None
    topic: str = ""
    summary: str = ""
    decisions: list[str] = []
    todos: list[str] = []
    of_user: list[str] = []
    title: str = ""
    prompts: list[str] = []
    closing: str = ""
    files: list[str] = []
    fixes: list[dict[str, str]] = []

    @property
    def about(self) -> tuple[str, str, str]:
        """Return its conversation, helper and type."""
        return self.conversation_id, self.subagent or "", self.type

    @property
    def counts_at(self) -> str:
        """Return the time whose place it takes."""
        return self.after or self.ts

    @property
    def is_drawn(self) -> bool:
        """A program drew it from a transcript."""
        return self.type == "conversation_text" or (self.type == "stage_summary" and self.layer == SESSION_END)


class _Drawn(NamedTuple):
    """The newest drawing of a kind; `content` b"" where texts of it were erased."""

    counts_at: str
    id: str
    content: bytes
    prompts: int


_decoder = msgspec.json.Decoder(_ConversationLine)


def _lines_in(store: Store, types: tuple[str, ...] = _TYPES) -> Iterator[_ConversationLine]:
    """Yield the lines of the log about conversations; skip damaged lines."""
    words = [f'"type":"{name}"'.encode() for name in types]
    for day in days.list_days(store.log):
        for file in day.files:
            data = read(file) or b""
            for start, end in lines_with(data, words):
                try:
                    line = _decoder.decode(data[start:end])
                    if line.type in types and timestamps.to_ns(line.ts) >= 0:
                        yield line
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
                    continue


def openings_in(store: Store) -> Openings:
    """Collect what the sessions in the log began with."""
    openings = Openings()
    for line in _lines_in(store, ("conversation_text",)):
        if line.prompts and not line.subagent:
            openings.add(line.project or "", line.conversation_id, line.prompts[0])
    return openings


def renamed(log: EventLog, project: str, openings: Openings) -> list[Event]:
    """Rename the drawings of a project whose topic is by now the opening of several sessions."""
    drawings = LoggedConversations(log)
    newest: dict[tuple[str, str, str], _ConversationLine] = {}
    for line in _lines_in(log.store, ("stage_summary", "conversation_text")):
        if line.is_drawn and not line.subagent and (line.project or "") == project:
            drawings.take(line)
            newest[line.about] = max(newest.get(line.about, line), line, key=lambda drawing: drawing.counts_at)
    found: list[SourceEvent | None] = []
    for text in [line for line in newest.values() if line.prompts]:
        rest = openings.telling_part(project, text.prompts[0])
        opening, topic = text.prompts[0].removesuffix(rest), request(rest)
        if topic and opening and text.title.rstrip("…") in opening:
            found.append(drawings.revision(_named(text, title=topic), len(text.prompts)))
            summary = newest.get((text.conversation_id, "", "stage_summary"))
            if summary and text.title.startswith(summary.topic.rstrip("…")):
                only_names = summary.summary == summary.topic
                short = cut(topic, TOPIC_CHARS)
                more = {"summary": short} if only_names else {}
                found.append(drawings.revision(_named(summary, topic=short, **more), len(text.prompts)))
    return [from_fields({**line.fields, "id": line.id}) for line in found if line]


def _named(line: _ConversationLine, **names: str) -> SourceEvent:
    """Make the event of a drawing under another name."""
    fields = {name: value for name in (*_WHERE, *_SAID) if (value := getattr(line, name))} | names
    scope = {"scope": WHOLE} if line.type == "stage_summary" else {}
    return SourceEvent({**fields, **scope}, "\n".join(("named", *line.about)))


class LoggedConversations:
    """The newest event, and the newest drawing, of each kind and conversation in the log, or added to it."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._times: dict[tuple[str, str, str], str] = {}
        self._newest: dict[tuple[str, str, str], _Drawn] = {}
        self._withdrawn: Retractions | None = None

    @classmethod
    def read(cls, log: EventLog) -> "LoggedConversations":
        """Take in all lines of a log."""
        found = cls(log)
        for line in _lines_in(log.store):
            found.take(line)
        return found

    def add(self, event: SourceEvent) -> None:
        """Add an event that is being imported."""
        self.take(msgspec.convert({**event.fields, "id": event.id}, _ConversationLine))

    def take(self, line: _ConversationLine) -> None:
        """Take in a line of the log."""
        is_saved = line.type == "stage_summary" and not line.is_drawn
        about = (*line.about[:2], _SAVED if is_saved else line.type)
        self._times[about] = max(self._times.get(about, ""), line.ts)
        if line.is_drawn:
            content = b"" if line.redacted else _content(line)
            drawn = _Drawn(line.counts_at, line.id, content, len(line.prompts))
            self._newest[line.about] = max(self._newest.get(line.about, drawn), drawn)

    def has(self, event: SourceEvent) -> bool:
        """Return whether the log needs no such event of the conversation, or only another wording of it."""
        fields, kind = event.fields, event.fields["type"]
        about = fields["conversation_id"], fields.get("subagent") or ""
        if kind not in _TYPES or (kind == "stage_summary" and fields.get("layer") != SESSION_END):
            return False
        if kind == "stage_summary" and (*about, _SAVED) in self._times:
            return True
        newest = self._times.get((*about, kind))
        if newest is None:
            return False
        later = timestamps.from_ns(timestamps.to_ns(newest) + _CONTINUES_NS)
        return bool(kind == "session_start" or not event.is_dated or fields["ts"] <= later)

    def revision(self, event: SourceEvent, prompts: int) -> SourceEvent | None:
        """Make a drawing the revision of that in the log; None where they are equal, or where the old has to stay.

        `prompts` is their number in the transcript: with fewer it is an older copy.
        """
        about = event.fields["conversation_id"], event.fields.get("subagent") or ""
        if event.fields["type"] == "stage_summary" and (*about, _SAVED) in self._times:
            return None
        line = msgspec.convert({**event.fields}, _ConversationLine)
        drawn = self._newest.get(line.about) if line.is_drawn else None
        content = _content(line)
        if drawn is None or not drawn.content or drawn.content == content or self._is_withdrawn(drawn, line):
            return None
        text = self._newest.get((*about, "conversation_text"))
        if text and text.prompts > prompts:
            return None
        following = timestamps.from_ns(timestamps.to_ns(drawn.counts_at) + _MICROSECOND)
        fields = {**event.fields, "ts": max(following, event.fields["ts"])}
        return SourceEvent(fields, f"{event.key}\n{content.hex()}", event.is_dated)

    def _is_withdrawn(self, drawn: _Drawn, line: _ConversationLine) -> bool:
        if self._withdrawn is None:
            found = (event for day in self._log.days() for event in day.load_mentioning(_WITHDRAWALS))
            self._withdrawn = Retractions(event for event in found if isinstance(event, Withdrawal))
        return drawn.id in self._withdrawn.events or line.conversation_id in self._withdrawn.conversations


def _content(line: _ConversationLine) -> bytes:
    """Digest the texts of a drawing; b"" where all are empty."""
    fields = {name: value for name in _SAID if (value := getattr(line, name))}
    return ids.digest(msgspec.json.encode(fields).decode(), 12) if fields else b""
