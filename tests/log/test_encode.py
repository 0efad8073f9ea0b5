"""What is encoded in a few calls is what the careful way makes of it, or is left to it."""

from typing import get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import EventLog, Fact, InvalidEvent, StageSummary, TurnEnd
from eventlog.fast import encode
from eventlog.format import codec, ids
from eventlog.log.event_log import accept
from tests.support.credentials import SAMPLES, sample
from tests.support.effort import rounds
from tests.support.strategies import any_event

STAMP = {"ts": "2026-02-20T12:00:00.000000Z", "id": ids.derived(1771588800000, "x")}


def is_written_alike(event):
    if (ready := encode.ready(event)) is None:
        return True
    checked, rest = ready
    stored = msgspec.structs.replace(accept(event), **STAMP)
    alike = codec.encode(stored) + b"\n" == encode.line(STAMP["ts"], STAMP["id"], rest)
    return alike and accept(event) == checked


@pytest.mark.slow
@settings(max_examples=rounds(fixed=50, fuzz=5000))
@given(any_event)
def test_an_event_is_written_as_the_codec_writes_it(event):
    assert is_written_alike(event)


@pytest.mark.slow
@settings(max_examples=rounds(fixed=50, fuzz=5000))
@given(st.text(), st.text(), st.floats(0.01, 1), st.lists(st.text()))
def test_any_text_is_written_as_the_codec_writes_it(content, key, confidence, entities):
    event = Fact(conversation_id="c", content=f"x{content}", key=key, confidence=confidence, entities=entities)

    assert is_written_alike(event)


@pytest.mark.parametrize(
    "event",
    [
        Fact(conversation_id="c", content="x"),
        Fact(
            conversation_id="5f0c2a1e-4f6e-4c7e-9f5e-2b8d41c0aa77",
            content="第三章",
            project="/home/ada",
            agent="cursor",
        ),
        StageSummary(conversation_id="c", summary="x", decisions=["y"]),
        TurnEnd(conversation_id="c", turn_id="t", status="completed"),
    ],
)
def test_what_agents_say_is_ordinary(event):
    assert encode.ready(event)


@pytest.mark.parametrize(
    "event",
    [
        Fact(conversation_id="c", content="x", ts=STAMP["ts"]),
        Fact(conversation_id="c", content="x", extra={"more": 1}),
        Fact(conversation_id=" \u3000", content="x"),
        Fact(conversation_id="c", content="x", v=2),
        Fact(conversation_id="c", content="x", agent="human"),
        Fact(conversation_id="c", content="x", replica="laptop"),
        Fact(conversation_id="c", content="x", confidence=float("0.9")),
        Fact(conversation_id="c", content="x", confidence=1e-5),
        {"type": "fact", "conversation_id": "c", "content": "x"},
        TurnEnd(conversation_id="c", turn_id="x" * (1 << 20)),
    ],
)
def test_what_is_not_as_simple_is_left_to_the_codec(event):
    assert encode.ready(event) is None


@pytest.mark.parametrize(
    "event",
    [
        Fact(conversation_id="", content="x"),
        Fact(conversation_id="c", content=" "),
        Fact(conversation_id="c", content="x", confidence=float("nan")),
        Fact(conversation_id="c", content="x", importance=6),
        Fact(conversation_id="c", content=1),  # type: ignore[arg-type]
        TurnEnd(conversation_id="c", status=[]),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_refused_as_before(tmp_path, event):
    with pytest.raises(InvalidEvent):
        EventLog(tmp_path).append(event)


@pytest.mark.parametrize("cls", encode._KINDS)
def test_every_text_of_an_ordinary_event_is_searched_for_secrets(cls):
    secret = "password=" + "hunter2-" * 2
    fields = get_type_hints(cls)
    for name, kind in ((name, fields[name]) for name in cls.__struct_fields__):
        kinds = {kind, *get_args(kind)}
        value = secret if str in kinds else [secret] if list[str] in kinds else None
        needed = {"content": "x"} if cls is Fact else {"summary": "x"} if cls is StageSummary else {}
        if value and name in cls.__struct_fields__ and name not in ("id", "ts", "after", "replica"):
            assert encode.ready(cls(**{"conversation_id": "c", **needed, name: value})) is None, name


def test_no_credential_passes_for_a_plain_text():
    facts = {kind: Fact(conversation_id="c", content=f"it is\n{sample(kind)[0]}\nor so") for kind in SAMPLES}

    assert [] == [kind for kind, fact in facts.items() if encode.ready(fact) is not None]
