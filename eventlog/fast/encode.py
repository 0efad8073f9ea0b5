"""Fast path of append: an ordinary event checked and encoded in a few calls, a fifth of the codec's time; pure.

It is of a common type, has neither time nor id nor unknown fields, no secrets, and nothing that JSON or its type
changes. Whatever is not as simple is left to the codec, which also knows what to say about it.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

import msgspec

from eventlog.fast import fastjson
from eventlog.format.events import HUMAN, Event, Fact, SessionStart, StageSummary, TurnEnd
from eventlog.secrets import scrub_text
from eventlog.secrets.plain import is_plain

_STAMP = 100  # bytes; version, id and time take less
_MIN_SHARE = 0.001  # smaller ones are written in more than one way
_encode = msgspec.json.Encoder().encode


class _Kind(NamedTuple):
    """The rules for the events of a type."""

    decode: Callable[[bytes], Event]
    texts: Callable[[Event], tuple[str | list[str] | None, ...]]
    defaults: tuple[tuple[str, object], ...]  # those that another object may equal, which would be written


def _kind(cls: type[Event], *texts: str) -> _Kind:
    defaults = ((field.name, field.default) for field in msgspec.structs.fields(cls))
    return _Kind(
        msgspec.json.Decoder(cls).decode,
        attrgetter(*texts),
        tuple((name, default) for name, default in defaults if isinstance(default, (str, float)) and default),
    )


_KINDS = {
    Fact: _kind(Fact, "content", "category", "key", "entities", "replaces", "instead_of", "batch", "reason"),
    StageSummary: _kind(StageSummary, "topic", "summary", "decisions", "todos", "done", "batch"),
    SessionStart: _kind(SessionStart, "source", "model", "git_branch", "git_commit", "transcript_path"),
    TurnEnd: _kind(TurnEnd, "turn_id", "status"),
}
_envelope = attrgetter("v", "ts", "after", "id", "replica", "conversation_id", "project", "agent", "subagent")
_MAX_REMEMBERED = 256
_usual: set[tuple[object, ...]] = set()  # envelopes with nothing unusual about them: they come again and again


def ready(event: object) -> tuple[Event, bytes] | None:
    """Check and encode an event born now: as a reader will see it, and its line from its type on; None for others."""
    kind = _KINDS.get(type(event))  # type: ignore[call-overload]
    if kind is None:
        return None
    try:
        data = _encode(event)
        checked = kind.decode(data)
    except (msgspec.MsgspecError, UnicodeError, TypeError, RecursionError):
        return None
    if checked != event or len(data) > fastjson.MAX_LINE - _STAMP or not _is_plain(checked, kind):
        return None
    return checked, data[1:]


def _is_plain(event: Event, kind: _Kind) -> bool:
    """Return whether the event needs no change, and every encoder writes it alike."""
    if event.extra or (_envelope(event) not in _usual and not _is_usual(event)):
        return False
    for name, default in kind.defaults:
        value = getattr(event, name)
        if value is not default and value == default:
            return False
    if type(event) is Fact and event.confidence < _MIN_SHARE:
        return False
    return _are_clean(kind.texts(event))


def _is_usual(event: Event) -> bool:
    """Return whether the log gives version, time, id and store, and no name looks like a secret."""
    envelope = _envelope(event)
    is_stamped = event.v != 1 or event.ts or event.after or event.id or event.replica
    if is_stamped or not event.conversation_id.strip() or event.agent == HUMAN or not _are_clean(envelope[5:]):
        return False
    if len(_usual) >= _MAX_REMEMBERED:
        _usual.clear()
    _usual.add(envelope)
    return True


def _are_clean(texts: Iterable[str | list[str] | None]) -> bool:
    """Return whether no text holds a secret, nor any in a list."""
    for text in texts:
        if not text:
            continue
        if isinstance(text, list):
            if not _are_clean(text):
                return False
        elif not is_plain(text) and scrub_text(text) is not text:
            return False
    return True


def line(ts: str, event_id: str, rest: bytes) -> bytes:
    """Put the stamp before what `ready` encoded, as the codec writes it."""
    return f'{{"v":1,"id":"{event_id}","ts":"{ts}",'.encode() + rest + b"\n"
