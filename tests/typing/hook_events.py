"""What a host's protocol may get wrong in an event is a mistake mypy finds: each `ignore` here must be needed."""

from typing import TYPE_CHECKING

from eventlog.hooks.record import envelope
from eventlog.hosts.call import HookCall
from eventlog.store import Store
from eventlog.store.append_once import append_once

if TYPE_CHECKING:
    from eventlog.format.payloads import Envelope, HostEvent, SaveRequested, SessionStart, TurnEnd


def right(store: Store, call: HookCall) -> HookCall:
    """Write an event by hand, and make others of calls."""
    asked: SaveRequested = {"trigger": "stop"}
    append_once(store, {**envelope(call, "save_requested"), **asked}, "key")
    call.as_session_start(source="startup", model="m", transcript_path="/t")
    call.as_compaction(context_usage_percent=81.5, message_count=412)
    return call.as_turn_end(turn_id="t", status="completed", dedupe_key="t")


def misspelled(call: HookCall) -> None:
    """A field that no event of this type has."""
    call.as_session_start(sorce="startup")  # type: ignore[call-arg]
    call.as_turn_end(turn="t")  # type: ignore[call-arg]
    call.as_session_end(turn_id="t")  # type: ignore[call-arg]
    fields: TurnEnd = {"turn": "t"}  # type: ignore[typeddict-unknown-key]
    fields["state"] = "completed"  # type: ignore[typeddict-unknown-key]


def of_another_type(call: HookCall) -> None:
    """A value the log would not take."""
    call.as_turn_end(turn_id=7)  # type: ignore[arg-type]
    call.as_compaction(message_count=1.5)  # type: ignore[arg-type]
    call.as_session_end(reason=call.payload.get("reason"))  # type: ignore[arg-type]
    listens: SessionStart = {"session_type": "private"}  # type: ignore[typeddict-item]
    envelope(call, "turn_ended")  # type: ignore[arg-type]
    del listens


def incomplete() -> None:
    """An event without what its type must have."""
    asked: SaveRequested = {}  # type: ignore[typeddict-item]
    told: HostEvent = {"payload": {}}  # type: ignore[typeddict-item]
    about: Envelope = {"type": "turn_end"}  # type: ignore[typeddict-item]
    del asked, told, about
