"""Hypothesis strategies: events of every type, times, lines good and bad."""

from typing import Any

from hypothesis import strategies as st

from eventlog.format import codec, events, ids, timestamps
from tests.support.builders import DAY

text = st.text(max_size=20)
non_empty = st.text(min_size=1, max_size=20)
non_blank = non_empty.filter(str.strip)
texts = st.lists(text, max_size=3)
maybe = st.none() | text
share = st.floats(0, 1)
heading_level = st.integers(1, 6)
operation = st.sampled_from(["no-op", "update", "clear", "delete"])

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)

moments = st.integers(0, 253_370_764_799_999_999).map(lambda us: us * 1000)  # ns, 1970 to 9998
times = moments.map(timestamps.from_ns)
times_of_day = st.integers(0, 86_399_999_999).map(
    lambda us: timestamps.from_ns((timestamps.to_ms(f"{DAY}T00:00:00.000000Z") * 1000 + us) * 1000)
)

targets = st.builds(events.SectionKey, heading=non_blank, path=text, level=heading_level) | st.builds(
    events.SectionKey, heading=non_blank, url=text
)

FIELDS: dict[type[events.Event], dict[str, st.SearchStrategy[Any]]] = {
    events.SessionStart: {
        "source": maybe, "session_type": st.sampled_from(["main", "shared"]), "model": maybe,
        "git_branch": maybe, "git_commit": maybe, "transcript_path": maybe,
    },
    events.Fact: {
        "content": non_blank, "memory_type": st.sampled_from("WBO"), "entities": texts, "confidence": share,
        "importance": st.integers(1, 5), "category": maybe, "key": maybe,
        "scope": st.sampled_from(["project", "user", None]),
    },
    events.StageSummary: {
        "scope": st.sampled_from(["stage", "session"]), "topic": text, "summary": non_blank,
        "decisions": texts, "todos": texts, "done": texts, "of_user": texts,
    },
    events.PlanEntry: {
        "key": targets, "operation": st.none() | operation, "content": maybe,
        "meta": st.builds(events.PlanMeta, confidence=share, reason=maybe), "batch": maybe,
    },
    events.SessionEnd: {
        "reason": maybe, "status": maybe, "duration_ms": st.none() | st.floats(0, 1e15), "error": maybe,
    },
    events.TurnEnd: {"turn_id": maybe, "status": maybe},
    events.SaveRequested: {"trigger": st.sampled_from(["stop", "pre_compact"])},
    events.Retraction: {"target": text, "reason": maybe},
    events.Rejected: {"statement": non_blank, "batch": maybe},
    events.Restored: {"target": non_empty, "batch": maybe},
    events.EntryApplied: {
        "target": non_empty, "path": text, "heading": text, "level": heading_level, "digest": text,
    },
    events.EntryResolved: {
        "target": non_empty, "choice": st.sampled_from(["apply", "discard", "edited"]), "content": maybe,
        "under": st.none() | st.lists(non_blank, max_size=2).map(tuple),
    },
    events.KnowledgeEdited: {"key": targets, "operation": operation, "content": maybe},
    events.ProjectSeen: {"path": non_empty, "remote": maybe},
    events.ProjectJoined: {"projects": st.lists(non_empty, min_size=2, max_size=2)},
    events.ContextInjected: {
        "digest": text, "chars": st.integers(-(2**63), 2**63 - 1), "sources": texts, "cut": texts,
        "files": st.lists(st.builds(events.KnownFile, path=text, digest=text, as_of=maybe), max_size=2),
    },
    events.ConversationText: {"title": text, "prompts": texts, "closing": text, "files": texts},
    events.Redacted: {"was": non_empty},
    events.HostEvent: {"name": text, "payload": st.dictionaries(text, json_values, max_size=3)},
}  # fmt: skip

COMMON: dict[str, st.SearchStrategy[Any]] = {
    "conversation_id": non_blank, "project": maybe, "agent": maybe, "subagent": maybe,
    "layer": st.none() | st.integers(1, 4), "replica": maybe,
}  # fmt: skip


def unknown_fields(taken):
    """Fields a type does not have; one may be called `extra`."""
    names = (text | st.just("extra")).filter(lambda name: name not in taken)
    return st.dictionaries(names, json_values, max_size=3)


def events_of(cls):
    taken = {*events.COMMON, *cls.__struct_fields__} - {"extra"}
    return st.builds(cls, extra=unknown_fields(taken), **COMMON, **FIELDS[cls])


known_events = st.one_of([events_of(cls) for cls in events.KNOWN])
unknown_events = st.builds(
    events.UnknownEvent,
    name=non_empty.filter(lambda name: name not in events.TYPES),
    extra=unknown_fields(events.COMMON),
    v=st.integers(1, 9),
    **COMMON,
)
any_event = known_events | unknown_events


@st.composite
def stored_events(draw, when=times_of_day):
    """An event as it stands in the log: with its time and id."""
    ts = draw(when)
    event_id = ids.derived(timestamps.to_ms(ts), draw(text))
    return codec.from_fields({**codec.to_fields(draw(any_event)), "ts": ts, "id": event_id})


stored_lines = stored_events().map(codec.encode)


@st.composite
def damaged_lines(draw):
    """A stored line with some bytes changed, cut or put in."""
    line = bytearray(draw(stored_lines))
    start = draw(st.integers(0, len(line)))
    stop = draw(st.integers(start, min(len(line), start + 3)))
    line[start:stop] = draw(st.binary(max_size=3))
    return bytes(line)


junk_lines = st.sampled_from(
    [b"", b" ", b"\r", b"null", b"[]", b"{}", b"7", b'"text"', b"\xff", b"\xef\xbb\xbf", b"[" * 5000, b"}", b"{"]
)
any_lines = st.lists(stored_lines | damaged_lines() | junk_lines, max_size=8)
