import orjson

from eventlog.projections.views.sessions import SESSIONS
from eventlog.settings.schema import Settings
from tests.support.typed_events import documents_of, event, fact, folded, quarantine, retract, summary, whole

FIELDS = [
    "id", "session_id", "topic", "summary", "decisions", "todos", "timestamp", "auto_generated", "source",
    "project", "agent", "started_at", "ended_at", "end_reason", "turns", "facts", "stages", "revisions", "events",
]  # fmt: skip


def _lines(*events):
    (document,) = documents_of(SESSIONS, folded(*events), Settings())
    return [orjson.loads(line.text) for line in document.lines]


def _line(*events):
    return next(line for line in _lines(*events) if line["session_id"] == "c")


def test_there_is_no_file_without_a_conversation():
    assert [] == list(documents_of(SESSIONS, folded(), Settings()))


def test_an_end_of_what_never_began_is_no_session():
    assert [] == list(documents_of(SESSIONS, folded(event("session_end", 1)), Settings()))
    assert 1 == len(_lines(event("session_start", 1), event("session_end", 2)))


def test_who_only_had_a_look_at_what_a_session_starts_with_is_no_session():
    looked = event("context_injected", 1, digest="d", chars=1, session_type="main")

    assert [] == list(documents_of(SESSIONS, folded(looked), Settings()))
    assert [] == list(documents_of(SESSIONS, folded(looked, event("session_end", 2)), Settings()))
    assert 1 == len(_lines(looked, fact(2)))


def test_a_line_has_the_fields_readers_know_in_their_order():
    assert FIELDS == list(_line(fact(1)))


def test_the_line_of_a_whole_session():
    line = _line(
        event("session_start", 1, project="/p", agent="codex"), event("turn_end", 2), fact(3), summary(4),
        whole(5, "old"), whole(6, "new", topic="T", decisions=["d"], todos=["o"]), event("session_end", 7, reason="clear"),
    )  # fmt: skip

    assert ("T", "new", ["d"], ["o"]) == tuple(line[name] for name in ("topic", "summary", "decisions", "todos"))
    assert ("/p", "codex", "clear") == (line["project"], line["agent"], line["end_reason"])
    assert (1, 1, 1, 1, 7) == tuple(line[name] for name in ("turns", "facts", "stages", "revisions", "events"))
    assert (event("x", 1).ts, event("x", 7).ts, event("x", 6).ts) == (
        line["started_at"],
        line["ended_at"],
        line["timestamp"],
    )


def test_a_session_that_saved_nothing_is_listed_without_words():
    line = _line(event("host_event", 1, name="x"), event("turn_end", 2))

    assert ("none", "", "", False) == (line["source"], line["topic"], line["summary"], line["auto_generated"])
    assert event("x", 2).ts == line["timestamp"]


def test_who_saves_that_nothing_is_left_leaves_nothing():
    line = _line(
        whole(1, "Did it", decisions=["none", "Herons nest"], todos=["Feed them"]),
        whole(2, "Fed them", decisions=["TBD"], todos=["None left – all done"]),
    )

    assert (["Herons nest"], []) == (line["decisions"], line["todos"])


def test_what_is_not_known_is_null():
    line = _line(fact(1))

    assert [None] * 4 == [line[name] for name in ("project", "agent", "ended_at", "end_reason")]


def test_what_is_withdrawn_counts_for_nothing_but_as_an_event():
    line = _line(fact(1), fact(2), whole(3), whole(4), summary(5), retract(6, fact(1)), retract(7, whole(4)))

    assert (1, 0, 1, 5) == tuple(line[name] for name in ("facts", "revisions", "stages", "events"))
    assert (0, 0, "none", 1) == tuple(
        _line(fact(1), quarantine(2))[name] for name in ("facts", "stages", "source", "events")
    )


def test_a_long_summary_is_cut_with_an_ellipsis():
    assert "x" * 499 + "…" == _line(whole(1, "x" * 900))["summary"]


def test_the_id_of_a_line_depends_on_the_conversation_only():
    assert _line(fact(1))["id"] == _line(fact(2), event("turn_end", 9))["id"]
    assert _line(fact(1))["id"].startswith("sum-")


def test_lines_are_ordered_by_start():
    found = _lines(fact(3, conversation_id="a"), fact(1, conversation_id="b"), fact(2))

    assert ["b", "c", "a"] == [line["session_id"] for line in found]


def test_a_line_is_one_line_whatever_the_texts_hold():
    assert "a b" == _line(whole(1, "a\n\u2028b\x1b[0m"))["summary"]
