from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.local_time import local_time
from eventlog.log.event_log import EventLog
from eventlog.projections.views.daily_notes import DAILY_NOTES
from eventlog.settings.schema import Settings
from tests.support.builders import DAY, replay


def notes(log, **settings):
    """Path -> the lines of every note, without the stamp."""
    documents = replay(log, Settings(**settings), projections=[DAILY_NOTES], anew=True).documents
    return {one.path: [line.text for line in one.lines[:-2]] for one in documents}


def say(log, ts, kind="fact", session="s", **fields):
    about = {"type": kind, "ts": ts, "conversation_id": session, "project": "/home/ada/shop"}
    named = {"content": "Said"} if kind == "fact" and "content" not in fields else {}
    return log.append({name: one for name, one in {**about, **named, **fields}.items() if one is not None})


def bullets(log, **settings):
    return [line for lines in notes(log, **settings).values() for line in lines if line.startswith("- ")]


def test_a_day_is_told_in_three_sections(log):
    say(log, "2026-02-20T09:00:00.000000Z", content="The API listens on 8443")
    say(log, "2026-02-20T10:00:00.000000Z", content="Rebuild the index", category="lesson")
    summary = {"summary": "Moved login", "decisions": ["Sign with RS256"], "todos": ["Rotate the keys"]}
    say(log, "2026-02-20T11:00:00.000000Z", "stage_summary", **summary)

    assert {
        "memory/2026-02-20.md": [
            "# 2026-02-20",
            "", "## Events", "", "- 09:00 shop: The API listens on 8443", "- 11:00 shop: Moved login",
            "", "## Insights", "", "- shop: Rebuild the index", "- shop: Sign with RS256",
            "", "## To-dos", "", "- [ ] shop: Rotate the keys",
        ]
    } == notes(log)  # fmt: skip


def test_headings_are_in_the_users_language(log):
    say(log, "2026-02-20T11:00:00.000000Z", "stage_summary", summary="s", decisions=["d"], todos=["t"])

    assert ["## 今日事件", "## 重要洞察", "## 待办事项"] == [
        line for line in notes(log, locale="zh")["memory/2026-02-20.md"] if line.startswith("##")
    ]


def test_a_category_means_the_same_in_any_spelling_as_in_memory(log):
    for number, category in enumerate(("Lesson", " lesson ", "ＬＥＳＳＯＮ", "Lesson.")):
        say(log, f"2026-02-20T09:00:0{number}.000000Z", content=f"Fact {number}", category=category)

    assert bullets(log) == [f"- shop: Fact {number}" for number in range(4)]


def test_a_fact_about_the_user_is_not_told_of_a_project_where_no_summary_tells_of_that(log):
    say(log, "2026-02-20T09:00:00.000000Z", content="Prefers tabs", memory_type="O")
    say(log, "2026-02-20T10:00:00.000000Z", "stage_summary", topic="Fix it", summary="Fix it", layer=3)

    assert bullets(log) == ["- 09:00 Prefers tabs"]


def test_what_one_save_lists_stays_in_its_order_also_where_a_part_was_listed_before(log):
    lists = {"decisions": ["Zip the logs", "Ask Ada", "Move it"], "todos": ["Write", "Announce", "Measure"]}
    say(log, "2026-02-20T09:00:00.000000Z", "stage_summary", summary="First", todos=["Measure", "Announce"])
    say(log, "2026-02-20T10:00:00.000000Z", "stage_summary", summary="Second", **lists)
    say(log, "2026-02-20T11:00:00.000000Z", "stage_summary", "other", summary="Third", decisions=["Ask Ada"])

    expected = [*lists["decisions"], *(f"[ ] shop: {todo}" for todo in lists["todos"])]
    assert expected == [line.removeprefix("- ").removeprefix("shop: ") for line in bullets(log)[3:]]


def test_a_day_on_which_nothing_was_said_has_no_note(log):
    say(log, "2026-02-20T09:00:00.000000Z", "turn_end")
    say(log, "2026-02-20T09:00:00.000000Z", subagent="helper")

    assert notes(log) == {}


def test_a_todo_is_not_left_that_another_session_has_done_that_day_and_it_is_once_it_is_named_again(log):
    saves: list[tuple[str, list[str], list[str]]] = [
        ("09", ["Docs", "Keys"], []), ("10", [], ["docs."]), ("11", [], ["Keys"]), ("12", ["Keys"], []),
    ]  # fmt: skip
    for hour, todos, done in saves:
        say(log, f"2026-02-20T{hour}:00:00.000000Z", "stage_summary", f"s{hour}", summary=hour, todos=todos, done=done)

    assert ["- [ ] shop: Keys"] == [line for line in bullets(log) if "[ ]" in line]


def test_what_is_withdrawn_later_leaves_the_day_it_was_said_on(log):
    one = say(log, "2026-02-20T09:00:00.000000Z", content="Wrong")
    say(log, "2026-02-20T10:00:00.000000Z", content="Right")
    say(log, "2026-02-25T10:00:00.000000Z", "retraction", target=one.id)

    assert ["- 10:00 shop: Right"] == bullets(log)


def test_a_revised_summary_replaces_that_of_the_same_day_and_not_of_another(log):
    for day, text in (("20T09", "First"), ("20T10", "Second"), ("21T10", "Third")):
        say(log, f"2026-02-{day}:00:00.000000Z", "stage_summary", scope="session", summary=text)

    assert ["- 10:00 shop: Second", "- 10:00 shop: Third"] == bullets(log)


def test_what_an_agent_wrote_is_told_and_not_what_was_drawn_from_its_transcript(log):
    say(log, "2026-02-20T09:00:00.000000Z", "stage_summary", summary="A stage")
    say(log, "2026-02-20T10:00:00.000000Z", "stage_summary", scope="session", summary="Drawn", layer=3)

    assert ["- 09:00 shop: A stage"] == bullets(log)


def test_the_same_said_twice_on_a_day_is_told_once_as_first_said(log):
    say(log, "2026-02-20T09:00:00.000000Z", content="Prices are cents")
    say(log, "2026-02-20T10:00:00.000000Z", content="prices are  CENTS.", session="other")
    say(log, "2026-02-20T11:00:00.000000Z", content="Prices are cents", project="/home/ada/blog")

    assert ["- 09:00 shop: Prices are cents", "- 11:00 blog: Prices are cents"] == bullets(log)


def test_what_concerns_the_user_is_told_without_a_project(log):
    say(log, "2026-02-20T09:00:00.000000Z", content="Likes tea", memory_type="O")

    assert ["- 09:00 Likes tea"] == bullets(log)


# -------------------------------------------------------------------------------------------------- the users calendar


@pytest.mark.slow
@pytest.mark.parametrize(
    ("timezone", "ts", "day", "clock"),
    [
        ("UTC", "2026-02-20T23:59:59.999999Z", "2026-02-20", "23:59"),
        ("Asia/Shanghai", "2026-02-20T15:59:59.999999Z", "2026-02-20", "23:59"),
        ("Asia/Shanghai", "2026-02-20T16:00:00.000000Z", "2026-02-21", "00:00"),
        ("America/New_York", "2026-02-20T04:59:00.000000Z", "2026-02-19", "23:59"),
        # the clocks of Berlin go forward on the 29th of March at 01:00 UTC, and back on the 25th of October
        ("Europe/Berlin", "2026-03-28T22:59:00.000000Z", "2026-03-28", "23:59"),
        ("Europe/Berlin", "2026-03-28T23:00:00.000000Z", "2026-03-29", "00:00"),
        ("Europe/Berlin", "2026-03-29T00:59:00.000000Z", "2026-03-29", "01:59"),
        ("Europe/Berlin", "2026-03-29T01:00:00.000000Z", "2026-03-29", "03:00"),
        ("Europe/Berlin", "2026-03-29T21:59:00.000000Z", "2026-03-29", "23:59"),
        ("Europe/Berlin", "2026-03-29T22:00:00.000000Z", "2026-03-30", "00:00"),
        ("Europe/Berlin", "2026-10-25T00:30:00.000000Z", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-10-25T01:30:00.000000Z", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-10-25T22:59:00.000000Z", "2026-10-25", "23:59"),
        # half an hour of summer time; a quarter of an hour's offset; a day that never was
        ("Australia/Lord_Howe", "2026-10-03T15:29:00.000000Z", "2026-10-04", "01:59"),
        ("Australia/Lord_Howe", "2026-10-03T15:30:00.000000Z", "2026-10-04", "02:30"),
        ("Asia/Kathmandu", "2026-02-20T18:15:00.000000Z", "2026-02-21", "00:00"),
        ("Pacific/Apia", "2011-12-30T09:59:00.000000Z", "2011-12-29", "23:59"),
        ("Pacific/Apia", "2011-12-30T10:00:00.000000Z", "2011-12-31", "00:00"),
    ],
)
def test_an_event_belongs_to_the_day_of_the_users_calendar(log, timezone, ts, day, clock):
    say(log, ts)

    assert {f"memory/{day}.md": [f"# {day}", "", "## Events", "", f"- {clock} shop: Said"]} == notes(
        log, timezone=timezone
    )
    assert f"{day}T{clock}" == local_time(timezone)(ts)


@given(
    st.integers(-300_000_000, 2_200_000_000).map(partial(datetime.fromtimestamp, tz=UTC)),
    st.sampled_from(["Asia/Shanghai", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Monrovia", "America/St_Johns"]),
)
def test_hours_are_those_of_the_time_zone(moment, timezone):
    expected = moment.astimezone(ZoneInfo(timezone)).strftime("%Y-%m-%dT%H:%M")

    assert expected == local_time(timezone)(moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def test_a_day_of_twenty_five_hours_is_one_note_in_the_order_things_happened(log):
    hours = [f"2026-10-{day}:30:00.000000Z" for day in ("24T22", "25T00", "25T01", "25T22")]
    for number, ts in enumerate(hours):
        say(log, ts, content=f"Number {number}")

    assert [
        "- 00:30 shop: Number 0", "- 02:30 shop: Number 1", "- 02:30 shop: Number 2", "- 23:30 shop: Number 3",
    ] == bullets(log, timezone="Europe/Berlin")  # fmt: skip


def test_a_note_is_as_of_the_last_event_that_has_a_say_in_it(log):
    say(log, "2026-02-20T09:00:00.000000Z", project=None)
    say(log, "2026-02-20T09:30:00.000000Z", "stage_summary", summary="Worked", project=None)
    say(log, "2026-02-23T09:00:00.000000Z", "turn_end")
    (document,) = replay(log, Settings(), projections=[DAILY_NOTES]).documents
    (then,) = replay(log, Settings(), projections=[DAILY_NOTES], until="2026-02-23T09:00:00.000000Z").documents

    assert "2026-02-23T09:00:00.000000Z" in document.lines[-1].text
    assert "- 09:30 shop: Worked" in [line.text for line in document.lines]
    assert document.data == then.data


def test_a_log_that_is_not_there_has_no_notes(tmp_path):
    assert notes(EventLog(tmp_path / "nowhere")) == {}


def test_a_text_stands_once_whatever_category_each_session_gave_it(log):
    say(log, f"{DAY}T10:00:00.000000Z", content="使用 FastAPI")
    say(log, f"{DAY}T11:00:00.000000Z", content="使用FastAPI", session="t", category="decision")

    assert ["- shop: 使用 FastAPI"] == bullets(log)


def test_a_later_plain_summary_takes_nothing_out_of_the_note(log):
    say(log, f"{DAY}T10:00:00.000000Z", "stage_summary", summary="s1", decisions=["RS256"], todos=["Docs", "Tests"])
    say(log, f"{DAY}T11:00:00.000000Z", "stage_summary", scope="session", summary="all done", done=["docs"])

    assert ["- 11:00 shop: all done", "- shop: RS256", "- [ ] shop: Tests"] == bullets(log)
