"""What was said in conversations is found by its words; the log has none of them, and what is withdrawn is nowhere."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eventlog import Machine, Memory, Retraction, Store
from eventlog.app.open_store import open_store
from eventlog.app.search import dialogues
from eventlog.app.search.search import SearchQuery, search
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.read import read_transcript
from eventlog.log.event_log import EventLog

PROJECT = "/src/shop"
KEY = "AKIA" + "IOSFODNN7EXAMPLQ"
ASKED = "The checkout fails for some customers"
ANSWERED = "The gazetteer lookup treats Reykjavik as a province. The tram timetable is unrelated."


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.setattr("eventlog.app.search.search.is_installed", lambda: False)  # words alone
    return Memory(Store(str(tmp_path / "store")))


@pytest.fixture
def past(memory, tmp_path):
    """Ends a conversation, whose transcript has these replies."""

    def end(*replies, name="c1", project=PROJECT, **about):
        path = write(tmp_path / f"{name}.jsonl", name, *replies)
        common = {"conversation_id": name, "project": project, "agent": "claude-code"} | about
        memory.log.append({"type": "session_start", "transcript_path": str(path), **common})
        text = {"title": ASKED, "prompts": [ASKED], "closing": "Done.", "files": []}
        memory.log.append({"type": "conversation_text", **common, **text})
        return path

    return end


def write(path, name, *replies):
    said = [("user", ASKED), *(("assistant", [{"type": "text", "text": reply}]) for reply in replies), ("user", "ok")]
    lines = [
        {"type": role, "sessionId": name, "uuid": f"{name}{at}", "message": {"role": role, "content": content}}
        for at, (role, content) in enumerate(said)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def found(memory, text, **about):
    return [hit.conversation_id for hit in memory.search(text, **{"project": PROJECT, **about})]


def cached(memory):
    cache = Path(memory.log.store.cached("dialogues.sqlite")).parent
    return b"".join(path.read_bytes() for path in cache.glob("*.sqlite*"))


def test_a_conversation_is_found_by_what_its_agent_answered_and_shows_the_sentence(memory, past):
    past(ANSWERED)
    (hit,) = memory.search("gazetteer Reykjavik", project=PROJECT)

    assert hit.conversation_id == "c1"
    assert "The gazetteer lookup treats Reykjavik as a province." in hit.text
    assert Path(memory.log.store.cached("dialogues.sqlite")).stat().st_mode & 0o777 == 0o600
    assert b"gazetteer" not in b"".join(path.read_bytes() for path in Path(memory.log.store.log).iterdir())


def test_a_prompt_is_told_by_the_log_alone(memory, past):
    past(ANSWERED)
    told = memory.recall("The checkout fails for a customer from Reykjavik, see the gazetteer", project=PROJECT)

    assert "gazetteer" not in told
    assert not Path(memory.log.store.cached("dialogues.sqlite")).exists()


def test_another_project_has_other_conversations(memory, past):
    past(ANSWERED, project="/src/atlas")
    past("Nothing of the kind", name="c2")

    assert found(memory, "gazetteer") == []
    assert found(memory, "gazetteer", project=None, everywhere=True) == ["c1"]


def test_a_credential_in_an_answer_is_in_no_file(memory, past):
    past(f"The gazetteer key is {KEY} by now")

    assert found(memory, "gazetteer") == ["c1"]
    assert found(memory, KEY) == []
    assert KEY.lower().encode() not in cached(memory).lower()


@pytest.mark.slow
def test_a_sentence_that_states_what_a_person_forgot_is_gone_and_back_with_undo(memory, past):
    past(f"I looked around. {ANSWERED}")
    memory.log.append({
        "type": "fact", "content": "The gazetteer lookup treats Reykjavik as a province", "conversation_id": "c2",
        "project": PROJECT, "agent": "claude-code",
    })  # fmt: skip
    assert found(memory, "gazetteer") == ["c2", "c1"]

    memory.forget("The gazetteer lookup treats Reykjavik as a province")

    assert found(memory, "gazetteer") == []
    assert found(memory, "tram timetable") == ["c1"]
    assert b"gazetteer" not in cached(memory).lower()
    memory.undo()
    assert found(memory, "gazetteer") == ["c2", "c1"]


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
def test_what_an_agent_takes_back_is_not_found_in_what_it_said(memory, past, whole):
    past(f"I looked around. {ANSWERED}")
    fact = memory.log.append({
        "type": "fact", "content": "The gazetteer lookup treats Reykjavik as a province.", "conversation_id": "c1",
        "project": PROJECT, "agent": "claude-code",
    })  # fmt: skip
    assert set(found(memory, "gazetteer")) == {"c1"}

    about = {"conversation": "c1"} if whole else {"target": fact.id}
    memory.log.append({"type": "retraction", "conversation_id": "c1", "agent": "claude-code", **about})

    assert found(memory, "gazetteer") == []
    assert found(memory, "tram timetable") == ([] if whole else ["c1"])
    memory.replay()
    assert b"gazetteer" not in cached(memory).lower()


def test_what_was_withdrawn_before_is_never_drawn(memory, past):
    past(ANSWERED)
    memory.log.append({"type": "retraction", "conversation_id": "human", "conversation": "c1"})

    assert found(memory, "gazetteer", everywhere=True, project=None) == []
    assert b"gazetteer" not in cached(memory).lower()


def test_each_withdrawn_text_is_looked_up_once_and_all_where_one_comes_back(memory, past, monkeypatch):
    past(ANSWERED)
    about = {"conversation_id": "c1", "project": PROJECT, "agent": "claude-code"}
    lookups = []
    find = EventLog.find

    def counted(log, ids):
        lookups.append(len(ids))
        return find(log, ids)

    monkeypatch.setattr(EventLog, "find", counted)
    for text in ("The tram timetable is unrelated.", "The gazetteer lookup treats Reykjavik as a province."):
        fact = memory.log.append({"type": "fact", "content": text, **about})
        taken = memory.log.append({"type": "retraction", "target": fact.id, **about})
        assert found(memory, "timetable") == []
    assert found(memory, "gazetteer") == []

    memory.log.append({"type": "retraction", "target": taken.id, **about})

    assert found(memory, "timetable") == []
    assert set(found(memory, "gazetteer")) == {"c1"}
    assert lookups == [1, 1, 2]  # a withdrawal is withdrawn, too


def test_a_text_that_was_erased_everywhere_is_not_drawn_again(memory, past):
    past(ANSWERED)
    opened = open_store(memory.log.store, Machine.here())
    memory.log.append(
        {"type": "fact", "content": "Ask for Reykjavik first", "conversation_id": "c2", "project": PROJECT}
    )
    assert set(found(memory, "gazetteer Reykjavik")) == {"c1", "c2"}

    redact(opened, redactable(opened, "Reykjavik"))

    assert found(memory, "gazetteer") == ["c1"]
    assert found(memory, "Reykjavik") == []
    assert b"reykjavik" not in cached(memory).lower()


def test_a_conversation_that_went_on_is_drawn_again_and_no_other(memory, past, monkeypatch):
    past(ANSWERED)
    past("Nothing of the kind", name="c2")
    assert found(memory, "gazetteer") == ["c1"]

    paths: list[str] = []
    monkeypatch.setattr(read, "read_transcript", _noting(paths))
    assert found(memory, "marzipan") == []
    assert paths == []
    path = past(ANSWERED, "Then marzipan was added", name="c1")
    assert found(memory, "marzipan") == found(memory, "gazetteer") == ["c1"]
    assert paths == [str(path)]


def _noting(paths):
    def reading(agent, path):
        paths.append(path)
        return read_transcript(agent, path)

    return reading


def test_of_a_deleted_transcript_the_words_stay_until_all_is_made_anew(memory, past):
    path = past(ANSWERED)
    assert found(memory, "gazetteer") == ["c1"]
    path.unlink()
    memory.log.append({"type": "fact", "content": "x", "conversation_id": "c3", "project": PROJECT})

    memory.replay()
    assert found(memory, "gazetteer") == ["c1"]
    memory.replay(full=True)
    assert found(memory, "gazetteer") == []


def test_an_update_of_the_program_keeps_what_it_cannot_draw_again(memory, past, monkeypatch):
    path = past(ANSWERED)
    other = past("The marzipan is sold out", name="c2")
    assert found(memory, "gazetteer") == ["c1"]
    path.unlink()
    write(other, "c2", "The nougat is sold out")
    monkeypatch.setattr(dialogues, "program_key", lambda: "the next one")

    assert found(memory, "gazetteer") == ["c1"]
    assert (found(memory, "marzipan"), found(memory, "nougat")) == ([], ["c2"])


def test_what_is_withdrawn_leaves_the_words_that_another_program_has_written(memory, past, monkeypatch):
    past(ANSWERED)
    past("The marzipan is sold out", name="c2")
    assert found(memory, "marzipan") == ["c2"]
    with closing(sqlite3.connect(memory.log.store.cached("dialogues.sqlite"))) as database:
        database.execute("DROP TABLE common")  # as before there was one
    monkeypatch.setattr(dialogues, "program_key", lambda: "the next one")
    memory.log.append(Retraction(conversation_id="human", agent="human", conversation="c2"))

    assert (found(memory, "gazetteer"), found(memory, "marzipan")) == (["c1"], [])


def test_a_replay_draws_what_is_due(memory, past, monkeypatch):
    past(ANSWERED)
    memory.replay()
    monkeypatch.setattr(read, "read_transcript", None)

    assert found(memory, "gazetteer") == ["c1"]


def test_who_waits_draws_the_newest_first_and_some_at_a_time(memory, past, monkeypatch):
    for number in range(3):
        past(ANSWERED, name=f"c{number}", ts=f"2026-11-0{number + 1}T10:00:00.000000Z")
    monkeypatch.setattr(dialogues, "_AT_ONCE", 1)
    opened = open_store(memory.log.store, Machine.here())
    query = SearchQuery("gazetteer", PROJECT)

    assert [{hit.conversation_id for hit in search(opened, query).hits} for _ in range(3)] == [
        {"c2"}, {"c1", "c2"}, {"c0", "c1", "c2"},
    ]  # fmt: skip


def test_a_dialogue_has_a_bound(memory, past):
    past("begin gazetteer", *(f"{'word ' * 700} number{at}" for at in range(60)))

    assert found(memory, "gazetteer") == ["c1"]
    assert found(memory, "number59") == []
    assert Path(memory.log.store.cached("dialogues.sqlite")).stat().st_size < 200_000


def test_a_long_dialogue_is_found_by_each_of_its_passages(memory, past):
    past(*(f"the answer is number{at}" for at in range(300)))

    assert [found(memory, f"number{at}") for at in (0, 130, 299)] == [["c1"]] * 3
    assert [memory.search(f"number{at}", project=PROJECT)[0].text.count(f"number{at}") for at in (0, 130, 299)]


def test_nobody_reads_what_lies_on_another_machine_or_is_not_wanted(memory, past):
    past(ANSWERED, replica="elsewhere")
    assert found(memory, "gazetteer") == []

    past(ANSWERED)
    Path(memory.log.store.config).write_text("recall: {transcripts: false}\n")
    assert found(memory, "gazetteer") == []
    memory.replay()
    assert not Path(memory.log.store.cached("dialogues.sqlite")).exists()


@pytest.mark.parametrize("damage", [b"", b"no database at all, but long enough to be one " * 100])
def test_a_damaged_file_costs_one_search_its_dialogues(memory, past, damage):
    past(ANSWERED)
    assert found(memory, "gazetteer") == ["c1"]
    Path(memory.log.store.cached("dialogues.sqlite")).write_bytes(damage)

    found(memory, "gazetteer")
    assert found(memory, "gazetteer") == ["c1"]


@pytest.mark.slow
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["dialogues.sqlite", "knowledge.db"])
def test_what_stands_in_the_place_of_a_database_makes_room_for_it(memory, past, name, make):
    past(ANSWERED)
    path = Path(memory.log.store.cached(name))
    path.parent.mkdir(exist_ok=True)
    make(path)
    memory.replay()

    assert found(memory, "gazetteer") == ["c1"]
    assert path.is_file()


def test_a_search_of_a_cache_nobody_may_write_finds_what_the_log_says(memory, past, monkeypatch):
    past(ANSWERED)
    monkeypatch.setattr(dialogues, "create_private", lambda path: os.open(f"{path}/", os.O_RDONLY))

    assert found(memory, "checkout customers") == ["c1"]
    assert found(memory, "gazetteer") == []


def test_the_dialogue_of_a_log_that_was_rewritten_is_drawn_from_what_it_says_now(memory, past):
    past(ANSWERED)
    past("The marzipan is sold out", name="c2", ts="2026-11-01T10:00:00.000000Z")
    assert found(memory, "marzipan") == ["c2"]
    (day,) = Path(memory.log.store.log).glob("2026-11-01*")
    day.unlink()

    assert found(memory, "marzipan") == []
    assert found(memory, "gazetteer") == ["c1"]


def test_while_nothing_happens_the_log_is_not_compared_again_and_what_happens_is_taken_in(memory, past, monkeypatch):
    past(ANSWERED)
    assert [["c1"]] * 2 == [found(memory, "Reykjavik") for _ in range(2)]  # the second finds that nothing happened
    with monkeypatch.context() as patched:
        patched.setattr(dialogues, "seen_in", None)
        assert found(memory, "Reykjavik") == ["c1"]

    memory.log.append({"type": "turn_end", "conversation_id": "c1", "project": PROJECT})  # the index does not note it
    assert found(memory, "Reykjavik") == ["c1"]
    past("The sundial of Reykjavik is late.", name="c2")
    assert set(found(memory, "Reykjavik")) == {"c1", "c2"}
    memory.log.append({"type": "retraction", "conversation_id": "c2", "conversation": "c2", "project": PROJECT})
    assert found(memory, "Reykjavik") == ["c1"]
    assert b"sundial" not in cached(memory)
