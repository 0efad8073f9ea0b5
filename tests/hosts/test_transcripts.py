"""Hosts' transcripts become steps, whatever stands between them, and steps become a summary, or nothing."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.codec import from_fields
from eventlog.hooks import prompts
from eventlog.hosts.call import HookCall
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.read import of_the_user, without_own_texts
from eventlog.hosts.transcripts.steps import Step, files_written, from_tool, programs_run
from eventlog.hosts.transcripts.summarise import TranscriptSummary, closing, summarise
from eventlog.store import Store
from tests.support.tree import ROOT

FIXTURES = ROOT / "fixtures" / "transcripts"
FILES = {
    "claude-code": FIXTURES / "claude" / "5f0c.jsonl",
    "codex": next(FIXTURES.glob("codex/rollout-*.jsonl")),
    "copilot": FIXTURES / "copilot" / "b1ade" / "events.jsonl",
    "cursor": FIXTURES / "cursor" / "c0de.jsonl",
    "gemini": next(FIXTURES.glob("gemini/session-*.jsonl")),
    "qwen-code": FIXTURES / "qwen" / "7c0de.jsonl",
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
    "copilot": TranscriptSummary(
        "Please show the price with tax on the receipt",
        "Changed receipt.py, rates.txt. Committed “Show the tax on receipts”. Ran `make receipt 2>&1 | tail -3`. "
        "The receipt shows each price with tax and the rate beside it.",
        ["round once, on the total"],
        ["show it on the invoice, too"],
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
    "qwen-code": TranscriptSummary(
        "Let the basket remember its items",
        "Changed basket.js. Ran `npm test -- basket`. The basket remembers its items.",
        ["keep them for a week"],
        [],
    ),
}


def _steps(agent, path):
    return list(read.read_transcript(agent, str(path)))


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
    drawn = summarise(read.read_transcript(agent, str(path)))

    assert drawn is not None
    assert DRAWN[agent].decisions == drawn.decisions
    assert DRAWN[agent].todos == drawn.todos


@pytest.mark.parametrize("agent", FILES)
def test_a_missing_transcript_has_no_steps(agent, tmp_path):
    assert [] == _steps(agent, tmp_path / "nowhere.jsonl")
    assert [] == _steps(agent, tmp_path)


def test_a_transcript_streams(tmp_path):
    record = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "x" * 100_000}]},
    }
    (tmp_path / "large.jsonl").write_text((json.dumps(record) + "\n") * 60)
    tracemalloc.start()
    count = sum(1 for _ in read.read_transcript("claude-code", str(tmp_path / "large.jsonl")))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 60 == count
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
    ) == summarise(read.logged_steps(events))


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

    assert [Step("prompt", "Fix the cart")] == list(read.read_transcript("gemini", str(path)))
    assert [Step("prompt", "Fix the cart")] == list(read.logged_steps([from_fields(told)]))


# ------------------------------------------------------------------------------------------------ our own words

_ASKED = """\
[eventlog] Nothing of this conversation has been saved yet. Save it now, then stop.

    /opt/bin/eventlog summary --session c --topic "a few words" --summary "what was done"
    /opt/bin/eventlog fact "one thing" --session c

`--type`: W what is true, O what is preferred.
"""
_CONTEXT = "# Memory (eventlog)\n\nWhen you have completed what the user asked for, save it.\n\n# Notes\n- 12:41 x"


@pytest.mark.parametrize(
    "prompt",
    [
        f"{_ASKED}\nFix the cart",
        f"Fix the cart\n\n{_ASKED}",
        f"Agent execution blocked: {_ASKED}\nFix the cart",
        f"Fix the cart\n{_CONTEXT}",
        f'<hook_prompt hook_run_id="stop:7">{_ASKED}</hook_prompt>Fix the cart',
        f"<system-reminder>\n{_CONTEXT}</system-reminder>\nFix the cart",
    ],
)
def test_our_words_leave_a_prompt_and_the_users_stay(prompt):
    assert "Fix the cart" == of_the_user(prompt)


@pytest.mark.parametrize("said", [prompts.start, prompts.ask, prompts.flush])
@pytest.mark.parametrize("locale", ["en", "zh"])
def test_whatever_agents_are_told_is_known_as_ours(said, locale, tmp_path):
    call = HookCall("codex", "Stop", {}, session="c")
    told = said(Store(str(tmp_path / "my store")), call, locale)

    assert "" == of_the_user(told)
    assert "Fix the cart" == of_the_user(f"Fix the cart\n\n{told}")


@pytest.mark.parametrize("prompt", ["What is [eventlog] in the output?", "Does eventlog summary work?", "a <b> c"])
def test_a_user_may_speak_of_us(prompt):
    assert prompt == of_the_user(prompt)


@given(st.text(alphabet="ab \n", max_size=40), st.text(alphabet="cd \n", max_size=40))
def test_around_our_context_nothing_of_the_user_is_lost(before, after):
    kept = of_the_user(f"{before}<hook_context>{_CONTEXT}</hook_context>{after}")

    assert (before + after).strip() == kept


def test_what_an_agent_answers_us_is_no_part_of_the_conversation():
    told = [
        Step("prompt", "x"),
        Step("reply", "Done"),
        Step("prompt", _ASKED),
        Step("reply", "Saved"),
        Step("file", "/f"),
    ]

    assert [Step("prompt", "x"), Step("reply", "Done"), Step("file", "/f")] == [*without_own_texts(told)]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "isMeta": True, "message": {"content": f"Stop hook feedback:\n{_ASKED}"}},
        {"type": "attachment", "attachment": {"hookEvent": "Stop", "content": [_ASKED]}},
    ],
    ids=["given back", "attached"],
)
def test_claude_codes_answer_to_our_request_is_told_from_its_others(record, tmp_path):
    said = [{"type": "assistant", "message": {"content": text}} for text in ("Done", "Saved")]
    lines = [{"type": "user", "message": {"content": "x"}}, said[0], record, said[1]]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert ["Done"] == _of(_steps("claude-code", tmp_path / "t.jsonl"), "reply")


# ------------------------------------------------------------------------------------------------ what commands did


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("echo x > notes.txt", ["notes.txt"]),
        ("printf '%s' y >> 'my notes.txt'", ["my notes.txt"]),
        ("cat > src/a.py <<'EOF'\nif a > b: pass\nEOF\nmake > out.log", ["src/a.py", "out.log"]),
        ("make 2>&1 >build.log", ["build.log"]),
        ("make | tee -a all.log", ["all.log"]),
        ("make &> all.log", ["all.log"]),
        ("make >/dev/null 2>err.txt", []),
        ("echo 'a > b' \"c > d\"", []),
        ("awk '{ print $1 > 2 }' x; f() -> y; test 1 => z", []),
        ("echo x > $out; echo > /tmp/x", []),
    ],
)
def test_output_to_a_file_is_a_change(command, files):
    assert files == _of(from_tool("bash", {"command": command}), "file")


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("cd /x && make test", ["make test"]),
        ("git mv a b; make 'a; b'", ["git mv a b", "make 'a; b'"]),
        ("FOO=1 make", ["FOO=1 make"]),
        ("/opt/bin/eventlog summary --topic x && /opt/bin/eventlog fact y", []),
        ("git -C /x status && git add -A && git commit -m 'x && y'", []),
        ("lsof -i", ["lsof -i"]),
        ("cat > a <<EOF\nrm -rf x\nEOF", []),
    ],
)
def test_what_ran_is_told_command_by_command(command, run):
    assert run == [*programs_run(command)]


@given(st.text(alphabet="ab '\"<>|&;\\\n-=2$EOF", max_size=80))
def test_no_command_is_too_odd(command):
    assert all("\n" not in piece and piece for piece in programs_run(command))
    assert all(path for path in files_written(command))


@pytest.mark.parametrize(
    ("arguments", "step"),
    [
        ('{"path": "/x/a.md"}', Step("file", "/x/a.md")),
        ({"path": "/x/a.md"}, Step("file", "/x/a.md")),
        ('"/x/a.md"', None),
        ("not JSON", None),
    ],
)
def test_arguments_as_a_text_are_arguments(arguments, step):
    assert ([step] if step else []) == [*from_tool("edit", arguments)]


def test_a_shell_called_with_a_script_is_the_script():
    assert [Step("command", "make x")] == [*from_tool("shell", {"command": ["bash", "-lc", "make x"]})]


# ------------------------------------------------------------------------------------------------ as a person would


def test_the_topic_is_what_was_first_asked_for():
    prompts = ["Hi there!", "ok", '{"error": 7,\n "at": "x"}', "Hello, fix the rounding of carts. It is off.", "Thanks"]

    assert "fix the rounding of carts" == _drawn(*_prompts(*prompts), Step("file", "/f")).topic


def test_the_topic_is_never_data():
    drawn = _drawn(*_prompts('{"a": [1]}'), Step("file", "/x/f.py"))

    assert "Changed f.py." == drawn.topic


def test_a_commit_does_not_have_the_last_word():
    replies = ["Let me look at the cart, which may take a while, and then at all of its callers.", "I see.",
               "Totals are rounded once, half even.", "Committed as 4f1c2d3."]  # fmt: skip
    steps = [*_prompts("Fix the rounding of carts"), *(Step("reply", text) for text in replies), Step("file", "/f")]

    assert "Changed f. Totals are rounded once, half even." == _drawn(*steps).summary


def test_a_commit_asked_for_does_not_have_the_last_word_either():
    steps = [*_prompts("Fix it"), Step("file", "/f"), Step("reply", "Totals are rounded once, half even."),
             *_prompts("Commit it"), Step("reply", "Committed as 4f1c2d3.")]  # fmt: skip

    assert "Changed f. Totals are rounded once, half even." == _drawn(*steps).summary


@pytest.mark.parametrize(
    ("reply", "decided", "left"),
    [
        ("Done. Decision: use JWT.", ["use JWT"], []),
        ("决定：使用 JWT。\n待办：补充测试", ["使用 JWT"], ["补充测试"]),
        ("已完成。决定：使用 JWT", ["使用 JWT"], []),
        ("TODO write the tests", [], ["write the tests"]),
        ("TODO(ada): write the tests", [], ["write the tests"]),
        ("## Next steps\n\n1. Measure it\n2. Tell *Ada*\n\nThat is all", [], ["Measure it", "Tell *Ada"]),
        ("**Decisions:**\n- a\n- b\n\nText\n- c", ["a", "b"], []),
        ("```\nDecision: in code\nTODO in code\n```", [], []),
        ("I made the decision to wait. What is left to do?", [], []),
        ("- [ ] one\n- [x] two", [], ["one"]),
    ],
)
def test_decisions_and_open_ends_are_taken_where_they_are_said(reply, decided, left):
    drawn = _drawn(*_prompts("Do the thing, please"), Step("file", "/f"), Step("reply", reply))

    assert (decided, left) == (drawn.decisions, drawn.todos)


def test_a_users_decision_counts_as_well():
    assert ["prices are integers"] == _drawn(*_prompts("Decision: prices are integers.")).decisions


def test_a_summary_is_in_the_language_of_the_settings():
    steps = [*_prompts("你好，修复购物车的取整"), Step("file", "/x/a.py"), Step("file", "/x/b.py"), Step("command", "make test"),
             Step("command", "git commit -m '取整一次'"), Step("reply", "购物车总额只取整一次。决定：使用整数。")]  # fmt: skip

    assert TranscriptSummary(
        "修复购物车的取整",
        "修改了 a.py、b.py。提交了“取整一次”。运行了 `make test`。购物车总额只取整一次。",
        ["使用整数"],
        [],
    ) == summarise(steps, "zh")


def test_what_is_not_named_is_counted_in_the_language_of_the_settings():
    steps = [*_prompts("x"), *(Step("file", f"/f{number}") for number in range(10))]

    drawn = summarise(steps, "zh")

    assert drawn is not None
    assert "修改了 f0、f1、f2、f3、f4、f5、f6、f7 等，另有 2 项。" == drawn.summary


def test_a_message_is_told_without_code_tables_and_headings():
    reply = "## Done\n\nTotals are right:\n- rounded once\n- half even\n\n| a | b |\n|---|---|\n```py\nx = 1\n```\nTests pass."

    assert "Totals are right: rounded once; half even Tests pass." == closing(reply, 240)


def test_a_long_message_is_cut_between_sentences():
    assert "One is here. Two is there." == closing("One is here. Two is there. Three is nowhere at all.", 40)
