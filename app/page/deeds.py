"""Decisions of a person on the page: by the use cases of the verbs with these names, each an event."""

from collections.abc import Callable, Mapping, Sequence

from eventlog.app.open_store import OpenStore
from eventlog.app.write.correct import correctable, edit
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.resolve import Choice, decide, pick, waiting
from eventlog.app.write.undo import undo, undoable
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event

_CHOICES: dict[str, Choice] = {"apply": "apply", "discard": "discard", "edited": "edited"}


def _forget(opened: OpenStore, request: Mapping[str, str]) -> Sequence[Event]:
    return forget(opened, forgettable(opened, _target(request))).events


def _edit(opened: OpenStore, request: Mapping[str, str]) -> Sequence[Event]:
    return edit(opened, correctable(opened, _target(request)), request.get("content", ""))[0]


def _undo(opened: OpenStore, request: Mapping[str, str]) -> Sequence[Event]:
    return undo(opened, undoable(opened, request.get("target", ""))).events


def _resolve(opened: OpenStore, request: Mapping[str, str]) -> Sequence[Event]:
    choice = _CHOICES.get(request.get("choice", ""))
    if choice is None:
        raise BadRequest(f"{request.get('choice', '')!r} is no choice", hint=f"choose one of {', '.join(_CHOICES)}")
    target = _target(request)
    return [decide(opened, pick(waiting(opened, target), target), choice, request.get("content")).event]


DEEDS: dict[str, Callable[[OpenStore, Mapping[str, str]], Sequence[Event]]] = {
    "forget": _forget,
    "edit": _edit,
    "undo": _undo,
    "resolve": _resolve,
}


def carry_out_deed(opened: OpenStore, deed: str, request: Mapping[str, str]) -> Sequence[Event]:
    """Execute a decision of a person, and return its events; raises BadRequest or NotStored.

    `request` has the fields `target` (what the verb takes), `choice` and `content`.
    """
    return DEEDS[deed](opened, request)


def _target(request: Mapping[str, str]) -> str:
    if not request.get("target"):
        raise BadRequest("the request names no target", hint="an event, FILE:LINE or a text")
    return request["target"]
