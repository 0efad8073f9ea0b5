"""`stats` tells of recall what hooks left in the log, and keeps it with the session, up to date."""

import json

import pytest

from eventlog import Memory
from eventlog.format.events import ContextInjected, Fact, Retraction
from tests.support.command_line import call
from tests.support.hook_calls import tell
from tests.support.payloads import claude, cursor
from tests.support.screen import seen, told

SHOP = "/src/shop"
RULE = "checkout/forms.py refuses blanks: a postcode of spaces is none"
ASKS = "Why does checkout/forms.py refuse blanks of a postcode?"


@pytest.fixture
def store(tmp_path):
    memory = Memory(tmp_path / "store")
    memory.log.append(Fact(conversation_id="before", project=SHOP, content=RULE, entities=["邮编"]))
    for number in range(30):
        memory.log.append(Fact(conversation_id="before", project=SHOP, content=f"Filler {number}: cart {number}"))
    return tmp_path / "store"


def ask(store, prompt=ASKS, session="s", turn="1"):
    tell(store, {**claude("UserPromptSubmit", prompt=prompt, prompt_id=turn), "session_id": session, "cwd": SHOP})


def recall_of(store):
    (*_, total) = json.loads(call("stats", "--json", "--store", store).out)
    return total["recall"]


def save(store, **fields):
    Memory(store).log.append(Fact(conversation_id="s", project=SHOP, content="Spaces are cut off", **fields))


def test_what_was_told_and_what_was_not_is_counted_by_prompts_and_lines(store):
    ask(store)
    ask(store, "thanks", turn="2")
    tell(store, {**cursor("beforeSubmitPrompt", prompt="hello"), "workspace_roots": [SHOP]})

    assert {"fired": 1, "silent": 1, "files": 0, "lines": 1, "used": 0} == recall_of(store)


def test_a_file_is_no_prompt(store):
    (store / "config.yaml").write_text("recall: {file: true}\n")
    opens = claude("PreToolUse", tool_name="Read", tool_input={"file_path": f"{SHOP}/checkout/forms.py"})
    tell(store, {**opens, "session_id": "s", "cwd": SHOP})
    save(store)

    assert {"fired": 0, "silent": 0, "files": 1, "lines": 1, "used": 0} == recall_of(store)
    assert "recall   1 line before 1 file · 0 later used\n" in seen(told("stats", "--store", store))


@pytest.mark.parametrize("fields", [{"entities": ["邮编"]}, {"entities": ["Forms.py"]}, {"key": "邮编"}])
def test_a_line_is_later_used_where_its_session_saves_something_about_the_same(store, fields):
    save(store, **fields)
    ask(store)
    before = recall_of(store)["used"]
    save(store, **fields)

    assert (0, 1) == (before, recall_of(store)["used"])


def test_a_receipt_that_is_withdrawn_is_counted_no_more_by_the_next_look_at_what_is_kept(store):
    ask(store)
    memory = Memory(store)
    memory.replay()
    before = recall_of(store)["fired"]
    [receipt] = [event for event in memory.log.read() if isinstance(event, ContextInjected)]
    memory.log.append(Retraction(conversation_id="human", target=receipt.id))
    merely_looked = recall_of(store)
    memory.replay()

    assert {"fired": 0, "silent": 0, "files": 0, "lines": 0, "used": 0} == merely_looked == recall_of(store)
    assert 1 == before


def test_the_screen_tells_of_recall_in_one_line_in_every_locale(store):
    ask(store)
    for number in range(2):
        ask(store, "thanks", turn=f"thanks {number}")
    save(store, key="邮编")
    line = "  recall   1 line with 1 prompt · 1 later used · silent with 2 other prompts\n"

    assert line in seen(told("stats", "--store", store))
    (store / "config.yaml").write_text("locale: zh\n")
    assert line in seen(told("stats", "--store", store))
    assert ["recalled", "silent", "files", "lines", "used"] == _columns(store)[0]
    assert ["1", "2", "0", "1", "1"] == _columns(store)[-1]


def _columns(store):
    return [line.split("\t")[-6:-1] for line in call("stats", "--store", store).out.splitlines()]


def test_where_nobody_asked_there_is_no_line_of_it_and_where_nothing_was_told_it_says_so(store):
    assert "recall" not in seen(told("stats", "--store", store))
    ask(store, "thanks")

    assert "  recall   silent with 1 prompt\n" in seen(told("stats", "--store", store))


def test_from_python_a_prompt_counts_where_it_was_told_something(store):
    memory = Memory(store)
    memory.recall(ASKS, project=SHOP, conversation="python")
    memory.recall("thanks", project=SHOP, conversation="python")
    memory.log.append(Fact(conversation_id="python", content="x"))
    total = memory.stats()[-1].recall

    assert (1, 0, 1) == (total.fired, total.silent, total.lines)
