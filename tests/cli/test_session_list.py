"""`sessions` on a terminal: one line each under the heading of its day, whatever the width and the script."""

import re

import pytest

from eventlog.cli.show.display import Display
from eventlog.cli.terminal import cells, fit, padded
from eventlog.fast import fastjson
from eventlog.store import Store
from tests.support import builders
from tests.support.command_line import call, on_a_terminal

IDS = ("e42af0ad-aa06-410e-9e13-c17ade27a4f1", "42db5b4b-055a-459d-941b-4858ee1ad000")


@pytest.fixture
def store(tmp_path):
    told = [
        builders.fact(
            1, conversation_id=IDS[0], project="/src/notes-api", agent="claude-code", content="JWT migration"
        ),
        builders.fact(2, conversation_id=IDS[1], project="/src/爬虫-数据", agent="cursor", content="修复编码问题" * 9),
        builders.fact(3, day=builders.NEXT_DAY, conversation_id="mine", agent="human", content="x" * 300),
    ]
    for day in (builders.DAY, builders.NEXT_DAY):
        lines = [fastjson.dumps(one) + b"\n" for one in told if one["ts"].startswith(day)]
        builders.write(tmp_path / "log", b"".join(lines), f"{day}.jsonl")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120])
def test_every_session_has_its_hour_agent_project_and_topic_on_one_line(store, columns):
    said = re.sub("\x1b\\[[0-9;]*m", "", on_a_terminal("sessions", "--store", store, columns=columns))
    lines = said.splitlines()

    assert columns >= max(map(cells, lines))
    assert ["Sat 21 Feb", "Fri 20 Feb"] == [line[:10] for line in lines if not line.startswith("  ")][:2]
    assert re.search(r"^  e42af0 +12:00 +claude +notes-api +JWT migration +1 fact\r?$", said, re.MULTILINE)
    assert re.search(r"^  42db5b +12:00 +cursor +爬虫-数据 +修复编码问题", said, re.MULTILINE)
    assert "3 sessions · to see one: eventlog show mine" in said


def test_a_short_id_of_the_list_leads_to_its_session(store):
    assert "JWT migration" in call("query", "--session", "e42af0", "--store", store).out


@pytest.mark.slow
def test_of_long_ids_that_begin_alike_the_end_is_shown_and_leads_to_the_session(tmp_path):
    for number in (1, 2):
        call("fact", f"fact {number}", "--session", f"nightly-build-{number}", "--store", tmp_path)
    said = re.sub("\x1b\\[[0-9;]*m", "", on_a_terminal("sessions", "--all-projects", "--store", tmp_path))
    shown = re.findall(r"^  (…\S+) ", said, re.MULTILINE)

    assert ["…y-build-2", "…y-build-1"] == shown
    assert "fact 1" in call("show", shown[1], "--store", tmp_path).out


def test_a_look_at_what_a_session_would_start_with_makes_no_session(store):
    call("context", "--session", "curious", "--store", store)

    assert "context_injected" in call("query", "--session", "curious", "--store", store).out
    assert "curious" not in call("sessions", "--store", store).out


def test_days_have_their_words_in_the_zone_of_the_user(store):
    (store / "config.yaml").write_text("version: 1\ntimezone: Asia/Shanghai\n")

    shown = Display(Store(str(store)), now="2026-02-20T17:00:00.000000Z")
    shown.is_for_people = True

    assert "today · Sat 21 Feb" == shown.day("2026-02-20T16:30:00.000000Z")
    assert "yesterday · Fri 20 Feb" == shown.day("2026-02-20T15:30:00.000000Z")
    assert "Wed 31 Dec 2025" == shown.day("2025-12-31T12:00:00.000000Z")


@pytest.mark.parametrize(
    ("text", "room", "shown"),
    [("abcdef", 4, "abc…"), ("修复编码", 5, "修复…"), ("修复", 4, "修复"), ("e\u0301a", 2, "e\u0301a")],
)
def test_a_text_is_cut_to_cells_and_never_in_the_middle_of_one(text, room, shown):
    assert shown == fit(text, room)
    assert room == cells(padded(text, room))
