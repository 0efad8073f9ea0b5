"""Decisions of a person on the page: by the use cases of the verbs with these names, each an event or a shared file."""

from collections.abc import Callable, Mapping, Sequence

from eventlog.app.open_store import OpenStore
from eventlog.app.team.share import share
from eventlog.app.write.correct import correctable, edit
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.resolve import Choice, decide, pick, waiting
from eventlog.app.write.undo import undo, undoable
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event

_CHOICES: dict[str, Choice] = {"apply": "apply", "discard": "discard", "edited": "edited"}


_Done = tuple[Sequence[Event], Sequence[str]]


def _resolve(opened: OpenStore, request: Mapping[str, str]) -> _Done:
    choice = _CHOICES.get(request.get("choice", ""))
    if choice is None:
        raise BadRequest(f"{request.get('choice', '')!r} is no choice", hint=f"choose one of {', '.join(_CHOICES)}")
    target = _target(request)
    return [decide(opened, pick(waiting(opened, target), target), choice, request.get("content")).event], ()


def _share(opened: OpenStore, request: Mapping[str, str]) -> _Done:
    files = share(opened, [_target(request)], request.get("content", ""))
    found = opened.log.find({file.decision.id for file in files})
    return [line.event for line in found.values()], [file.path for file in files]


# each takes a request with the fields `target` (what the verb takes), `choice` and `content`;
# raises BadRequest or NotStored; returns the events that were appended or shared, and the files written into a checkout
DEEDS: dict[str, Callable[[OpenStore, Mapping[str, str]], _Done]] = {
    "forget": lambda opened, fields: (forget(opened, forgettable(opened, _target(fields))).events, ()),
    "edit": lambda opened, fields: (
        edit(opened, correctable(opened, _target(fields)), fields.get("content", "")).events,
        (),
    ),
    "undo": lambda opened, fields: (undo(opened, undoable(opened, fields.get("target", ""))).events, ()),
    "resolve": _resolve,
    "share": _share,
}


def _target(request: Mapping[str, str]) -> str:
    if not request.get("target"):
        raise BadRequest("the request names no target", hint="an event, FILE:LINE or a text")
    return request["target"]
