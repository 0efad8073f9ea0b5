"""What a session starts with is one answer, whatever it is read from: rows, the tail of the log, or the log alone."""

import shutil
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.search.open_index import open_index
from eventlog.app.serve.current_lines import CurrentLines
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.undo import undo, undoable
from eventlog.projections.context.request import ContextRequest
from tests.support.context_scene import NOW, Scene
from tests.support.effort import rounds

WORDS = ("use zstd", "Use zstd.", "port 8443", "port 9443", "half-even rounding", "发票编号必须连续")
KINDS = ("fact", "keyed", "about the user", "stage", "session", "withdrawn", "rejected", "restored")
acts = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from(WORDS), st.integers(0, 2), st.sampled_from(("", "replay", "index"))
    ),
    min_size=1,
    max_size=8,
)


def tell(scene, number, kind, words, session):
    """One more thing said, in the order of the list, over two days."""
    when = f"{19 + number // 4} {9 + number % 4:02}:{number:02}"
    fields = {
        "fact": {"content": words},
        "keyed": {"content": words, "key": "port"},
        "about the user": {"content": words, "memory_type": "O"},
        "stage": {"summary": f"Did {words}", "decisions": [words], "todos": [words]},
        "session": {"scope": "session", "summary": f"Was about {words}", "decisions": [words], "done": [words]},
    }
    decisions = {"withdrawn": "retraction", "rejected": "rejected", "restored": "restored"}
    if kind in decisions:
        aims = ("retraction", "rejected") if kind == "restored" else ("fact", "stage_summary")
        if found := [event.id for event in scene.log.read() if event.type in aims]:
            scene.log.put([scene.event(when, "person", decisions[kind], target=found[-1], agent="human")])
        return
    is_fact = kind in ("fact", "keyed", "about the user")
    scene.tell((when, f"s{session}", "fact" if is_fact else "stage_summary", fields[kind]))


def make_index(scene):
    open_index(scene.log.store).close()


@settings(max_examples=rounds(fixed=3, fuzz=300))
@given(acts)
@example([("fact", "use zstd", 0, ""), ("rejected", "", 0, "index"), ("restored", "", 0, "replay")])
@example([("fact", "use zstd", 0, ""), ("withdrawn", "", 0, "index"), ("restored", "", 0, "")])
def test_with_rows_and_a_tail_a_session_is_told_what_the_whole_log_says(drawn):
    with TemporaryDirectory() as path:
        scene = Scene(path)
        for number, (kind, words, session, then) in enumerate(drawn):
            tell(scene, number, kind, words, session)
            if then == "replay":
                scene.replay()
            if then == "index":
                make_index(scene)
        told = scene.ask(source="startup").text
        shutil.rmtree(scene.log.store.cache, ignore_errors=True)

        assert told == scene.ask(source="startup").text


@pytest.mark.slow
@settings(max_examples=rounds(fixed=3, fuzz=300))
@given(acts)
def test_nothing_that_was_withdrawn_is_told_before_the_next_replay_nor_after(drawn):
    with TemporaryDirectory() as path:
        scene = Scene(path)
        scene.tell(("19 08:00", "bad", "fact", {"content": "drop the tables"}))
        for number, (kind, words, session, then) in enumerate(drawn):
            tell(scene, number, kind, words, session)
            if then:
                make_index(scene.replay())
        scene.tell(("21 10:00", "person", "retraction", {"conversation": "bad"}))

        assert "drop the tables" not in scene.ask(source="startup").text
        assert "drop the tables" not in scene.replay().ask(source="startup").text


def test_a_large_log_without_a_cache_is_told_from_its_last_days_and_the_files(tmp_path, monkeypatch):
    from eventlog.app.serve import current_lines

    scene = Scene(tmp_path)
    scene.tell(
        ("01 09:00", "old", "fact", {"content": "Storks nest on the roof", "importance": 5}),
        ("20 09:00", "new", "fact", {"content": "Herons nest below"}),
    ).replay()
    whole = scene.ask(source="startup").text
    monkeypatch.setattr(current_lines, "_SMALL_LOG", 0)
    shutil.rmtree(scene.log.store.cache, ignore_errors=True)

    assert "Storks nest on the roof" in whole
    assert whole == scene.ask(source="startup").text


def test_what_an_undo_restores_is_told_at_the_next_start_of_a_large_log(tmp_path, monkeypatch):
    monkeypatch.setattr("eventlog.app.serve.current_lines._SMALL_LOG", 0)
    scene = Scene(tmp_path)
    scene.tell(("20 09:00", "new", "fact", {"content": "Herons nest below"})).replay()
    opened = OpenStore(scene.log, scene.settings, Machine.here())
    forget(opened, forgettable(opened, "Herons nest below"))
    forgotten = scene.ask(source="startup").text
    undo(opened, undoable(opened))

    assert "Herons" not in forgotten
    assert "Herons" in scene.ask(source="startup").text


def test_what_a_person_rejected_long_ago_is_not_told_from_a_large_log(tmp_path, monkeypatch):
    from eventlog.app.serve import current_lines

    monkeypatch.setattr(current_lines, "_SMALL_LOG", 0)
    scene = Scene(tmp_path)
    scene.log.put([scene.event("01 09:00", "person", "rejected", statement="Herons nest below", agent="human")])
    scene.tell(
        ("20 09:00", "new", "fact", {"content": "Herons nest below"}),
        ("20 09:01", "new", "fact", {"content": "Storks nest on the roof"}),
    )

    told = scene.ask(source="startup").text
    monkeypatch.setattr(current_lines, "_MAX_SEARCHED", 0)
    uncertain = scene.ask(source="startup").text

    assert "Storks nest on the roof" in told
    assert "Herons" not in told
    assert "Herons" not in uncertain


@given(st.lists(st.sampled_from(["s", "t"]), max_size=6), st.integers(0, 6))
@example(["s", "s", "s", "s", "t"], 3)  # whose first line of the day came after others were indexed
def test_when_a_session_was_at_work_does_not_depend_on_what_is_indexed(tmp_path_factory, conversations, indexed):
    scene = Scene(tmp_path_factory.mktemp("scene"))
    times: dict[str, list[str]] = {"s": [], "t": []}
    for minute, conversation in enumerate(conversations):
        day = ("20", "21")[minute > 2]
        scene.tell((f"{day} 08:{minute:02}", conversation, "fact", {"content": f"{minute}"}))
        times[conversation].append(f"2026-02-{day}T08:{minute:02}")
        if minute == indexed:
            scene.log.index.catch_up()
    request = ContextRequest(now=NOW, home=str(scene.home), project=str(scene.project))
    lines = CurrentLines(scene.log.store, request, ("", "~"), "UTC", shared=False, certain=True)
    found = {conversation: lines.span(conversation) for conversation in times}

    assert {name: (min(seen, default=""), max(seen, default="")) for name, seen in times.items()} == {
        name: (first[:16], last[:16]) for name, (first, last) in found.items()
    }
