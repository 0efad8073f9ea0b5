"""`eventlog report`: one private file, its data for programs, and what redact knows of it."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.support.builders import fact
from tests.support.command_line import call


@pytest.fixture
def store(log):
    log.append_many(
        [
            fact(1, content="Lunch is pemmican", project="/p/shop"),
            fact(2, content="Tea at five", project="/p/office", conversation_id="d"),
        ]
    )
    return log.store.root


def test_the_report_is_one_file_for_its_owner(store, tmp_path):
    place = tmp_path / "memory.html"
    ran = call("report", "--store", store, "--out", place)
    said = json.loads(ran.out)

    assert ran.code == 0
    assert (said["status"], said["path"], said["bytes"]) == ("ok", str(place), place.stat().st_size)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert "Lunch is pemmican" in place.read_text()


def test_it_can_be_of_a_project_and_of_a_time(store, tmp_path):
    call("report", "--store", store, "--out", tmp_path / "one.html", "--project", "shop")
    text = (tmp_path / "one.html").read_text()

    assert "pemmican" in text
    assert "Tea at five" not in text


def test_its_data_is_json_for_programs(store):
    page = json.loads(call("report", "--store", store, "--json").out)

    assert page["version"] == 1
    assert {event["text"] for event in page["events"]} == {"Lunch is pemmican", "Tea at five"}


def test_to_stdout_it_writes_no_file(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert call("report", "--store", store, "--out", "-").out.startswith("<!doctype html>")
    assert list(tmp_path.glob("*.html")) == []


def test_an_unwritable_place_is_an_error_in_words(store, tmp_path):
    (tmp_path / "file").touch()
    ran = call("report", "--store", store, "--out", tmp_path / "file" / "r.html")

    assert ran.code == 3
    assert "r.html" in ran.err


def test_a_report_takes_the_place_of_no_pipe_and_no_device(store, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ran = call("report", "--store", store, "--out", tmp_path / "pipe")

    assert (ran.code, stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)) == (2, True)
    assert "is not a regular file\n  name a file" in ran.err


def test_what_was_forgotten_is_counted_and_can_be_left_out(store, tmp_path):
    call("forget", "Lunch is pemmican", "--yes", "--store", store)
    call("report", "--store", store, "--out", tmp_path / "all.html")
    call("report", "--store", store, "--out", tmp_path / "less.html", "--without-withdrawn")

    assert "pemmican" in (tmp_path / "all.html").read_text()
    assert "--without-withdrawn" in (tmp_path / "all.html").read_text()
    assert "pemmican" not in (tmp_path / "less.html").read_text()


def test_redact_names_the_reports_that_hold_the_text(store, tmp_path):
    for name in ("one.html", "gone.html"):
        call("report", "--store", store, "--out", tmp_path / name)
    Path(tmp_path / "gone.html").unlink()
    said = json.loads(call("redact", "Lunch is pemmican", "--dry-run", "--json", "--store", store).out)

    assert said["left"] == [str(tmp_path / "one.html")]
