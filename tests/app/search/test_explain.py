"""Why a prompt is told something or nothing, by the gate a hook has; and why a session was not told something."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from eventlog import Memory
from eventlog.app.ask.why import receipts_of
from eventlog.app.search.explain import explain
from eventlog.app.search.recall import RecallRequest, recall
from eventlog.format.events import Fact, Rejected
from eventlog.format.text import statement_of
from eventlog.settings.schema import Settings
from eventlog.store import Store
from tests.app.test_session_start import start
from tests.support.command_line import call
from tests.support.context_scene import history
from tests.support.hook_calls import respond
from tests.support.payloads import claude, data
from tests.support.use_cases import opened

SHOP, BILLING = "/src/shop", "/src/billing"
STRIPE = "Stripe sends every webhook twice; handlers check stripe_event_id first"
ASKS = "Why is the Stripe webhook handled twice?"


def say(memory, content, project=SHOP, **fields):
    return memory.log.append(Fact(conversation_id="before", project=project, content=content, **fields))


@pytest.fixture
def memory(tmp_path):
    memory = Memory(tmp_path / "store")
    say(memory, STRIPE)
    for number in range(8):
        say(memory, f"Filler {number}: cart line {number} is rounded half even")
    return memory


def ask(memory, prompt, session="s"):
    payload = {**claude("UserPromptSubmit", prompt=prompt), "session_id": session, "cwd": SHOP}
    respond(data(payload), ["--agent", "claude", "--store", memory.log.store.root], {})


def why_not(memory, text, session="s"):
    ran = call("why", "--not", text, "--session", session, "--store", memory.log.store.root)
    return ran.out.splitlines()[-1]


# ------------------------------------------------------------------------------------------------ one prompt


def verdict(memory, prompt=ASKS, project=SHOP, session="", text=STRIPE):
    found = explain(opened(memory.log), prompt, project, session)
    return found.silence, next((one.verdict for one in found.candidates if one.text == text), None)


def test_what_a_hook_would_tell_is_told(memory):
    assert ("", "told") == verdict(memory)


def test_words_that_weigh_too_little_are_told_with_their_weight_and_the_need(memory):
    found = explain(opened(memory.log), "Where is the webhook of the blue parrot in the garden shed?", SHOP)
    [one] = found.candidates

    assert ("below the gate", "too little weight") == (found.silence, one.verdict)
    assert 0 < one.score < found.need


def test_each_reason_to_be_silent_has_its_name(memory):
    assert ("elsewhere", "elsewhere") == verdict(memory, project=BILLING)
    assert ("about nothing", None) == verdict(memory, "run the tests")
    assert ("nothing known", None) == verdict(memory, "zebras?")
    ask(memory, ASKS)
    assert ("nothing new", "told before") == verdict(memory, session="s")
    assert ("", "told") == verdict(memory, session="another")
    memory.log.put([Rejected(conversation_id="human", agent="human", statement=STRIPE)])
    assert ("withdrawn", "withdrawn") == verdict(memory)
    Path(memory.log.store.config).write_text("recall: {prompt: false}\n")
    assert "off" == verdict(memory)[0]


def test_what_no_line_is_left_for_is_named(memory):
    found = explain(opened(memory.log), "is a cart line rounded half even, filler?", SHOP)
    verdicts = [one.verdict for one in found.candidates]

    assert (3, 3) == (found.lines, verdicts.count("told"))
    assert "no line left" in verdicts


_word = st.sampled_from(
    ["stripe", "webhook", "twice", "handlers", "check", "cart", "line", "rounded", "even", "zebra", "the", "tests"]
)


@pytest.mark.slow
@effort(max_examples=25)
@given(prompt=st.lists(_word, max_size=6).map(" ".join), session=st.sampled_from(["", "s", "before"]))
def test_it_tells_just_what_a_hook_would_be_told(tmp_path_factory, prompt, session):
    memory = Memory(tmp_path_factory.mktemp("one") / "store")
    for text in (STRIPE, "The cart line is rounded half even", "Handlers check twice", "A webhook of Stripe"):
        say(memory, text)
    hits = recall(Store(memory.log.store.root), RecallRequest(prompt, SHOP, session), 3)

    shown = explain(opened(memory.log), prompt, SHOP, session).shown  # best first; a hook has the newest first

    assert sorted(hit.found.id for hit in hits) == sorted(one.id for one in shown)


def test_a_damaged_line_of_the_index_costs_no_explanation(memory):
    before = explain(opened(memory.log), ASKS, SHOP)
    with closing(sqlite3.connect(memory.log.store.cached("search.sqlite"))) as database, database:
        database.execute("UPDATE units SET line = x'00', told = NULL")

    assert before == explain(opened(memory.log), ASKS, SHOP)


def test_the_verb_tells_it_to_people_and_programs_and_else_searches(memory, home):
    at = ("--project", SHOP, "--store", memory.log.store.root)
    told, fields = (
        call("recall", "--explain", ASKS, *at).out,
        json.loads(call("recall", "--explain", ASKS, "--json", *at).out),
    )

    assert "speaks: 1 line of at most 3" in told
    assert STRIPE in told
    assert ["told"] == [one["verdict"] for one in fields["candidates"]]
    assert fields["candidates"][0]["score"] >= fields["need"] > 0
    assert call("recall", "stripe webhook", *at).out == call("search", "stripe webhook", *at).out != ""
    assert "  recall " in call("--help").out
    assert 2 == call("recall", "stripe", "--session", "s", *at).code


# ------------------------------------------------------------------------------------------------ one session


@pytest.mark.slow
def test_a_session_without_a_start_was_told_what_its_prompts_asked_for(memory):
    memory.replay()
    ask(memory, "hello there")
    unasked = why_not(memory, "Stripe sends")
    ask(memory, "Where is the webhook of the blue parrot in the garden shed?")
    below = why_not(memory, "Stripe sends")
    ask(memory, ASKS)

    assert "the session received no start, and no prompt of the session matched it" in unasked
    assert "the session received no start, and no prompt matched it enough: the nearest has weight" in below
    assert "the session received it: claude-code" in why_not(memory, "Stripe sends")
    assert "at a prompt" in why_not(memory, "Stripe sends")


def test_what_was_said_after_the_start_had_to_be_asked_for(memory):
    memory.context(project=SHOP, session="s", agent="claude-code")
    say(memory, "Herons nest in column seven")
    assert "after the session last received" in why_not(memory, "Herons")
    ask(memory, "hello there")
    memory.replay()

    assert "it was recorded after the start, and no prompt of the session matched it" in why_not(memory, "Herons")


def test_each_receipt_says_when_it_was_told(memory):
    memory.context(project=SHOP, session="s", agent="claude-code")
    say(memory, "Herons nest in column seven of the aviary")
    ask(memory, "Which herons nest in column seven of the aviary?")
    [start, prompt] = call("why", "--session", "s", "--store", memory.log.store.root, "--json").out.splitlines()
    said = call("why", "--session", "s", "--store", memory.log.store.root).out

    assert ["start", "prompt"] == [json.loads(one)["receipt"].get("trigger", "start") for one in (start, prompt)]
    assert ["given at its start" in said, "given at a prompt" in said] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("budget", range(300, 3000, 300))
def test_a_receipt_names_only_facts_whose_words_were_told(tmp_path, budget):
    scene = history(tmp_path).replay()
    text = start(scene, budget=budget).context.text
    (given,) = receipts_of(scene.log, Settings(), "now")
    behind = [*given.entries, *(entry for entries in given.files.values() for entry in entries or ())]

    facts = [one.event.content for one in behind if isinstance(one.event, Fact)]

    assert not [said for said in facts if statement_of(said) not in statement_of(text)]
