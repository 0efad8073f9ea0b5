"""Hosts' transcripts become steps, whatever stands between them, and steps become a summary, or nothing."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.codec import from_fields
from eventlog.hosts import find_transcript, steps_from_log
from eventlog.hosts.steps import Step
from eventlog.hosts.summarise import TranscriptSummary, summarise
from tests.support.builders import ROOT

FIXTURES = ROOT / "fixtures" / "transcripts"
FILES = {
    "claude-code": FIXTURES / "claude" / "5f0c.jsonl",
    "codex": next(FIXTURES.glob("codex/rollout-*.jsonl")),
    "cursor": FIXTURES / "cursor" / "c0de.jsonl",
    "gemini": next(FIXTURES.glob("gemini/session-*.jsonl")),
}
DRAWN = {
    "claude-code": TranscriptSummary(
        "Rounding of cart prices",
        "Changed NOTES.md, wrong.py, price.py. Committed “Round prices half even”. "
        "Ran `pytest -q tests/test_price.py`. Prices are rounded half even now.",
        ["round once, per line item"],
        ["Update the tests", "Tell the accountants"],
    ),
    "codex": TranscriptSummary(
        "Let the search retry on timeouts",
        "Changed search.rs, retry.rs. Committed “Retry searches”. Ran `cargo test retry`, `not JSON`. "
        "Searches retry three times.",
        [],
        ["Measure the delay"],
    ),
    "cursor": TranscriptSummary(
        "Show the stock on the product page",
        "Changed Product.tsx. Ran `npm run build`. The stock is shown.",
        [],
        ["show it in the cart too"],
    ),
    "gemini": TranscriptSummary(
        "German invoice",
        "Changed invoice_de.html. Ran `make check`. The invoice is in German.",
        [],
        [],
    ),
}


def _steps(agent, path):
    return list(find_transcript.read_transcript(agent, str(path)))


def _drawn(*steps):
    drawn = summarise(steps)
    assert drawn is not None
    return drawn


def _of(steps, kind):
    return [step.text for step in steps if step.kind == kind]


@pytest.mark.parametrize("agent", FILES)
def test_a_transcript_becomes_its_summary(agent):
    assert DRAWN[agent] == summarise(_steps(agent, FILES[agent]))


# ------------------------------------------------------------------------------------------------ tolerance


@pytest.mark.parametrize("agent", FILES)
def test_a_transcript_cut_anywhere_is_read_up_to_there(agent, tmp_path):
    data = FILES[agent].read_bytes()
    whole = _steps(agent, FILES[agent])
    for end in range(0, len(data), 97):
        (tmp_path / "cut.jsonl").write_bytes(data[:end])
        steps = _steps(agent, tmp_path / "cut.jsonl")

        assert len(steps) <= len(whole) + 2  # what is rewound or written again later is not yet


@pytest.mark.parametrize("agent", FILES)
@given(
    junk=st.lists(
        st.binary(max_size=30)
        | st.sampled_from([b"[1]", b"7", b"null", b'{"type":[]}', b'{"message":7}', b'{"payload":"x"}', b"[" * 3000]),
        max_size=4,
    )
)
def test_lines_nobody_knows_are_passed_over(agent, junk, tmp_path_factory):
    lines = FILES[agent].read_bytes().split(b"\n")
    path = tmp_path_factory.mktemp("t") / FILES[agent].name
    path.write_bytes(b"\n".join([*(one.replace(b"\n", b" ").replace(b"\r", b" ") for one in junk), *lines]))
    drawn = summarise(find_transcript.read_transcript(agent, str(path)))

    assert drawn is not None
    assert DRAWN[agent].decisions == drawn.decisions
    assert DRAWN[agent].todos == drawn.todos


@pytest.mark.parametrize("agent", [*FILES, "copilot"])
def test_a_missing_transcript_has_no_steps(agent, tmp_path):
    assert [] == _steps(agent, tmp_path / "nowhere.jsonl")
    assert [] == _steps(agent, tmp_path)


def test_a_transcript_streams(tmp_path):
    record = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "x" * 100_000}]},
    }
    (tmp_path / "large.jsonl").write_text((json.dumps(record) + "\n") * 200)
    tracemalloc.start()
    count = sum(1 for _ in find_transcript.read_transcript("claude-code", str(tmp_path / "large.jsonl")))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 200 == count
    assert peak < 3_000_000


# ------------------------------------------------------------------------------------------------ Claude Code


def test_what_was_rewound_did_not_happen():
    steps = _steps("claude-code", FILES["claude-code"])

    assert ["Fix the rounding of prices in the cart", "Round half even, please"] == _of(steps, "prompt")
    assert not [path for path in _of(steps, "file") if "abandoned" in path]


def test_tools_called_in_parallel_are_no_rewind():
    assert "/home/ada/shop/src/wrong.py" in _of(_steps("claude-code", FILES["claude-code"]), "file")


def test_a_compaction_does_not_end_the_conversation():
    steps = _steps("claude-code", FILES["claude-code"])

    assert "/home/ada/shop/src/price.py" in _of(steps, "file")
    assert "pytest -q tests/test_price.py" in _of(steps, "command")
    assert not [text for text in _of(steps, "prompt") if "continued" in text]


def test_a_subagent_changes_files_but_says_nothing():
    steps = _steps("claude-code", FILES["claude-code"])

    assert "/home/ada/shop/NOTES.md" in _of(steps, "file")
    assert not [text for text in _of(steps, "reply") + _of(steps, "prompt") if "helper" in text]


# ------------------------------------------------------------------------------------------------ Gemini CLI


def test_a_message_written_again_counts_once():
    assert ["Which language?", "The invoice is in German."] == _of(_steps("gemini", FILES["gemini"]), "reply")


def test_the_older_single_file_is_read_too(tmp_path):
    messages = [{"type": "user", "content": "Hi"}, {"type": "gemini", "content": "Hello"}, 7]
    (tmp_path / "session.json").write_text(json.dumps({"sessionId": "s", "messages": messages}))

    assert [Step("prompt", "Hi"), Step("reply", "Hello")] == _steps("gemini", tmp_path / "session.json")


# ------------------------------------------------------------------------------------------------ what hooks recorded


def test_a_host_without_a_reader_is_told_by_its_hooks():
    told = [
        ("userPromptSubmitted", {"prompt": "Add a badge"}, None),
        ("postToolUse", {"toolName": "edit", "toolArgs": '{"path": "/x/README.md"}'}, None),
        ("afterFileEdit", {"file_path": "/x/badge.svg"}, None),
        ("afterShellExecution", {"command": "make"}, None),
        ("PostToolUse", {"tool_name": "Write", "tool_input": {"file_path": "/x/helper.md"}}, "a-1"),
        ("beforeSubmitPrompt", {"prompt": "for the helper"}, "a-1"),
        ("afterAgentResponse", {"text": "Added."}, None),
    ]
    events = [
        from_fields(
            {"type": "host_event", "conversation_id": "c", "name": name, "payload": payload, "subagent": subagent}
        )
        for name, payload, subagent in told
    ]

    assert TranscriptSummary(
        "Add a badge", "Changed README.md, badge.svg, helper.md. Ran `make`. Added.", [], []
    ) == summarise(steps_from_log.steps(events))


# ------------------------------------------------------------------------------------------------ summaries


def _prompts(*texts):
    return [Step("prompt", text) for text in texts]


@pytest.mark.parametrize(
    "steps",
    [
        [],
        _prompts("hi"),
        [*_prompts("hi", "bye"), Step("reply", "bye"), Step("command", "ls")],
        [Step("file", "/x")],
    ],
)
def test_a_trivial_conversation_has_no_summary(steps):
    assert summarise(steps) is None


@pytest.mark.parametrize(
    "step",
    [
        Step("file", "/x"),
        Step("command", "git commit -m 'x'"),
        Step("reply", "Decision: use JWT"),
        Step("reply", "决定：使用 JWT"),
        Step("todos", "something"),
    ],
)
def test_one_thing_done_is_worth_a_summary(step):
    assert summarise([*_prompts("hi"), step]) is not None


def test_three_prompts_are_worth_a_summary():
    assert summarise(_prompts("a", "b", "c")) == TranscriptSummary("a", "a", [], [])


def test_the_newest_title_is_the_topic():
    assert "new" == _drawn(*_prompts("a"), Step("file", "/x"), Step("title", "old"), Step("title", "new")).topic


@pytest.mark.parametrize(
    ("command", "titles"),
    [
        ("git commit -m 'a'", ["a"]),
        ('git commit -am "a b" && git push', ["a b"]),
        ('git -C /x commit --message "a"', ["a"]),
        ("git commit -m \"$(cat <<'EOF'\nTitle\n\nBody\nEOF\n)\"", ["Title"]),
        ("git commit --amend --no-edit", []),
        ("echo commit -m 'a'", []),
    ],
)
def test_commits_are_told_by_their_titles(command, titles):
    drawn = _drawn(*_prompts("x"), Step("file", "/f"), Step("command", command))

    assert ("Committed " + ", ".join(f"“{title}”" for title in titles) in drawn.summary) == bool(titles)


def test_looking_around_is_not_worth_a_word():
    looking = ["ls -la", "cat x", "git status", "grep -r x", "cd /x"]
    steps = [*_prompts("x"), Step("file", "/f"), *(Step("command", one) for one in looking)]

    assert "Changed f." == _drawn(*steps).summary


def test_the_last_list_of_todos_counts():
    steps = [*_prompts("x"), Step("todos", "a\nb"), Step("todos", "b"), Step("reply", "TODO: not from a list")]

    assert ["b"] == _drawn(*steps).todos


@given(
    st.lists(
        st.builds(
            Step, st.sampled_from(["title", "prompt", "reply", "file", "command", "todos"]), st.text(max_size=3000)
        )
    )
)
def test_any_summary_is_short_and_on_one_line(steps):
    drawn = summarise(steps)
    if drawn:
        assert len(drawn.topic) <= 100
        assert 0 < len(drawn.summary.strip()) <= 500
        assert all(0 < len(text) <= 200 and "\n" not in text for text in (*drawn.decisions, *drawn.todos))


@pytest.mark.parametrize(
    "prompt",
    [
        "<hook_context># Memory (eventlog) save it</hook_context>\n\nFix the cart",
        "Fix the cart\n<hook_context>what is known</hook_context>",
        "<hook_context>one</hook_context>Fix the cart<hook_context>cut by the ho",
    ],
    ids=["before", "after", "on both sides, one cut"],
)
def test_our_own_text_is_never_the_users(tmp_path, prompt):
    path = tmp_path / "session-1.jsonl"
    path.write_text(json.dumps({"id": "1", "type": "user", "content": prompt}) + "\n")
    told = {"type": "host_event", "conversation_id": "c", "name": "BeforeAgent", "payload": {"prompt": prompt}}

    assert [Step("prompt", "Fix the cart")] == list(find_transcript.read_transcript("gemini", str(path)))
    assert [Step("prompt", "Fix the cart")] == list(steps_from_log.steps([from_fields(told)]))
