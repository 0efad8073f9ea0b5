"""An event with nothing unusual about it, checked and encoded in a few calls: what makes appends fast; pure.

It is of a common type, has neither time nor id nor unknown fields, no secrets, and nothing that JSON or its type
changes. Whatever is not as simple is left to the codec, which also knows what to say about it.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

import msgspec

from eventlog import fastjson
from eventlog.events import HUMAN, Event, Fact, SessionStart, StageSummary, TurnEnd
from eventlog.secrets import is_plain, without_secrets

_STAMP = 100  # bytes; version, id and time take less
_LEAST_SHARE = 0.001  # smaller ones are written in more than one way
_encode = msgspec.json.Encoder().encode


class _Kind(NamedTuple):
    """How the events of one type are looked at."""

    decode: Callable[[bytes], Event]
    texts: Callable[[Event], tuple[str | None, ...]]
    lists: Callable[[Event], tuple[list[str], ...]]
    defaults: tuple[tuple[str, object], ...]  # those that another object may equal, which would be written


def _kind(cls: type[Event], texts: tuple[str, str], more: tuple[str, ...] = (), lists: tuple[str, ...] = ()) -> _Kind:
    defaults = ((field.name, field.default) for field in msgspec.structs.fields(cls))
    return _Kind(
        msgspec.json.Decoder(cls).decode,
        attrgetter(*texts, *more),
        attrgetter(*lists, *lists) if lists else lambda _: (),  # always a tuple
        tuple((name, default) for name, default in defaults if isinstance(default, (str, float)) and default),
    )


_KINDS = {
    Fact: _kind(Fact, ("content", "category"), ("key",), ("entities",)),
    StageSummary: _kind(StageSummary, ("topic", "summary"), (), ("decisions", "todos", "done")),
    SessionStart: _kind(SessionStart, ("source", "model"), ("git_branch", "git_commit", "transcript_path")),
    TurnEnd: _kind(TurnEnd, ("turn_id", "status")),
}
_envelope = attrgetter("conversation_id", "project", "agent", "subagent")
_MOST_REMEMBERED = 256
_clean: set[tuple[str | None, ...]] = set()  # envelopes without secrets: they come again and again


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
    """Tell whether the event is written as it is, and by everybody alike."""
    if event.v != 1 or event.ts or event.id or event.extra or event.replica or event.agent == HUMAN:
        return False
    for name, default in kind.defaults:
        value = getattr(event, name)
        if value is not default and value == default:
            return False
    if type(event) is Fact and event.confidence < _LEAST_SHARE:
        return False
    return (
        _is_clean(_envelope(event))
        and not any(map(_holds_secret, kind.texts(event)))
        and (not any(_holds_secret(text) for texts in kind.lists(event) for text in texts))
    )


def _is_clean(envelope: tuple[str | None, ...]) -> bool:
    if envelope in _clean:
        return True
    if any(map(_holds_secret, envelope)):
        return False
    if len(_clean) >= _MOST_REMEMBERED:
        _clean.clear()
    _clean.add(envelope)
    return True


def _holds_secret(text: str | None) -> bool:
    return text is not None and not is_plain(text) and without_secrets(text) is not text


def line(ts: str, event_id: str, rest: bytes) -> bytes:
    """Put the stamp before what `ready` encoded, as the codec writes it."""
    return f'{{"v":1,"id":"{event_id}","ts":"{ts}",'.encode() + rest + b"\n"
