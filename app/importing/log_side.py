"""The log's side of an import: which conversations it tells of already, and since when.

What hooks recorded of a conversation is not said again: neither its start, nor its end, nor an automatic summary,
unless the transcript goes on after it. Where something was saved on purpose, no automatic summary is added.
"""

from collections.abc import Iterator

import msgspec

from eventlog.app.importing.source import SourceEvent
from eventlog.format import SESSION_END, timestamps
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.store.index_lookup import lines_with

_TYPES = ("session_start", "session_end", "stage_summary", "conversation_text")
_WORDS = [f'"type":"{name}"'.encode() for name in _TYPES]
_GOES_ON_NS = 600 * 10**9  # a transcript's last line and the hook that tells of the end are less apart
_SAVED = "saved"


class _Line(msgspec.Struct):
    type: str
    conversation_id: str
    ts: str
    subagent: str | None = None
    layer: int | None = None


_decoder = msgspec.json.Decoder(_Line)
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class KnownConversations:
    """The log's word on each conversation, as of when it was read, and what was added since."""

    def __init__(self, log: EventLog) -> None:
        self._newest: dict[tuple[str, str, str], str] = {}
        for line in _lines(log):
            self._take_in(line)

    def has(self, event: SourceEvent) -> bool:
        """Tell whether the conversation need not be told this any more."""
        fields, kind = event.fields, _kind(event.fields["type"], event.fields.get("layer"))
        about = fields["conversation_id"], fields.get("subagent") or ""
        if kind not in _TYPES:
            return False
        if kind == "stage_summary" and (*about, _SAVED) in self._newest:
            return True
        known = self._newest.get((*about, kind))
        return known is not None and (kind == "session_start" or not event.is_dated or fields["ts"] <= _later(known))

    def add(self, event: SourceEvent) -> None:
        """Take in what is being added."""
        self._take_in(msgspec.convert({**event.fields}, _Line))

    def _take_in(self, line: _Line) -> None:
        about = line.conversation_id, line.subagent or "", _kind(line.type, line.layer)
        self._newest[about] = max(self._newest.get(about, ""), line.ts)


def _kind(event_type: str, layer: int | None) -> str:
    return _SAVED if event_type == "stage_summary" and layer != SESSION_END else event_type


def _later(ts: str) -> str:
    return timestamps.from_ns(timestamps.to_ns(ts) + _GOES_ON_NS)


def _lines(log: EventLog) -> Iterator[_Line]:
    """The lines of the log that tell of a conversation; damage is passed over."""
    for day in log.days():
        for file in day.files:
            data = days.read(file) or b""
            for start, end in lines_with(data, _WORDS):
                try:
                    line = _decoder.decode(data[start:end])
                    if line.type in _TYPES and timestamps.to_ns(line.ts) >= 0:
                        yield line
                except (*_UNREADABLE, ValueError):
                    continue
