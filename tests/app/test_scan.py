"""A scan tells kinds and places of secrets, never a value, and offers to erase those of the store."""

import json
from pathlib import Path

import pytest

from eventlog.app.ask.scan import scan
from eventlog.log.event_log import EventLog
from tests.support.bases import user_md, write_user
from tests.support.command_line import call
from tests.support.credentials import SAMPLES
from tests.support.use_cases import opened

TOKEN = SAMPLES["GitHub p"][1]
KEY = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIB\n-----END RSA PRIVATE" + " KEY-----"


@pytest.fixture
def leaked(log):
    """A store into whose log and files secrets were written by hand."""
    log.append({"type": "fact", "conversation_id": "s", "content": "The tea is green"})
    [file] = Path(log.store.log).iterdir()
    event = json.loads(file.read_bytes())
    event |= {"id": event["id"][:-4] + "ffff", "content": f"use {TOKEN} there", "entities": ["a"]}
    file.write_bytes(file.read_bytes() + json.dumps(event).encode() + b"\n")
    write_user(f"# Me\n\nmy key: {TOKEN}\n\n{KEY}\n")
    return log, event["id"]


def test_kind_place_and_event_are_told(leaked):
    log, event = leaked
    found = [(Path(one.file).name, one.line, one.kind, one.event) for one in scan(opened(log))[0]]
    day = Path(log.store.log).iterdir().__next__().name
    assert [
        (day, 2, "github-token", event),
        ("USER.md", 3, "github-token", ""),
        ("USER.md", 5, "private-key", ""),
    ] == found


def test_names_of_fields_tell_what_their_values_are(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"db": {"pass" + "word": "hunter2-summer"}, "tokens": ["x"]}) + "\n")
    (tmp_path / "b.bin").write_bytes(b"\0" + TOKEN.encode())
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "c").write_text(TOKEN)
    assert [("a.jsonl", "password")] == [
        (Path(one.file).name, one.kind) for one in scan(opened(EventLog(tmp_path / "store")), [tmp_path])[0]
    ]


def test_every_line_of_a_long_day_and_of_a_damaged_one_is_searched(leaked, monkeypatch):
    log, event = leaked
    [file] = Path(log.store.log).iterdir()
    file.write_bytes(b"\0" * 10 + b"\n" + file.read_bytes())
    monkeypatch.setattr("eventlog.app.ask.scan._LARGEST", 100)

    assert (file.name, 3, event) in [(Path(one.file).name, one.line, one.event) for one in scan(opened(log))[0]]


def test_the_verb_exits_with_1_and_prints_no_value(leaked):
    log, _ = leaked
    said = call("scan", "--store", log.store.root)
    assert (1, True) == (said.code, "github-token" in said.out)
    assert TOKEN not in said.out + said.err
    listed = call("scan", "--json", "--store", log.store.root)
    assert ["github-token", "github-token", "private-key"] == [one["kind"] for one in json.loads(listed.out)]
    assert (
        0 == call("scan", log.store.spool, "--store", log.store.root).code if Path(log.store.spool).exists() else True
    )
    missing = call("scan", "/nowhere", "--store", log.store.root)
    assert (2, True) == (missing.code, "no such file" in missing.err)


def test_redact_erases_what_is_found_in_the_store(leaked):
    log, _ = leaked
    said = call("scan", "--redact", "--yes", "--store", log.store.root)
    assert (1, True) == (said.code, "erased from 1 event" in said.out)
    files = [path for path in Path(log.store.root).rglob("*") if path.is_file()]
    assert [] == [path for path in files if TOKEN.encode() in path.read_bytes()]
    assert TOKEN in user_md().read_text()  # a person's own line


def test_transcripts_of_this_machine_are_searched(log):
    folder = Path.home() / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text(json.dumps({"message": {"content": f"use {TOKEN}"}}) + "\n")
    Path(log.store.root).mkdir(exist_ok=True)
    said = call("scan", "--transcripts", "--store", log.store.root)
    assert (1, True) == (said.code, "s1.jsonl:1" in said.out)
