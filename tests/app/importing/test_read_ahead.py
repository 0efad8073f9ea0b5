"""A second process that reads ahead finds what this one would, and nothing is missing where it comes to harm."""

import subprocess

import pytest

from eventlog.app.importing import transcripts
from eventlog.app.importing.transcripts import read_each, read_session
from eventlog.format import timestamps
from eventlog.settings.schema import Settings
from tests.support.pasts import conversation

NOW = timestamps.to_ns("2026-03-01T00:00:00.000000Z")


@pytest.fixture
def paths(tmp_path, monkeypatch):
    """Transcripts, one of them gone meanwhile, of which two are told of at a time."""
    monkeypatch.setattr(transcripts, "_FEWEST", 1)
    monkeypatch.setattr(transcripts, "_AT_ONCE", 2)
    for number in range(5):
        conversation(tmp_path, f"talk-{number}", "2026-02-20T10:00:00.000000Z")
    return [*sorted((tmp_path).rglob("*.jsonl")), tmp_path / "gone.jsonl"]


def read(paths):
    return list(read_each("claude-code", paths, Settings(), NOW))


DIES = """calls = iter([False, False, False, True]); inner = transcripts.read_session
transcripts.read_session = lambda *given: sys.exit(1) if next(calls) else inner(*given)"""
BABBLES = "sys.stdout.buffer.write(b'no pickle'); sys.exit(0)"


@pytest.mark.parametrize("harm", [DIES, BABBLES], ids=["it dies on the way", "it tells something else"])
def test_what_is_found_is_the_same_whatever_becomes_of_the_other_process(paths, harm, monkeypatch):
    expected = [read_session("claude-code", path, Settings(), NOW) for path in paths]
    begin, end = transcripts._READER.rsplit("\n", 1)
    monkeypatch.setattr(
        transcripts, "_READER", f"{begin}\nfrom eventlog.app.importing import transcripts\n{harm}\n{end}"
    )

    assert read(paths) == expected
    assert [len(found) for found in expected] == [1] * 6


def test_the_other_process_reads_all_of_it(paths, monkeypatch):
    expected = read(paths)
    monkeypatch.setattr(transcripts, "read_session", None)

    assert read(paths) == expected


def test_whoever_stops_listening_leaves_no_process(paths, monkeypatch):
    started = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *given, **more):
            started.append(self)
            super().__init__(*given, **more)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    reading = read_each("claude-code", paths, Settings(), NOW)

    assert next(reading)
    del reading
    assert [True] == [one.poll() is not None for one in started]
