"""The text a conversation is found by: what was asked first and last, what was said at the end, which files changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.events import ConversationText
from eventlog.hosts.transcripts.conversation_text import MOST_CHARS, TextExtractor
from eventlog.hosts.transcripts.steps import Step
from eventlog.log.event_log import EventLog
from eventlog.settings.schema import RecallSettings, Settings
from tests.support.hook_calls import run
from tests.support.host_calls import events
from tests.support.payloads import claude
from tests.support.use_cases import finalize

TOLD = [
    Step("title", "Rounding"),
    Step("prompt", "Round  prices\nhalf even"),
    Step("file", "/src/shop/cart.py"),
    Step("reply", "I will."),
    Step("prompt", "and the tests"),
    Step("file", "/etc/hosts"),
    Step("reply", "Done: prices are rounded half even."),
]


def drawn(steps):
    drawer = TextExtractor("/src/shop")
    assert list(drawer.watch(steps)) == list(steps)
    return drawer.extracted()


def test_the_text_of_a_conversation():
    title, prompts, closing, files = drawn(TOLD)

    assert (title, prompts) == ("Rounding", ["Round prices half even", "and the tests"])
    assert (closing, files) == ("Done: prices are rounded half even.", ["cart.py", "/etc/hosts"])
    assert drawn(TOLD[:1] + TOLD[2:4]) is None


def test_of_many_prompts_the_first_and_the_last_are_kept():
    prompts = drawn([Step("prompt", f"{number} " + "x" * 500) for number in range(50)]).prompts

    assert [int(prompt.split()[0]) for prompt in prompts] == [0, 1, 2, 3, 47, 48, 49]


@given(
    st.lists(
        st.tuples(st.sampled_from(["title", "prompt", "reply", "file"]), st.text(max_size=30), st.integers(1, 200))
    )
)
def test_whatever_a_transcript_holds_the_text_is_bounded(steps):
    text = drawn([Step(kind, words * times) for kind, words, times in steps])

    if text:
        assert len(text.title + text.closing + "".join((*text.prompts, *text.files))) <= MOST_CHARS


@pytest.fixture
def transcript(tmp_path):
    """A transcript with a secret, and with what a hook of ours had said."""
    key = "AKIA" + "IOSFODNN7EXAMPLF"
    lines = [
        {"type": "user", "message": {"role": "user", "content": f"Why does the cart use {key}?"}, "sessionId": "c"},
        {"type": "user", "message": {"role": "user", "content": "[eventlog] Save it now."}, "sessionId": "c"},
        {"type": "user", "message": {"role": "user", "content": "and rotate it please"}, "sessionId": "c"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "It is rotated."}]}, "sessionId": "c"},
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def end(store, transcript):
    run(store, {**claude("SessionEnd", reason="other"), "session_id": "c", "transcript_path": str(transcript)})
    return EventLog(store)


def test_it_is_drawn_at_the_end_of_a_session_scrubbed_without_our_words_and_once(tmp_path, transcript, monkeypatch):
    monkeypatch.setattr("eventlog.hooks.background.start_finalize", lambda _store: None)
    store = tmp_path / "store"
    for _ in range(2):
        log = end(store, transcript)
        finalize(log)

    [text] = events(store, "conversation_text")
    assert isinstance(text, ConversationText)
    assert text.prompts[-1] == "and rotate it please"
    assert len(text.prompts) == 2
    assert "[secret:" in text.prompts[0]
    assert text.closing == "It is rotated."


def test_it_is_not_drawn_where_nobody_wants_it(tmp_path, transcript):
    log = end(tmp_path / "store", transcript)
    finalize(log, Settings(recall=RecallSettings(transcripts=False)))

    assert events(tmp_path / "store", "conversation_text") == []
