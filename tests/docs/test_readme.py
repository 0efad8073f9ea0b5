"""What the README shows is what the program does: every block of it, in the order of the page, in a fresh home each story."""

from collections.abc import Callable

import pytest

from tests.docs.reader import Reader
from tests.docs.terminals import excuse, stories
from tests.support.pasts import conversation
from tests.support.tree import ROOT, needs_tree

needs_tree()
SHOWN = stories((ROOT / "README.md").read_text(encoding="utf-8"))
_DEMO = f"eventlog append --stdin < {ROOT}/fixtures/demo/events.jsonl; eventlog replay"


def a_week_of_agents(reader: Reader) -> None:
    reader.run(_DEMO)


def codex_is_there(reader: Reader) -> None:
    reader.run("mkdir ~/.codex")


def a_past(reader: Reader) -> None:
    conversation(reader.home, "5f0c", "2026-02-20T10:00:00.000000Z")
    conversation(reader.home, "7a1e", "2026-02-21T10:00:00.000000Z")


def an_earlier_session(reader: Reader) -> None:
    reader.run(r"printf '# The shop\n\nPrices are integers, in cents.\n' > AGENTS.md")
    reader.run('eventlog fact "Round half even, once per line item" --category decision --session s1')
    reader.run('eventlog summary --topic Cart --summary "Rewrote the cart on integers" --session s1')


def work_in_progress(reader: Reader) -> None:
    reader.run("mkdir ~/.claude ~/.codex; eventlog install claude codex")
    start = '{"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup", "cwd": "%s"}'
    reader.run(f"printf '{start}' \"$PWD\" | eventlog hook --agent claude")
    reader.run('eventlog fact "Round half even, once per line item" --category decision --session s1')
    todos = '--todo "Write the migration guide" --todo "Tell ops"'
    reader.run(f'eventlog summary --topic "Cart totals" --summary "Rewrote the cart" {todos} --session s1')
    reader.run('eventlog plan --path soul --heading Tone --content "Short sentences." --session s1; eventlog apply')


def two_agents_who_are_wrong(reader: Reader) -> None:
    fact = "eventlog append fact category=decision --project ."
    reader.run(f'{fact} agent=claude-code content="Prices are floats in euros" --session s1')
    reader.run(f'{fact} agent=codex content="prices are floats in euros." --session s2')
    reader.run("eventlog replay")


# heading -> what comes before a block of it, counted from 0
STORIES: dict[str, dict[int, Callable[[Reader], None]]] = {
    "": {1: a_week_of_agents},
    "Said twice, kept once": {},
    "Install": {1: codex_is_there},
    "Start full: import": {0: a_past},
    "What a session starts with": {0: an_earlier_session},
    "Verbs": {0: work_in_progress},
    "Taking things back": {0: two_agents_who_are_wrong},
    "Knowledge bases: USER.md, SOUL.md, AGENTS.md": {},
    "The store": {},
    "Many stores": {},
}


@pytest.fixture
def reader(tmp_path):
    reader = Reader(tmp_path)
    yield reader
    reader.close()


@pytest.mark.parametrize("heading", STORIES)
def test_what_is_shown_below_a_heading_can_be_repeated_word_for_word(heading, reader):
    for position, step in enumerate(SHOWN[heading]):
        STORIES[heading].get(position, lambda _: None)(reader)
        if not excuse("README.md", step):
            reader.follow(step)


def test_every_block_is_followed_or_excused():
    told = {heading for heading, steps in SHOWN.items() if any(step.language for step in steps)}

    assert told == set(STORIES)
