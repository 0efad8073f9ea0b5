"""What type checkers are told of the events that hooks write is what the log takes."""

import inspect
from types import UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from msgspec import Struct, structs

from eventlog.format import events, payloads
from eventlog.hosts.call import HookCall

EVENTS = {tag: cls.__name__ for tag, cls in events.TYPES.items() if tag in get_args(payloads.EventType)}
MAKERS = {
    "session_start": HookCall.as_session_start,
    "turn_end": HookCall.as_turn_end,
    "save_requested": HookCall.as_compaction,
    "session_end": HookCall.as_session_end,
}


def shape(hint: Any) -> Any:
    """A type as the two ways of writing it down can be compared: unions as sets, objects as their fields."""
    if hint is Any:
        return object
    if is_typeddict(hint) or (inspect.isclass(hint) and issubclass(hint, Struct)):
        return {name: shape(inner) for name, inner in get_type_hints(hint).items() if get_origin(inner) is not ClassVar}
    if get_origin(hint) in (Union, UnionType):
        return frozenset(str(shape(inner)) for inner in get_args(hint))
    if args := get_args(hint):
        return get_origin(hint), tuple(arg if isinstance(arg, str) else shape(arg) for arg in args)
    return hint


def own(hints: dict[str, Any]) -> dict[str, Any]:
    fields = {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}
    return {name: shape(hint) for name, hint in fields.items() if name not in (*events.COMMON, "extra")}


def test_every_type_that_hooks_write_is_described():
    assert len(get_args(payloads.EventType)) == len(EVENTS)
    assert [] == [name for name in EVENTS.values() if not is_typeddict(getattr(payloads, name))]


@pytest.mark.parametrize("name", [*EVENTS.values(), "KnownFile"])
def test_fields_types_and_what_must_be_there_are_those_of_the_event(name):
    described, struct = getattr(payloads, name), getattr(events, name)
    required = {field.name for field in structs.fields(struct) if field.required} - {"conversation_id"}

    known, written = own(get_type_hints(struct)), own(get_type_hints(described))
    assert {name: known.get(name) for name in written} == written
    assert required == described.__required_keys__


def test_stamp_and_envelope_are_the_common_fields():
    common = {"type": str, **get_type_hints(events.Event)}
    described = {**get_type_hints(payloads.Stamp), **get_type_hints(payloads.Envelope), "type": str}

    assert {name: shape(common[name]) for name in described} == {n: shape(hint) for n, hint in described.items()}
    assert {"type", "conversation_id"} == payloads.Envelope.__required_keys__


@pytest.mark.parametrize(("tag", "maker"), MAKERS.items())
def test_a_maker_writes_each_of_its_fields_under_its_name_and_nothing_that_is_absent(tag, maker):
    always = {"trigger": "pre_compact"} if tag == "save_requested" else {}
    names = get_type_hints(getattr(payloads, EVENTS[tag])).keys() - always.keys()
    given = {name: 7 if name in ("context_usage_percent", "message_count", "duration_ms") else "x" for name in names}

    def made(**fields):
        call = maker(HookCall("cursor", "any", {}, session="s"), **fields)
        assert tag == call.type
        return call.fields

    assert given | always == made(**given)
    assert always == made(**dict.fromkeys(given)) == made(**dict.fromkeys(given, ""))
