"""Other processes that read transcripts find what this one would, also where they die."""

import os
from pathlib import Path

import pytest

from eventlog.app.build.workers import Workers
from eventlog.app.importing import transcripts
from eventlog.app.importing.source import BadPlace
from eventlog.format import timestamps
from eventlog.settings.schema import Settings
from tests.support.pasts import bring_in, conversation, forget, told

HERE = os.getpid()
READ = transcripts._read_session


@pytest.fixture
def home(tmp_path):
    for number in range(5):
        conversation(tmp_path / "home", f"talk-{number}", "2026-02-20T10:00:00.000000Z")
    return tmp_path / "home"


@pytest.fixture
def apart(monkeypatch):
    """Two processes read, however few the processors are, and whatever threads other tests have left."""
    monkeypatch.setattr(Workers, "__init__", lambda self: self.__dict__.update(_pool=None, _count=2))
    monkeypatch.setattr(Workers, "are_any", True)


def read_apart(*given, **more):
    Path(os.environ["READERS"], str(os.getpid())).touch()
    return READ(*given, **more)


def read_or_die(agent, path, **more):
    if path.stem == "talk-3" and os.getpid() != HERE:
        os._exit(9)
    return READ(agent, path, **more)


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_apart, read_or_die], ids=["all goes well", "one dies on the way"])
def test_what_an_import_adds_is_the_same_whoever_reads(home, read, log, apart, tmp_path, monkeypatch):
    readers = tmp_path / "readers"
    readers.mkdir()
    monkeypatch.setenv("READERS", str(readers))
    monkeypatch.setattr(transcripts, "_FEWEST", 6)
    bring_in(log, "claude", home)
    wanted = told(log)
    forget(log)
    monkeypatch.setattr(transcripts, "_FEWEST", 5)
    monkeypatch.setattr(transcripts, "_read_session", read)

    bring_in(log, "claude", home)

    assert wanted == told(log)
    assert not (readers / str(HERE)).exists()
    assert (read is read_apart) == any(readers.iterdir())


def test_a_transcript_that_is_gone_is_a_bad_place(tmp_path):
    now = timestamps.to_ns("2026-03-01T00:00:00.000000Z")
    [found] = READ("claude-code", tmp_path / "gone.jsonl", Settings(), now)

    assert isinstance(found, BadPlace)
    assert str(tmp_path / "gone.jsonl") == found.place
