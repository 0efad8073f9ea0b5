"""Conversations in the log, and their drawings: how sessions began, and which drawings may be replaced.

A drawing is a summary or a text that a program drew from a transcript. Drawn again and otherwise it is a revision: an
event of its own right after the one before, under an id derived from what it says, so that whoever draws the same adds
nothing. What somebody withdrew or erased is not drawn again.
"""

from functools import cached_property
from typing import NamedTuple, get_args

import msgspec

from eventlog.app.importing.source import SourceEvent
from eventlog.format import SESSION_END, ids, timestamps
from eventlog.format.codec import to_fields
from eventlog.format.events import ConversationText, Event, SessionEnd, SessionStart, StageSummary, Withdrawal
from eventlog.format.retractions import Retractions
from eventlog.format.text import cut
from eventlog.format.timestamps import counts_at
from eventlog.hosts.transcripts.draw import TOPIC_CHARS
from eventlog.hosts.transcripts.prose import Openings, request
from eventlog.log.event_log import EventLog
from eventlog.projections.current.standing import WHOLE, only_names

_TYPES = ("session_start", "session_end", "stage_summary", "conversation_text")
_TEXTS = ("topic", "summary", "decisions", "todos", "of_user", "title", "prompts", "closing", "files", "fixes")
_WHERE = ("type", "ts", "conversation_id", "project", "agent", "layer")
_MICROSECOND = 1000  # nanoseconds
_CONTINUES_NS = 600 * 10**9  # a transcript's last line and the hook at its end are less apart
_SAVED = "saved"
PROGRAM = "program"  # the helper whose words a transcript counts as where a program asked once and nothing was changed
_About = tuple[str, str, str]  # conversation, helper and type


class _Drawn(NamedTuple):
    """The newest drawing of a kind; `content` b"" where texts of it were erased."""

    counts_at: str
    id: str
    content: bytes
    prompts: int


def _about(event: Event) -> _About:
    return event.conversation_id, event.subagent or "", event.type


def _is_drawn(event: Event) -> bool:
    """Return whether a program drew it from a transcript."""
    return event.type == "conversation_text" or (event.type == "stage_summary" and event.layer == SESSION_END)


def add_openings(log: EventLog, openings: Openings) -> None:
    """Add what the sessions in the log began with; where a transcript was read, its words count: the log's are cut."""
    for text in log.of_types(ConversationText):
        if text.prompts and not text.subagent:
            openings.add(text.project or "", text.conversation_id, text.prompts[0])


def renamed(log: EventLog, project: str, openings: Openings) -> list[Event]:
    """Rename the drawings of a project whose topic is by now the opening of several sessions."""
    drawings = LoggedConversations(log)
    newest: dict[_About, Event] = {}
    for event in log.of_types(StageSummary, ConversationText):
        if _is_drawn(event) and not event.subagent and (event.project or "") == project:
            drawings.take(event)
            newest[_about(event)] = max(newest.get(_about(event), event), event, key=counts_at)
    found: list[SourceEvent | None] = []
    for text in [event for event in newest.values() if isinstance(event, ConversationText) and event.prompts]:
        rest = openings.telling_part(project, text.prompts[0])
        opening, topic = text.prompts[0].removesuffix(rest), request(rest)
        if topic and opening and text.title.rstrip("…") in opening:
            found.append(drawings.revision(_named(text, title=topic), len(text.prompts)))
            summary = newest.get((text.conversation_id, "", "stage_summary"))
            if isinstance(summary, StageSummary) and text.title.startswith(summary.topic.rstrip("…")):
                short = cut(topic, TOPIC_CHARS)
                more = {"summary": short} if only_names(summary) else {}
                found.append(drawings.revision(_named(summary, topic=short, **more), len(text.prompts)))
    return [revision.event for revision in found if revision]


def _named(event: Event, **names: str) -> SourceEvent:
    """Make the event of a drawing under another name."""
    known = to_fields(event)
    fields = {name: known[name] for name in (*_WHERE, *_TEXTS) if name in known} | names
    scope = {"scope": WHOLE} if event.type == "stage_summary" else {}
    return SourceEvent({**fields, **scope}, "\n".join(("named", *_about(event))))


class LoggedConversations:
    """The newest event, and the newest drawing, of each kind and conversation in the log, or added to it."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._times: dict[_About, str] = {}
        self._newest: dict[_About, _Drawn] = {}

    @classmethod
    def read(cls, log: EventLog) -> "LoggedConversations":
        """Take in all events of a log."""
        found = cls(log)
        for event in log.of_types(SessionStart, SessionEnd, StageSummary, ConversationText):
            found.take(event)
        return found

    def take(self, event: Event) -> None:
        """Take in an event that the log has, or is about to get."""
        key, is_drawn = _about(event), _is_drawn(event)
        kind = _SAVED if event.type == "stage_summary" and not is_drawn else event.type
        self._times[(*key[:2], kind)] = max(self._times.get((*key[:2], kind), ""), event.ts)
        if is_drawn:
            content = b"" if event.redacted else _content(event)
            prompts = len(event.prompts) if isinstance(event, ConversationText) else 0
            drawn = _Drawn(counts_at(event), event.id, content, prompts)
            self._newest[key] = max(self._newest.get(key, drawn), drawn)

    def has(self, event: SourceEvent) -> bool:
        """Return whether the log needs no such event of the conversation, or only another wording of it."""
        fields, kind = event.fields, event.fields["type"]
        key = fields["conversation_id"], fields.get("subagent") or ""
        if kind not in _TYPES or (kind == "stage_summary" and fields.get("layer") != SESSION_END):
            return False
        if kind == "stage_summary" and (*key, _SAVED) in self._times:
            return True
        if key[1] == PROGRAM and (key[0], "", "session_start") in self._times:  # a session as hooks recorded it
            return True
        newest = self._times.get((*key, kind))
        if newest is None:
            return False
        later = timestamps.from_ns(timestamps.to_ns(newest) + _CONTINUES_NS)
        return bool(kind == "session_start" or not event.is_dated or fields["ts"] <= later)

    def revision(self, event: SourceEvent, prompts: int) -> SourceEvent | None:
        """Make a drawing the revision of that in the log; None where they are equal, or where the old has to stay.

        `prompts` is their number in the transcript: with fewer it is an older copy.
        """
        key = event.fields["conversation_id"], event.fields.get("subagent") or ""
        if event.fields["type"] == "stage_summary" and (*key, _SAVED) in self._times:
            return None
        drawn = self._newest.get((*key, event.fields["type"]))
        if drawn is None or not drawn.content:
            return None
        content = _content(event.event)
        if drawn.content == content or drawn.id in self._withdrawn.events or key[0] in self._withdrawn.conversations:
            return None
        text = self._newest.get((*key, "conversation_text"))
        if text and text.prompts > prompts:
            return None
        following = timestamps.from_ns(timestamps.to_ns(drawn.counts_at) + _MICROSECOND)
        fields = {**event.fields, "ts": max(following, event.fields["ts"])}
        return SourceEvent(fields, f"{event.key}\n{content.hex()}", event.is_dated)

    @cached_property
    def _withdrawn(self) -> Retractions:
        return Retractions(self._log.of_types(*get_args(Withdrawal)))


def _content(event: Event) -> bytes:
    """Digest the texts of a drawing; b"" where all are empty."""
    fields = {name: value for name in _TEXTS if (value := getattr(event, name, None))}
    return ids.digest(msgspec.json.encode(fields).decode(), 12) if fields else b""
