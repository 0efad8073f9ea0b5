from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.projections.views import summaries
from eventlog.projections.views.markdown import unescaped
from eventlog.projections.views.summaries import SUMMARIES
from eventlog.settings.schema import Settings, SummarySettings
from tests.support.golden import rendered, tree
from tests.support.typed_events import documents_of, event, fact, folded, quarantine, retract, summary, whole
from tests.support.use_cases import DEFAULTS, rebuild

_LINES = summaries._lines

sentences = st.lists(st.text(min_size=1, max_size=120).filter(str.strip), max_size=5)


def _documents(*events, **settings):
    return list(documents_of(SUMMARIES, folded(*events), Settings(**settings)))


def _lines(*events, **settings):
    (document,) = _documents(*events, **settings)
    return [line.text for line in document.lines]


def test_a_summary_has_a_head_and_what_was_done_decided_and_left_open():
    lines = _lines(whole(1, "Did it", decisions=["d"], todos=["o"], project="/p/shop"), event("turn_end", 5))

    assert [
        "# Session summary", "", "**Session ID:** c", "**Time:** 2026-02-20 00:01 – 00:05 UTC", "**Project:** shop", "**Mode:** free",
        "", "## What was done", "- Did it", "", "## Key decisions", "- d", "", "## Open", "- o", "",
    ] == lines[:-1]  # fmt: skip


def test_the_stamp_is_the_last_activity_or_the_last_word_about_it():
    assert event("x", 5).ts in _lines(whole(1), event("turn_end", 5))[-1]
    assert event("x", 9).ts in _lines(whole(1), fact(2), retract(9, fact(2)))[-1]


def test_only_those_of_conversations_that_changed_are_written_anew_and_all_where_settings_did(log, monkeypatch):
    written = []

    def lines(index, conversation):
        written.append(conversation)
        return _LINES(index, conversation)

    def rebuilt(settings=DEFAULTS):
        written.clear()
        rebuild(log, settings)
        asked, files = sorted(set(written)), tree(log.store.knowledge)
        fresh = rendered(log, settings, anew=True, save=False)
        assert all(files[name] == fresh[name] for name in names)
        return asked

    monkeypatch.setattr(summaries, "_lines", lines)
    names = {f"sessions/{name}.md" for name in "abc"}
    for name in "abc":
        log.append({"type": "fact", "conversation_id": name, "content": f"Fact of {name}"})
    assert ["a", "b", "c"] == rebuilt()

    log.append({"type": "fact", "conversation_id": "b", "content": "More"})
    assert ["b"] == rebuilt()
    assert ["a", "b", "c"] == rebuilt(Settings(locale="zh"))
    log.append({"type": "fact", "conversation_id": "c", "content": "More"})
    Path(log.store.knowledge, "sessions", "a.md").write_text("edited")
    assert ["a", "c"] == rebuilt(Settings(locale="zh"))


@pytest.mark.parametrize(
    "events", [[event("turn_end", 1)], [event("host_event", 1, name="x")], [fact(1), quarantine(2)]]
)
def test_a_conversation_that_came_to_nothing_has_none(events):
    assert [] == _documents(*events)


@pytest.mark.parametrize(("one", "mode"), [(summary(1), "workflow"), (whole(1), "free"), (fact(1), "free")])
def test_stages_make_a_workflow(one, mode):
    assert f"**Mode:** {mode}" in _lines(one)


def test_a_withdrawn_stage_makes_no_workflow():
    assert "**Mode:** free" in _lines(fact(1), summary(2), retract(3, summary(2)))


def test_times_are_those_of_the_chosen_zone_and_say_so():
    assert "**Time:** 2026-02-20 08:01 Asia/Shanghai" in _lines(fact(1), timezone="Asia/Shanghai")


def test_a_session_across_midnight_names_both_days():
    assert "**Time:** 2026-02-20 23:00 – 2026-02-21 00:10 UTC" in _lines(
        fact(1380), event("turn_end", 10, day="2026-02-21")
    )


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "..", "会话", "x" * 200, "a\nb", "\x1b[2J", "CON:"])
def test_no_id_leads_out_of_the_directory_or_breaks_a_line(name):
    (document,) = _documents(fact(1, conversation_id=name))
    directory, file = document.path.split("/")

    assert "sessions" == directory
    assert file.isascii()
    assert len(document.lines) == document.data.count(b"\n")


def test_the_newest_of_each_project_are_kept_by_their_last_activity():
    events = [
        fact(number, conversation_id=f"{project}{number}", project=f"/{project}")
        for number in range(4)
        for project in "pq"
    ]
    late = event("turn_end", 9, conversation_id="p0", project="/p")
    kept = {one.path for one in _documents(*events, late, summaries=SummarySettings(keep=2))}

    assert {"sessions/p0.md", "sessions/p3.md", "sessions/q2.md", "sessions/q3.md"} == kept


@given(sentences, sentences, sentences, st.integers(50, 400))
def test_the_body_never_exceeds_its_budget_and_something_is_always_said(done, decisions, todos, budget):
    events = [summary(number, text) for number, text in enumerate(done)]
    lists = [summary(9, "z" * 500, decisions=decisions, todos=todos)]
    lines = _lines(*events, *lists, summaries=SummarySettings(max_chars=budget))
    body = [unescaped(line[2:]) for line in lines if line.startswith("- ")]  # as it is read

    assert 0 < sum(map(len, body)) <= budget


def test_a_text_that_is_cut_says_so():
    (line,) = [line for line in _lines(whole(1, "word " * 200)) if line.startswith("- ")]

    assert line.endswith("…")


@pytest.mark.parametrize("end", [". ", "; ", "。", "；"])
def test_a_text_is_cut_behind_a_sentence_of_either_language(end):
    (line,) = [line for line in _lines(whole(1, f"{'做' * 200}{end}{'了' * 200}")) if line.startswith("- ")]

    assert line == f"- {'做' * 200}{end.strip(' ;；')} …"


def test_of_decisions_there_is_no_room_for_the_oldest_are_left_out_and_counted():
    decisions = [f"decision {number} of this session" for number in range(30)]
    said = [line for line in _lines(whole(1, "Did it", decisions=decisions)) if line.startswith("- ")]

    assert ["- Did it", "- decision 29 of this session"] == said[:2]
    assert said[-1] == f"- … (+{30 - (len(said) - 2)})"


def test_a_summary_made_of_facts_says_how_many_more_there_are():
    said = [line for line in _lines(*(fact(number, f"f{number}") for number in range(16))) if line.startswith("- ")]

    assert ["- f0", "- f1", "- f2", "- f3", "- f4", "- … (+11)"] == said


def test_a_summary_names_its_topic_where_it_does_not_begin_with_it():
    assert "**Topic:** Totals" in _lines(whole(1, "Rounded once", topic="Totals"))
    assert not [line for line in _lines(whole(1, "Totals are rounded once", topic="Totals")) if "Topic" in line]


def test_a_conversation_of_which_there_is_nothing_but_a_topic_has_no_file():
    assert [] == _documents(whole(1, "Where?", topic="Where?", layer=3))


def test_a_summary_that_is_too_long_ends_with_a_sentence():
    lines = _lines(
        whole(1, "Rounded the totals once. Showed the tax on each of the receipts, too."),
        summaries=SummarySettings(max_chars=40),
    )

    assert "- Rounded the totals once. …" in lines
