"""Every file on every day is what a replay as of that day makes, line by line, with the events behind each line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eventlog.app.ask.history import replay_at
from eventlog.app.naming.moments import moment
from eventlog.app.page.page_model import page_of
from eventlog.app.page.timeline import FileTimeline, TimelineLine, Timelines, _Recorder
from eventlog.format import retractions
from eventlog.format.local_time import local_time
from eventlog.log.event_log import EventLog
from eventlog.projections.base import Line
from eventlog.projections.catalog import installed
from eventlog.projections.engine.day_states import DayStates
from eventlog.projections.engine.replay import replay
from eventlog.projections.views import summaries
from eventlog.projections.views.summaries import SUMMARIES
from eventlog.settings.schema import Settings
from tests.support.builders import fact
from tests.support.histories import a_log, histories, log_of, write
from tests.support.months import write_months
from tests.support.use_cases import DEFAULTS, by_path, opened

ZONES = ("UTC", "Asia/Shanghai", "America/New_York")


def as_of(store, day):
    """The files of a replay as of a day: for each the texts, and the events behind the bullets."""
    from zoneinfo import ZoneInfo

    until = moment(day, f"{day}T00:00:00.000000Z", ZoneInfo(store.settings.timezone), end=True)
    documents = by_path(replay_at(store, until)).values()
    return {document.path: [(line.text, behind(line)) for line in document.lines] for document in documents}


def behind(line):
    return sorted(line.sources) if line.text.startswith("- ") else None


def on_page(page, day):
    """The same of the page."""
    return {
        file.path: [
            (text, sorted(page.events[event].id for event in line.events_at(day)) if text.startswith("- ") else None)
            for line in lines
            for text in [line.text_at(day)]
        ]
        for file in page.files
        if (lines := file.at(day))
    }


@pytest.mark.slow
@given(histories(plans=True), st.sampled_from(ZONES))
def test_on_every_day_the_page_has_the_files_of_a_replay_as_of_that_day(lines, timezone):
    with log_of(lines) as log:
        store = opened(log, replace(DEFAULTS, timezone=timezone))
        page = page_of(store)

        assert [on_page(page, day) for day in range(len(page.days))] == [as_of(store, name) for name in page.days]


@pytest.mark.slow
@given(histories(plans=True), st.lists(st.integers(0, 10), min_size=1, max_size=3), st.sampled_from(ZONES))
def test_a_page_of_a_log_that_grew_is_that_of_the_whole_log(lines, sizes, timezone):
    timelines = Timelines()
    with a_log() as log:
        store = opened(log, replace(DEFAULTS, timezone=timezone))
        for size in (*sorted(sizes), len(lines)):
            write(log, lines[:size])
            assert page_of(store, timelines=timelines) == page_of(store)


def test_a_page_made_once_more_replays_the_last_day_alone(log, monkeypatch):
    log.append_many([fact(day, day=f"2026-02-{day}", content=f"Tea {day}") for day in (18, 19, 20)])
    store, timelines, ends = opened(log), Timelines(), list[str]()
    page_of(store, timelines=timelines)

    def noted(*args, until, **more):
        ends.append(until[:10])
        return replay(*args, until=until, **more)

    monkeypatch.setattr("eventlog.app.page.timeline.replay", noted)
    log.append(fact(21, day="2026-02-20", content="Late"))
    again = page_of(store, timelines=timelines)

    assert ends == ["2026-02-20"]
    assert again == page_of(store)


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """A store of three months, and its page."""
    place = tmp_path_factory.mktemp("months")
    write_months(place / "log", sessions=30)
    store = opened(EventLog(place))
    return store, page_of(store)


@pytest.mark.slow
def test_three_months_are_right_on_any_day(months):
    store, page = months

    assert len(page.days) == 88
    for day in (0, 13, 44, 72, 87):
        assert on_page(page, day) == as_of(store, page.days[day])


def test_a_day_renders_what_it_changed_and_folds_nothing_twice(log, monkeypatch):
    for day in (20, 21, 22):
        about = {"ts": f"2026-02-{day}T09:00:00.000000Z", "conversation_id": f"c{day}", "project": "/p/shop"}
        log.append({"type": "stage_summary", "summary": f"Done {day}", "topic": "Work", **about})
    rendered: list[str] = []
    folded: list[str] = []
    lines, fold = summaries._lines, DayStates._fold

    def noted_lines(index, conversation):
        rendered.append(conversation)
        return lines(index, conversation)

    def noted_fold(states, day, *more):
        folded.append(day.date)
        fold(states, day, *more)

    monkeypatch.setattr(summaries, "_lines", noted_lines)
    monkeypatch.setattr(DayStates, "_fold", noted_fold)
    store = opened(log)
    ends = [f"2026-02-{day}T23:59:59.999999Z" for day in (20, 21, 22)]
    files = Timelines().of(store, ends, [SUMMARIES], (lambda _: 0, lambda _: 0), bool, bool)

    assert rendered == ["c20", "c21", "c22"]
    assert folded == ["2026-02-20", "2026-02-21", "2026-02-22"]
    assert [file.path for file in files] == ["sessions/c20.md", "sessions/c21.md", "sessions/c22.md"]


def test_a_day_judges_its_own_withdrawals_and_looks_at_its_own_files(log, monkeypatch):
    days = [f"2026-02-{day}" for day in range(10, 20)]
    said = [fact(number, day=day, content=f"Tea {number}") for number, day in enumerate(days)]
    log.append_many([*said, fact(99, day="2026-02-20")])  # the newest day may grow: a replay of its own
    log.append_many(
        {"type": "retraction", "target": one["id"], "ts": one["ts"], "conversation_id": "by-hand"} for one in said
    )
    judged: list[str] = []
    looked_at: list[str] = []
    judge, stamps_of = retractions._judged, DayStates._stamps_of

    def noted_judge(withdrawals):
        found = list(judge(withdrawals))
        judged.extend(withdrawal.id for withdrawal, _ in found)
        return found

    def noted_stamps(states, day):
        looked_at.append(day.date)
        return stamps_of(states, day)

    monkeypatch.setattr(retractions, "_judged", noted_judge)
    monkeypatch.setattr(DayStates, "_stamps_of", noted_stamps)
    ends = [f"{day}T23:59:59.999999Z" for day in days]
    Timelines().of(opened(log), ends, installed().projections, (lambda _: 0, lambda _: 0), bool, bool)

    assert len(judged) == len(set(judged)) == len(days)
    assert looked_at == days


@pytest.mark.slow
def test_the_last_day_is_now(months):
    store, page = months
    now = by_path(replay_at(store))["MEMORY.md"]

    assert [line.text for line in now.lines] == [text for text, _ in on_page(page, len(page.days))["MEMORY.md"]]


def test_days_are_those_of_the_users_clock(log):
    log.append({"type": "fact", "ts": "2026-02-20T20:00:00.000000Z", "conversation_id": "c", "content": "Tea"})

    assert page_of(opened(log)).days == ["2026-02-20"]
    assert page_of(opened(log, Settings(timezone="Asia/Shanghai"))).days == ["2026-02-21"]
    assert local_time("Asia/Shanghai")("2026-02-20T20:00:00.000000Z")[:10] == "2026-02-21"


def test_an_event_of_a_far_year_makes_no_slider_of_a_million_days(log):
    log.append_many(
        [fact(1), {"type": "fact", "ts": "9998-01-01T00:00:00.000000Z", "conversation_id": "c", "content": "Tea"}]
    )
    page = page_of(opened(log))

    assert page.days == ["2026-02-20", "9998-01-01"]
    [memory] = [file for file in page.files if file.path.endswith("MEMORY.md")]
    assert len(memory.at(1)) > len(memory.at(0)) > 0


class TestALineStaysTheSame:
    @pytest.fixture
    def recorder(self):
        return _Recorder()

    def test_when_its_date_and_count_change(self, recorder):
        recorder.record(0, [Line("- [2026-02-20] Tea", ("1",))])
        recorder.record(3, [Line("- [2026-02-23 ×2] Tea", ("1", "2"))])

        assert recorder.timeline("MEMORY.md", (int, int)) == FileTimeline(
            "MEMORY.md",
            [TimelineLine([(0, "- [2026-02-20] Tea"), (3, "- [2026-02-23 ×2] Tea")], [(0, [1], []), (3, [2], [])])],
            [(0, [(0, 0, [0])])],
        )

    def test_when_it_changes_its_place_or_comes_back(self, recorder):
        for day, texts in enumerate((["- a", "- b"], ["- b", "- a"], ["- b"], ["- a", "- b"])):
            recorder.record(day, map(Line, texts))

        assert [line.texts[0][1] for line in recorder.timeline("MEMORY.md", (int, int)).lines] == ["- a", "- b"]
        assert [
            [line.text_at(day) for line in recorder.timeline("MEMORY.md", (int, int)).at(day)] for day in range(4)
        ] == [
            ["- a", "- b"],
            ["- b", "- a"],
            ["- b"],
            ["- a", "- b"],
        ]

    def test_and_equal_lines_are_several(self, recorder):
        recorder.record(0, [Line(""), Line("- a", ("1",)), Line(""), Line("- a", ("2",))])

        assert [line.events_at(0) for line in recorder.timeline("MEMORY.md", (int, int)).at(0)] == [[], [1], [], [2]]

    def test_an_event_that_is_not_to_be_named_stands_behind_none(self, recorder):
        recorder.record(0, [Line("- a", ("-1", "4"), ("-1", "7"))])

        assert recorder.timeline("MEMORY.md", (int, int)).lines == [TimelineLine([(0, "- a")], [(0, [4], [])], [7])]
