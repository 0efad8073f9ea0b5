"""Payloads as they may reach the disk: bounded, without secrets at any bound, without the user's address."""

from eventlog.fast import fastjson
from eventlog.hosts.call import Payload
from eventlog.secrets import beginning, item_name, scrub

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_TEXT = 2000  # characters
_LONGEST_LIST = 50
_DEEPEST = 8
_NEVER_KEPT = frozenset(("user_email",))
_ENVELOPE = frozenset(("session_id", "sessionId", "conversation_id", "hook_event_name", "hookEventName"))


def bounded(payload: "Mapping[str, object]") -> dict[str, object]:
    """The payload as it is kept; what the event says elsewhere is left out."""
    return {
        name: _kept(name, value, 1)
        for name, value in payload.items()
        if name not in _NEVER_KEPT and name not in _ENVELOPE
    }


def outline(payload: Payload) -> dict[str, object]:
    """Reduce a payload that is too long for a line even so to the texts and numbers it begins with."""
    first = list(bounded(payload).items())[:_LONGEST_LIST]
    return {name: "…" if isinstance(value, (list, dict)) else value for name, value in first}


def _kept(name: str, value: object, depth: int) -> object:
    if isinstance(value, str):
        return _beginning(value) if len(value) > _LONGEST_TEXT else scrub(value, name)
    if isinstance(value, list):
        rest = [f"…[+{len(value) - _LONGEST_LIST} items]"] if len(value) > _LONGEST_LIST else []
        name = item_name(name)
        return [_kept(name, item, depth + 1) for item in value[:_LONGEST_LIST]] + rest if depth < _DEEPEST else "…"
    if isinstance(value, dict):
        if depth >= _DEEPEST:
            return "…"
        kept = ((name, item) for name, item in value.items() if name not in _NEVER_KEPT)
        return {_beginning(name): _kept(name, item, depth + 1) for name, item in kept}
    return _number_as_text(value) if fastjson.refusal(value) else value


def _beginning(text: str) -> str:
    """Return at most so much of a text, saying how much is missing."""
    kept = beginning(text, _LONGEST_TEXT)
    return kept if len(text) <= _LONGEST_TEXT else f"{kept}…[+{len(text) - _LONGEST_TEXT} chars]"


def _number_as_text(value: object) -> str:
    """Keep a number no log takes as it was written; of one too long to be printed, only that it was there."""
    try:
        return _beginning(str(value))
    except ValueError:  # Python prints integers of up to 4,300 digits
        return "…"
