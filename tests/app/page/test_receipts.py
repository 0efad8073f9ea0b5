"""What a session was given, what it used of it, and why a prompt got nothing."""

import pytest

from eventlog.app.page.page_model import page_of
from eventlog.format.marks import line_marks
from eventlog.projections.search.findable import things_named
from tests.support.builders import DAY, fact
from tests.support.use_cases import opened

PROJECT = "/p/shop"
REDIS = "The cart lives in Redis for two weeks"


def event(second, kind, **fields):
    return {
        "type": kind,
        "ts": f"{DAY}T13:00:{second:02d}.000000Z",
        "conversation_id": "s2",
        "agent": "codex",
        "project": PROJECT,
        **fields,
    }


def prompt(second, text):
    return event(second, "host_event", name="UserPromptSubmit", payload={"prompt": text})


@pytest.fixture
def page(log):
    [first, *_] = log.append_many([
        fact(1, content=REDIS, entities=["Redis"], conversation_id="s1", project=PROJECT),
        fact(2, content="Invoices are immutable", conversation_id="s1", project=PROJECT),
    ])  # fmt: skip
    log.append_many([
        event(0, "session_start"),
        event(1, "context_injected", digest="d", chars=900, lines=line_marks([f"- {REDIS}"]), cut=["notes"],
              files=[{"path": "/elsewhere/.eventlog/knowledge/projects/shop-957ed0/MEMORY.md", "digest": "d"}, {"path": "/p/shop/AGENTS.md", "digest": "d"}]),
        prompt(2, "Why does the cart in Redis expire?"),
        event(3, "context_injected", digest="d", chars=80, trigger="prompt", sources=[first.id], about=[things_named(["Redis"], None, REDIS)]),
        prompt(4, "Tell me about coupons and taxes in checkout"),
        event(5, "fact", content="Redis is version 7 now", entities=["Redis"]),
    ])  # fmt: skip
    return page_of(opened(log))


def of(page, trigger):
    number = next(number for number, session in enumerate(page.sessions) if session.id == "s2")
    return [one for one in page.receipts if one.session == number and one.trigger == trigger]


def test_a_start_names_the_lines_it_showed_wherever_the_store_lay(page):
    [start] = of(page, "start")
    texts = [page.files[file].lines[line].texts[0][1] for file, line in start.lines]

    assert start.chars == 900
    assert start.cut == ["notes"]
    assert len(start.files) == 2
    assert len(texts) <= 1
    assert all(REDIS in text for text in texts)


def test_a_prompt_has_what_it_got_and_what_was_used_later(page):
    [answered, _] = of(page, "prompt")

    assert answered.prompt == "Why does the cart in Redis expire?"
    assert [page.events[number].text for number in answered.events] == [REDIS]
    assert answered.used == answered.events


def test_a_prompt_that_got_nothing_says_why(page):
    [_, silent] = of(page, "prompt")

    assert silent.prompt.startswith("Tell me about coupons")
    assert silent.id == ""
    assert silent.reason
    assert silent.best < silent.need or silent.need == 0
