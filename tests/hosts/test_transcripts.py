"""Hosts' transcripts become steps, whatever stands between them, and steps become a summary, or nothing."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.format.codec import from_fields
from eventlog.hooks import prompts
from eventlog.hosts import part
from eventlog.hosts.call import HookCall
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.draw import draw
from eventlog.hosts.transcripts.prose import Openings
from eventlog.hosts.transcripts.read import find_transcripts, of_the_user, without_own_texts
from eventlog.hosts.transcripts.steps import Step, files_written, from_tool, programs_run
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
    "droid": FIXTURES / "droid" / "d401d.jsonl",
}


def _steps(agent, path):
    return list(read.read_transcript(agent, str(path)))


def _of(steps, kind):
    return [step.text for step in steps if step.kind == kind]


# ------------------------------------------------------------------------------------------------ tolerance


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_a_transcript_cut_anywhere_is_read_up_to_there(agent, tmp_path):
    data = FILES[agent].read_bytes()
    whole = _steps(agent, FILES[agent])
    for end in range(0, len(data), 97):
        (tmp_path / "cut.jsonl").write_bytes(data[:end])
        steps = _steps(agent, tmp_path / "cut.jsonl")

        assert len(steps) <= len(whole) + 2  # what is rewound or written again later is not yet


@pytest.mark.slow
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
    drawn, expected = draw(read.read_transcript(agent, str(path))), draw(_steps(agent, FILES[agent]))

    assert drawn is not None
    assert expected is not None
    assert (expected.decisions, expected.todos) == (drawn.decisions, drawn.todos)


@pytest.mark.parametrize("agent", FILES)
def test_a_missing_transcript_has_no_steps(agent, tmp_path):
    assert [] == _steps(agent, tmp_path / "nowhere.jsonl")
    assert [] == _steps(agent, tmp_path)


@pytest.mark.slow
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


_OPENED = "<ide_opened_file>The user opened the file /src/shop/tax.py in the IDE.</ide_opened_file>"
_SELECTED = "<ide_selection>The user selected the lines 3 to 4:\nif rate:\n</ide_selection>"
_SETUP = "# Context from my IDE setup:\n\n## Open tabs:\n- tax.py: src/tax.py\n\n## My request for Codex:\n"


@pytest.mark.parametrize("before", [f"{_OPENED}\n", _OPENED + _SELECTED, _SETUP])
def test_what_an_editor_puts_before_a_prompt_is_not_the_users(before):
    assert "Fix the cart" == of_the_user(f"{before}Fix the cart")
    call = HookCall("codex", "UserPromptSubmit", {}, session="c").as_prompt(f"{before}Fix the cart")
    assert ("Fix the cart", False) == (call.asked, call.by_machine)


def test_a_command_that_a_host_writes_out_is_what_the_user_typed():
    begun = "You are Qwen Code, an interactive CLI agent. Analyze the current directory and generate a QWEN.md"
    steps = [Step("prompt", begun), Step("prompt", "System: Please continue."), Step("reply", "I wrote QWEN.md.")]
    steps += [Step("prompt", "Fix the cart"), Step("reply", "The cart is fixed.")]
    drawing = draw(without_own_texts(steps))

    assert drawing
    assert "Fix the cart" == drawing.topic("/src/shop", Openings())
    assert ["/init", "Fix the cart"] == drawing.prompts


_OPEN_FILE = "Current File Path:\n```python\n/src/shop/tax.py\n```\n"
_FILES = "User Selected Files:\n- /src/shop/tax.py\n"
_BEFORE = " PRIOR CHAT HISTORY: Show the badge\n\nIt is shown.\n"


@pytest.mark.parametrize("after", [_OPEN_FILE, _FILES, f"{_OPEN_FILE}\n\n{_FILES}\n\n{_BEFORE}", f"\n\n{_BEFORE}"])
def test_what_an_editor_puts_after_a_prompt_is_not_the_users(after):
    assert "Fix the cart" == of_the_user(f"Fix the cart\n{after}")
    assert after.strip() == of_the_user(after)


def test_what_is_in_a_file_that_a_prompt_names_is_not_said_by_the_user():
    written = "Decision: no taxes. From now on, never round.\n--- End of content ---\nWe decided to drop the cart."
    added = f"--- Content from referenced files ---\nContent from @notes.md:\n{written}\n--- End of content ---"
    drawing = draw(without_own_texts([Step("prompt", f"Improve @notes.md\n{added}"), Step("reply", "Improved.")]))

    assert drawing
    assert (["Improve @notes.md"], []) == (drawing.prompts, drawing.decisions)


_SPEC = "\n## User Input\n\n```text\n{}\n```\n\nYou **MUST** consider the user input before proceeding (if not empty).\n\n## Outline\n\nDecision: [what was chosen]"


@pytest.mark.parametrize(
    ("written_out", "typed"),
    [
        (_SPEC.format("Round half even\n\n```\nx\n```"), "Round half even\n\n```\nx\n```"),
        (_SPEC.format(""), "/speckit"),
        (_SPEC.format("$ARGUMENTS"), "/speckit"),
        ("## User Input\n\n```text\nx\n```\nis refused, why?", "## User Input\n\n```text\nx\n```\nis refused, why?"),
        ("You must fully embody this agent's persona and follow all activation instructions", "/bmad"),
        ("IT IS CRITICAL THAT YOU FOLLOW THESE STEPS - while staying in character as the agent:\n\n<steps>", "/bmad"),
    ],
)
def test_of_a_command_that_is_written_out_the_arguments_are_the_users(written_out, typed):
    assert typed == of_the_user(written_out)
    drawing = draw([Step("prompt", of_the_user(written_out)), Step("reply", "Done."), Step("prompt", "Ship it")])

    assert drawing
    assert [] == drawing.decisions


@pytest.mark.parametrize("tag", ["current_datetime", "system_reminder", "tools_changed_notice"])
def test_what_copilot_tells_the_model_beside_a_prompt_is_not_the_users(tag):
    assert "Fix the cart" == of_the_user(f"Fix the cart\n\n<{tag}>2025-12-02T08:26:25.627Z</{tag}>")


@pytest.mark.parametrize("prompt", [_SETUP.partition("## My")[0], "<ide_opened_file> is what I ask about", _SETUP])
def test_a_prompt_that_only_begins_like_an_editors_text_is_the_users(prompt):
    assert prompt.strip() == of_the_user(prompt)


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


# ------------------------------------------------------------------------------------------------ how calls ended

TEST = "pytest tests/test_cart.py"
EDIT = ("Edit", {"file_path": "/shop/cart.py"})
COMMIT = ("Bash", {"command": "git commit -am 'Round once'"})
FAILS, PASSES = (("Bash", {"command": TEST}), "1 failed", True), (("Bash", {"command": TEST}), "3 passed", False)
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def _claude_code(path, calls):
    """Write a session that makes these calls; an answer of None never came."""
    blocks = []
    for at, ((name, arguments), answer, is_error) in enumerate(calls):
        blocks.append(("assistant", {"type": "tool_use", "id": f"c{at}", "name": name, "input": arguments}))
        ended = {"type": "tool_result", "tool_use_id": f"c{at}", "content": answer, "is_error": is_error}
        blocks += [("user", ended)] if answer is not None else []
    lines = [("user", {"type": "text", "text": "Fix the rounding"}), *blocks]
    records = ({"type": role, "message": {"role": role, "content": [block]}} for role, block in lines)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    drawn = draw(_steps("claude-code", path))
    assert drawn
    return drawn.summary


@pytest.mark.parametrize(
    ("calls", "summary"),
    [
        ([(EDIT, "The file has been updated.", False)], "Changed cart.py."),
        ([(EDIT, None, False)], "Changed cart.py."),
        ([(EDIT, "<tool_use_error>String to replace not found in file.</tool_use_error>", True)], ""),
        ([(EDIT, REFUSAL, True)], ""),
        ([(EDIT, "The file has been updated.", False), (EDIT, REFUSAL, True)], "Changed cart.py."),
        ([(COMMIT, "[main 1a2b3c4] Round once", False)], "Committed “Round once”."),
        ([(COMMIT, "ruff....Failed\n- exit code: 1", True)], ""),
        ([(COMMIT, "[main 1a2b3c4] Round once\nerror: failed to push some refs", True)], "Committed “Round once”."),
        ([(COMMIT, REFUSAL, True)], ""),
        ([(COMMIT, "On branch main\nnothing to commit, working tree clean", False)], ""),
    ],
)
def test_what_a_call_did_not_do_is_not_told(calls, summary, tmp_path):
    assert summary == _claude_code(tmp_path / "t.jsonl", calls)


@pytest.mark.parametrize(
    ("last", "passed"),
    [
        ([PASSES], True),
        ([(PASSES[0], None, False)], False),
        ([(PASSES[0], "[Request interrupted by user for tool use]", True)], False),
        ([(PASSES[0], REFUSAL, True)], False),
        ([(PASSES[0], "Command running in background with ID: b1", False)], False),
        (
            [
                (PASSES[0], "Command running in background with ID: b1", False),
                (("BashOutput", {"bash_id": "b1"}), "<status>completed</status>\n3 passed", False),
            ],
            True,
        ),
    ],
)
def test_a_test_passed_when_it_has_ended_well(last, passed, tmp_path):
    edited = (EDIT, "The file has been updated.", False)

    summary = _claude_code(tmp_path / "t.jsonl", [FAILS, edited, *last])

    assert f"Changed cart.py.{f' `{TEST}` failed, then passed.' if passed else ''}" == summary


def test_a_test_that_was_refused_has_not_failed(tmp_path):
    assert "" == _claude_code(tmp_path / "t.jsonl", [(FAILS[0], REFUSAL, True), PASSES])


def test_codexs_long_test_ends_when_it_is_looked_at_again(tmp_path):
    command = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": TEST})}
    looks = {"type": "function_call", "name": "write_stdin", "arguments": json.dumps({"session_id": 7, "chars": ""})}
    runs, failed = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n", "Process exited with code 1"
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix the rounding"}]}
    lines: list[dict[str, Any]] = [said]
    for call, (called, answer) in enumerate([(command, runs), (looks, runs), (looks, failed), (command, runs)]):
        lines += [called | {"call_id": f"c{call}"}]
        lines += [{"type": "function_call_output", "call_id": f"c{call}", "output": answer}]
    path = tmp_path / "rollout-x.jsonl"
    path.write_text("".join(json.dumps({"type": "response_item", "payload": line}) + "\n" for line in lines))

    steps = _steps("codex", path)

    assert [TEST] == _of(steps, "failed")
    assert [] == _of(steps, "passed")


def _scripts(tmp_path, *calls):
    """The steps of a rollout whose model calls its tools from scripts: each a script and what it printed."""
    lines: list[dict[str, Any]] = []
    for number, (script, printed) in enumerate(calls):
        name = "exec" if script.startswith(("const", "await", "text")) else "wait"
        called = {"type": "custom_tool_call", "name": name, "input": script}
        if name == "wait":
            called = {"type": "function_call", "name": name, "arguments": script}
        output = [{"type": "input_text", "text": text} for text in ("Script completed\nOutput:\n", printed)]
        output = output if printed[:7] != "Script " else output[1:]
        lines += [called | {"call_id": f"c{number}"}]
        lines += [{"type": "custom_tool_call_output", "call_id": f"c{number}", "output": output}]
    path = tmp_path / "rollout-x.jsonl"
    path.write_text("".join(json.dumps({"type": "response_item", "payload": line}) + "\n" for line in lines))
    return _steps("codex", path)


@pytest.mark.parametrize(
    "literal",
    [r'"git commit -m \"Round \u0068alf even\""', r"'git commit -m \"Round half even\"'",
     '`git commit -m "Round half even"`', 'String.raw`git commit -m "Round half even"`'],
    ids=["double", "single", "template", "raw"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["{{cmd:{},yield_time_ms:1}}", '{{"cmd": {}, "workdir":"/home/ada/shop"}}'])
def test_a_command_of_a_script_of_codex_is_a_command(form, literal, tmp_path):
    script = f"const r = await tools.exec_command({form.format(literal)});\nif (a > 0 && b >= 2) text(r.output);\n"

    steps = _scripts(tmp_path, (script, "done"))

    assert ['git commit -m "Round half even"'] == _of(steps, "command") == _of(steps, "passed")
    assert [] == _of(steps, "file")


def test_a_patch_of_a_script_of_codex_changes_its_files(tmp_path):
    patch = r'const patch = "*** Begin Patch\n*** Update File: cart.py\n@@\n-a\n+\"b\"\n*** Add File: tax.py\n+c\n"; '
    failed = "Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\napply_patch verification failed: no lines"

    done = _scripts(tmp_path, (patch + "text(await tools.apply_patch(patch));", "{}"))
    refused = _scripts(tmp_path, (patch + "text(await tools.apply_patch(patch));", failed))

    assert ["cart.py", "tax.py"] == _of(done, "file") == _of(refused, "undone")
    assert [] == _of(done, "undone")


def test_a_plan_of_a_script_of_codex_is_its_list_of_to_dos(tmp_path):
    plan = 'plan:[{step:"Round",status:"completed"},{"step":"Test","status":"pending"}]'

    assert ["Test"] == _of(_scripts(tmp_path, (f"await tools.update_plan({{{plan}}});", "{}")), "todos")


def test_a_long_test_of_a_script_of_codex_ends_when_it_is_looked_at_again(tmp_path):
    runs = '{"chunk_id":"a","wall_time_seconds":1.0,"session_id":7,"output":"…"}'
    looks = 'const r = await tools.write_stdin({session_id:7,chars:""}); text(JSON.stringify(r));'

    steps = _scripts(
        tmp_path,
        (f'const r = await tools.exec_command({{cmd:"{TEST}"}}); text(JSON.stringify(r));', runs),
        (looks, "Script running with cell ID 9\nWall time 11.0 seconds\nOutput:\n"),
        ('{"cell_id":"9"}', '{"chunk_id":"b","wall_time_seconds":1.0,"exit_code":1,"output":"1 failed"}'),
    )

    assert [TEST] == _of(steps, "command") == _of(steps, "failed")
    assert [] == _of(steps, "passed")


def test_which_of_several_commands_of_a_script_of_codex_passed_is_not_known(tmp_path):
    script = f'const rs = await Promise.all(["ls", "{TEST}"].map(cmd => tools.exec_command({{cmd}})));'
    both = f'await Promise.all([tools.exec_command({{cmd:"{TEST}"}}), tools.exec_command({{cmd:"make"}})]);'

    assert [] == _scripts(tmp_path, (script, "1 failed"))
    assert [Step("command", TEST), Step("command", "make")] == _scripts(tmp_path, (both, "1 failed"))


def test_what_codex_puts_around_a_picture_is_not_the_users(tmp_path):
    parts = ["The <image> of the legend is cut", "<image name=[Image #1]>", "</image>"]
    content = [{"type": "input_text", "text": text} for text in parts]
    content.insert(2, {"type": "input_image", "image_url": "data:image/png;base64,iVBO"})
    line = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}
    path = tmp_path / "rollout-x.jsonl"
    path.write_text(json.dumps(line) + "\n")

    assert ["The <image> of the legend is cut"] == _of(_steps("codex", path), "prompt")


@pytest.mark.parametrize(
    ("session", "left"),
    [("ab", "ab"), ("ab1", "a"), ("ab1c", "ac"), ("ab1cd3e", "e"), ("ab1cd2e", "ae"), ("abc11d", "ad"), ("a1", ""), ("a9b", "b"), ("ab0c", "abc")],
)  # fmt: skip
def test_of_turns_that_codex_rolled_back_only_the_changes_are_left(session, left, tmp_path):
    lines: list[tuple[str, dict[str, Any]]] = []
    for sign in session:
        patch = f"*** Begin Patch\n*** Update File: {sign}.py\n*** End Patch"
        turn: list[dict[str, Any]] = [
            {"type": "message", "role": role, "content": [{"type": "input_text", "text": sign}]}
            for role in ("user", "assistant")
        ]
        turn += [{"type": "custom_tool_call", "name": "apply_patch", "input": patch}]
        if sign.isdigit():
            lines.append(("event_msg", {"type": "thread_rolled_back", "num_turns": int(sign)}))
        else:
            lines += [("response_item", line) for line in turn]
    path = tmp_path / "rollout-x.jsonl"
    path.write_text("".join(json.dumps({"type": kind, "payload": payload}) + "\n" for kind, payload in lines))

    steps = _steps("codex", path)

    assert [*left] == _of(steps, "prompt") == _of(steps, "reply")
    assert [f"{sign}.py" for sign in session if sign.isalpha()] == _of(steps, "file")


def test_what_copilot_says_by_completing_its_task_is_its_answer(tmp_path):
    lines = [
        {"type": "user.message", "data": {"content": "Fix the cart"}},
        {"type": "assistant.message", "data": {"content": ""}},
        {"type": "session.task_complete", "data": {"summary": "The cart is fixed.", "success": True}},
        {"type": "user.message", "data": {"content": "", "transformedContent": "You have not yet marked the task"}},
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    steps = _steps("copilot", tmp_path / "events.jsonl")

    assert [Step("prompt", "Fix the cart"), Step("reply", "The cart is fixed.")] == steps


# ------------------------------------------------------------------------------------------------ titles

SESSION = "5f0c0000-0000-4000-8000-000000000000"
OTHER = "0ther000-0000-4000-8000-000000000000"


def _titles(tmp_path, *records):
    """The titles of a session of Claude Code with these records around its one message."""
    said = {
        "type": "user",
        "uuid": "u1",
        "sessionId": SESSION,
        "message": {"role": "user", "content": "Fix the totals"},
    }
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (*records, said, *records)))
    return _of(_steps("claude-code", path), "title")


@pytest.mark.parametrize(
    "record",
    [
        {"type": "summary", "summary": "Another's", "leafUuid": "0ther"},
        {"type": "summary", "summary": "Another's"},
        {"type": "ai-title", "aiTitle": "Another's", "sessionId": OTHER},
        {"type": "custom-title", "customTitle": "Another's", "sessionId": OTHER},
        {"type": "custom-title", "customTitle": "Nobody's"},
    ],
)
def test_the_title_of_another_session_is_not_this_ones(record, tmp_path):
    assert [] == _titles(tmp_path, record)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "summary", "summary": "Own", "leafUuid": "u1"},
        {"type": "ai-title", "aiTitle": "Own", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "Own", "sessionId": SESSION},
    ],
)
def test_a_title_of_this_session_is_its_title(record, tmp_path):
    assert ["Own"] == _titles(tmp_path, record)


def test_a_title_that_a_person_gave_counts_before_those_of_the_host(tmp_path):
    given = {"type": "custom-title", "customTitle": "Mine", "sessionId": SESSION}
    made = {"type": "ai-title", "aiTitle": "Made", "sessionId": SESSION}

    assert ["Mine"] == _titles(tmp_path, given, made)
    assert ["Made"] == _titles(tmp_path, made, {"type": "summary", "summary": "Old", "leafUuid": "u1"})


@pytest.mark.parametrize(("thread", "titles"), [("t1", ["Totals"]), (None, ["Totals"]), ("t2", [])])
def test_a_thread_of_codex_has_its_own_name_only(thread, titles, tmp_path):
    name = {"type": "thread_name_updated", "thread_name": "Totals"} | ({"thread_id": thread} if thread else {})
    lines = [{"type": "session_meta", "payload": {"id": "t1"}}, {"type": "event_msg", "payload": name}]
    (tmp_path / "rollout-t1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert titles == _of(_steps("codex", tmp_path / "rollout-t1.jsonl"), "title")


@pytest.mark.parametrize("tag", ["subagent_notification", "user_action"])
def test_what_a_helper_of_codex_reports_is_no_prompt_of_the_user(tag, tmp_path):
    words = ("Look everywhere", f"<{tag}>\n{{}}\n</{tag}>")
    said = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]} for text in words]
    lines = [{"type": "response_item", "payload": message} for message in said]
    (tmp_path / "rollout-t1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert ["Look everywhere"] == _of(_steps("codex", tmp_path / "rollout-t1.jsonl"), "prompt")


# ------------------------------------------------------------------------------------------------ Cline


def _cline(place, content, *, name, **head):
    tool = {"type": "tool_use", "id": "1", "name": "run_commands", "input": {"commands": ["make test"]}}
    wrote = {"type": "tool_use", "id": "2", "name": "write_to_file", "input": {"path": "cart.py", "content": "x"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "no rule", "is_error": True}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": text} for text in content], "ts": 1795432792377},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}, tool, wrote], "ts": 1795432795445},
        {"role": "user", "content": [result]},
    ]
    (place / "1795432783720_v").mkdir()
    path = place / "1795432783720_v" / name
    path.write_text(json.dumps({"messages": messages} if head else messages))
    if head:
        path.with_name("1795432783720_v.json").write_text(json.dumps(head))
    return path


@pytest.mark.parametrize("is_of_command_line", [True, False])
def test_a_task_of_cline_is_read_from_its_command_line_and_from_its_extension(tmp_path, is_of_command_line):
    if is_of_command_line:
        said = ('<user_input mode="act">Fix the cart.</user_input>',)
        head = {"session_id": "s-1", "cwd": "/home/ada/shop", "model": "m"}
        path = _cline(tmp_path, said, name="1795432783720_v.messages.json", **head)
    else:
        about = "<environment_details>\n# Current Workspace Directory (/home/ada/shop) Files\n</environment_details>"
        path = _cline(tmp_path, ("<task>\nFix the cart.\n</task>", about), name="api_conversation_history.json")
    session = part("cline", "past").past_session(path, [])
    steps = _steps("cline", path)

    assert ("s-1" if is_of_command_line else "1795432783720_v", "/home/ada/shop") == (
        session.conversation,
        session.where,
    )
    assert ("2026-11-23T11:19:43.720000Z", "2026-11-23T11:19:55.445000Z") == (session.started, session.ended)
    assert [["Fix the cart."], ["Done."]] == [_of(steps, kind) for kind in ("prompt", "reply")]
    assert [["make test"], ["make test"], ["cart.py"]] == [_of(steps, kind) for kind in ("command", "failed", "file")]
    assert [path] == find_transcripts("cline", tmp_path)


def _task(tmp_path, *messages):
    """The steps of a task of Cline's extension, of the texts and calls of its messages, the user's first."""
    roles = ("user", "assistant") * len(messages)
    blocks = [[{"type": "text", "text": part} if isinstance(part, str) else part for part in one] for one in messages]
    said = [{"role": role, "content": content} for role, content in zip(roles, blocks, strict=False)]
    (tmp_path / "api_conversation_history.json").write_text(json.dumps(said))
    return _steps("cline", tmp_path / "api_conversation_history.json")


_PLAN = "- [x] Round\n- [ ] Show the tax"


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize(
    ("tool", "field"),
    [("attempt_completion", "result"), ("plan_mode_respond", "response"), ("ask_followup_question", "question")],
)
def test_what_clines_agent_says_by_a_tool_is_its_answer(is_native, tool, field, tmp_path):
    call: Any = {
        "type": "tool_use",
        "id": "1",
        "name": tool,
        "input": {field: "The cart is fixed.", "task_progress": _PLAN},
    }
    if not is_native:
        call = f"<thinking>It is off.</thinking>\n\n<{tool}>\n<{field}>\nThe cart is fixed.\n</{field}>\n<task_progress>\n{_PLAN}\n</task_progress>\n</{tool}>"
    feedback = f"[{tool}] Result:\nThe user has provided feedback:\n<feedback>\nAnd the tax?\n</feedback>"

    steps = _task(tmp_path, ["<task>\nFix the cart\n</task>"], [call], [feedback])

    assert [["Fix the cart", "And the tax?"], ["The cart is fixed."]] == [
        _of(steps, kind) for kind in ("prompt", "reply")
    ]
    assert ["Show the tax"] == _of(steps, "todos")


def test_an_answer_of_clines_agent_that_is_no_text_is_passed_over(tmp_path):
    calls = [
        {"type": "tool_use", "name": "attempt_completion", "input": given} for given in ({"result": 7}, {}, [1], 7)
    ]

    assert ["Fix the cart"] == [step.text for step in _task(tmp_path, ["<task>Fix the cart</task>"], calls)]


def test_a_call_in_the_words_of_clines_agent_is_what_it_did(tmp_path):
    wrote = "<write_to_file>\n<path>cart.py</path>\n<content>\n<path>no.py</path>\n</content>\n</write_to_file>"
    ran = "<execute_command>\n<command>make test</command>\n<requires_approval>false</requires_approval>\n</execute_command>"
    lists = "<update_todo_list>\n<todos>\n[x] Round\n[-] Show the tax\n[ ] Ship\n</todos>\n</update_todo_list>"

    steps = _task(tmp_path, ["<task>x</task>"], [f"I fix the cart.\n\n{wrote}"], [], [ran], [], [lists])

    assert [["I fix the cart."], ["cart.py"], ["make test"]] == [
        _of(steps, kind) for kind in ("reply", "file", "command")
    ]
    assert ["Show the tax\nShip"] == _of(steps, "todos")


@pytest.mark.parametrize("parts", [1, 2])
def test_what_a_tool_of_cline_printed_is_no_prompt_and_what_a_person_says_of_it_is(parts, tmp_path):
    head, page = "[read_file for 'a.html'] Result:", "<task>Add milk</task>\n<answer>42</answer>"
    refusal = "The user denied this operation and provided the following feedback:\n<feedback>\nNot there\n</feedback>"
    printed = [[f"{head}\n{text}"] if parts == 1 else [head, text] for text in (page, refusal)]

    steps = _task(tmp_path, ["<task>Read it</task>"], ["Done."], printed[0], ["Done."], printed[1])

    assert ["Read it", "Not there"] == _of(steps, "prompt")


def test_a_file_of_cline_that_is_none_is_named(tmp_path):
    (tmp_path / "x.messages.json").write_text("{}")
    damaged: list[int] = []

    assert part("cline", "past").past_session(tmp_path / "x.messages.json", damaged) is None
    assert [1] == damaged


# ------------------------------------------------------------------------------------------------ what failed


def test_a_command_that_failed_is_told_by_every_host(tmp_path):
    blocks = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make test"}}]
    failed = [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}]
    call = {"type": "function_call", "call_id": "t1", "name": "shell", "arguments": {"command": "make test"}}
    output = {"type": "function_call_output", "call_id": "t1", "output": "Process exited with code 2\nno"}
    started = {"toolCallId": "t1", "toolName": "bash", "arguments": {"command": "make test"}}
    run = {"id": "t1", "name": "run_shell_command", "args": {"command": "make test"}, "status": "error"}
    answer = {"id": "t1", "name": "run_shell_command", "response": {"output": "Directory: /\nExit Code: 2"}}
    told: dict[str, list[dict[str, object]]] = {
        "claude-code": [{"type": "assistant", "message": {"content": blocks}}, {"type": "user", "message": {"content": failed}}],
        "codex": [{"type": "response_item", "payload": call}, {"type": "response_item", "payload": output}],
        "copilot": [{"type": "tool.execution_start", "data": started},
                    {"type": "tool.execution_complete", "data": {"toolCallId": "t1", "success": False}}],
        "gemini": [{"id": "m1", "type": "gemini", "content": "", "toolCalls": [run]}],
        "qwen-code": [{"type": "assistant", "message": {"parts": [{"functionCall": run}]}},
                      {"type": "tool_result", "message": {"parts": [{"functionResponse": answer}]}}],
    }  # fmt: skip
    for agent, lines in told.items():
        path = tmp_path / f"{agent}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

        assert [Step("command", "make test"), Step("failed", "make test")] == _steps(agent, path)[:2]


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("afterShellExecution", {"output": "nothing to commit, working tree clean\n"}),
        ("postToolUse", {"tool_output": '{"output":"hook: style","exitCode":1}'}),
        ("postToolUse", {"toolResult": {"textResultForLlm": "hook: style\n<exited with exit code 1>"}}),
        ("PostToolUse", {"tool_result": {"text_result_for_llm": "hook: style\n<exited with exit code 1>"}}),
        ("AfterTool", {"tool_response": {"llmContent": "hook: style\nExit Code: 1"}}),
    ],
)
def test_a_commit_that_failed_in_a_hooks_call_is_not_told(name, payload):
    command = {"command": COMMIT[1]["command"], "tool_name": "Shell", "tool_input": COMMIT[1]}
    event = {"type": "host_event", "conversation_id": "s1", "name": name, "payload": {**command, **payload}}
    steps = list(read.logged_steps([from_fields(event)]))

    assert "command" == steps[0].kind
    assert Step("undone", "Round once") == steps[-1]


@pytest.mark.parametrize(
    "output",
    [
        'exec_command failed for `make`: SandboxDenied { message: "not permitted" }',
        "Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nTypeError",
    ],
)
def test_a_command_that_codex_did_not_run_neither_failed_nor_passed(output, tmp_path):
    call = {"type": "function_call", "call_id": "t1", "name": "exec_command", "arguments": {"cmd": TEST}}
    lines = [call, {"type": "function_call_output", "call_id": "t1", "output": output}]
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps({"type": "response_item", "payload": item}) + "\n" for item in lines)
    )

    assert [Step("command", TEST)] == _steps("codex", tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("output", "has_failed"),
    [
        ("Process exited with code 2\n" + "a line\n" * 1000, True),
        ("Process exited with code 0\n" + "a line\n" * 1000, False),
        ("Command: /bin/sh -lc '" + "make all\n" * 40 + "'\nChunk ID: 7\nProcess exited with code 1\nFAIL", True),
        ("Command: make\nChunk ID: 7\nProcess exited with code 0\nok", False),
        ('{"output":"no","metadata":{"exit_code":1,"duration_seconds":2.1}}', True),
        ('{"output":"yes","metadata":{"exit_code":0,"duration_seconds":2.1}}', False),
        ({"content": "Exit Code: (none)", "success": True}, False),
        (["12 passed", {"type": "input_text", "text": "3 failed"}], True),
    ],
)
def test_a_failure_is_known_by_the_exit_code_at_either_end_of_an_output(tmp_path, output, has_failed):
    call = {
        "type": "function_call",
        "call_id": "t1",
        "name": "shell",
        "arguments": {"command": "make"},
        "status": "completed",
    }
    answer = {"type": "function_call_output", "call_id": "t1", "output": output}
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"type": "response_item", "payload": item}) + "\n" for item in (call, answer)))

    assert (["make"] if has_failed else []) == _of(_steps("codex", path), "failed")
