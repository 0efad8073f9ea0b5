"""After a compaction a session gets back what must not be lost, drawn from its own transcript."""

import json
import subprocess
import sys

import pytest

from eventlog.app.serve.before_compaction import CHARS, before_compaction
from eventlog.projections.context.phrases import PHRASES
from tests.support.context_scene import Scene

PROJECT = "/home/ada/shop"


def user(text, **fields):
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


def ran(command, answer="", *, failed=False, name="Bash"):
    """A command and what it came to, as Claude Code writes it."""
    use = {"type": "tool_use", "id": f"t{command}", "name": name, "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": answer, "is_error": failed}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


def tool(name, **arguments):
    block = {"type": "tool_use", "id": name, "name": name, "input": arguments}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}


def codex(kind, **payload):
    return {"type": "response_item", "payload": {"type": kind, **payload}}


SESSION = [
    user("Make the checkout round half even. Never use floats for money!"),
    tool("Edit", file_path=f"{PROJECT}/cart/total.py", old_string="a", new_string="b"),
    *ran("pytest tests/checkout -x", "Exit code 1\nE assert 3 == 4", failed=True),
    *ran("grep -r total cart"),
    *ran("make reindex && pytest tests/checkout", "12 passed"),
    tool("TodoWrite", todos=[{"content": "Show the rounding", "status": "pending"}, {"content": "x", "status": "completed"}]),
]  # fmt: skip


@pytest.fixture
def drawn(tmp_path):
    def draw(*records, told=(), locale="en", compact=False):
        path = tmp_path / "transcript.jsonl"
        between = (",", ":") if compact else (", ", ": ")
        path.write_text("".join(json.dumps(record, separators=between) + "\n" for record in records), encoding="utf-8")
        return [line.text for line in before_compaction(str(path), PROJECT, PHRASES[locale], told)]

    return draw


def test_the_packet_has_the_request_the_rule_the_failure_what_passed_what_is_open_and_what_changed(drawn):
    assert drawn(*SESSION) == [
        "- Asked first: Make the checkout round half even. Never use floats for money!",
        "- The user said: Never use floats for money",
        "- Failed: `pytest tests/checkout -x`",
        "- Passed after that: `make reindex && pytest tests/checkout`",
        "- [ ] Show the rounding",
        "- Changed last: cart/total.py",
    ]


def test_codex_is_read_too(drawn):
    patch = "*** Begin Patch\n*** Update File: cart/total.py\n*** End Patch"
    call = codex("function_call", name="exec_command", arguments=json.dumps({"cmd": "make test"}), call_id="1")
    told = drawn(
        codex("message", role="user", content=[{"type": "input_text", "text": "Always run `make test`"}]),
        codex("custom_tool_call", name="apply_patch", input=patch, call_id="0"),
        call,
        codex("function_call_output", call_id="1", output="Wall time: 1 s\nProcess exited with code 2\nOutput: no"),
    )

    assert told == [
        "- Asked first: Always run `make test`",
        "- The user said: Always run `make test`",
        "- Failed: `make test`",
        "- Changed last: cart/total.py",
    ]


@pytest.mark.parametrize(
    "rule",
    [
        "不要用浮点数表示金额", "务必先跑测试", "始终用中文回复", "以后提交前先跑 ruff", "提交前一定要跑测试",
        "记得更新文档", "From now on answer in Swahili",
    ],
)  # fmt: skip
def test_what_holds_from_then_on_is_known_in_both_languages(drawn, rule):
    assert f"- The user said: {rule}" in drawn(user(f"Look at the cart. {rule}"))


@pytest.mark.parametrize(
    "said",
    [
        "The total is never right",
        "Fix it",
        "修复这个错误，以后的测试再说",
        "<task-notification>Never stop</task-notification>",
        "Why does it fail?",
        "Implement the following plan:\n\n# Round once\n\nNever trust the cache",
    ],
)
def test_what_only_tells_something_is_no_rule(drawn, said):
    assert not [line for line in drawn(user(said)) if "The user said" in line]


def test_what_tools_machines_and_helpers_say_is_not_the_users(drawn):
    told = drawn(
        *ran("cat notes.md", "Never trust the cache"),
        user("Never ask again", isMeta=True),
        user("Always skip the tests", isSidechain=True),
        user("Never mention this summary", isCompactSummary=True),
    )

    assert told == []


def test_a_command_that_passed_and_is_about_something_else_is_not_told(drawn):
    told = drawn(user("Go on"), *ran("python test_bug.py", failed=True), *ran("python --version"))

    assert told[1:] == ["- Failed: `python test_bug.py`"]


def test_a_command_that_failed_is_told_also_where_it_was_interrupted_before(drawn):
    interrupted = tool("Bash", command="pytest tests/bug")
    told = drawn(user("Go on"), interrupted, *ran("pytest tests/bug", failed=True))

    assert told[1:] == ["- Failed: `pytest tests/bug`"]


def test_the_last_wording_of_a_rule_and_the_last_files_come_first(drawn):
    edits = [tool("Write", file_path=f"{PROJECT}/f{number}.py", content="") for number in range(20)]
    told = drawn(user("Begin"), *edits, tool("Edit", file_path=f"{PROJECT}/f3.py", old_string="", new_string=""))

    assert told[-1] == "- Changed last: f3.py, f19.py, f18.py, f17.py, f16.py, f15.py, f14.py, f13.py"


def test_the_packet_is_short_and_has_no_credential_in_it(drawn):
    rules = [
        user(f"Never touch the table number {number} of the old database, whoever asks. " * 3) for number in range(40)
    ]
    secret = "ghp_" + "Ab3dE6gH9jK2mN5pQ8sT1vW4xY7zAb3dE6gH"
    told = drawn(user(f"Use {secret}"), *rules, *SESSION, told=["x" * 400] * 9)

    assert sum(len(line) + 1 for line in told) <= CHARS
    assert secret not in str(told)


def test_a_rule_from_the_middle_of_a_long_transcript_is_found(drawn):
    noise = [line for number in range(80) for line in ran(f"cat file{number}", "x" * 20_000)]
    told = drawn(user("Begin"), *noise[:20], user("Always write tests first"), *noise[20:], compact=True)

    assert told == ["- Asked first: Begin", "- The user said: Always write tests first"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe\n{}\n", b'{"message":{"content":[7,null,{"input":[]}]}}\n', b"[]\n"]
)
def test_a_damaged_transcript_gives_what_can_be_read(tmp_path, data):
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)

    assert before_compaction(str(path), PROJECT, PHRASES["en"]) == []


# --------------------------------------------------------------------------------------------------------- in a start


def start(scene, transcript, source):
    payload = {"hook_event_name": "SessionStart", "session_id": "now", "cwd": str(scene.project), "source": source,
               "transcript_path": str(transcript)}  # fmt: skip
    command = [sys.executable, "-m", "eventlog", "hook", "claude", "--store", str(scene.log.store.root)]
    done = subprocess.run(command, input=json.dumps(payload), capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.slow
def test_a_start_after_a_compaction_begins_with_it_and_with_what_was_told_at_prompts(tmp_path):
    scene = Scene(tmp_path)
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("".join(json.dumps(record) + "\n" for record in SESSION))
    fact = scene.log.append(scene.event("01 08:00", "old", "fact", content="Refunds go through Stripe"))
    receipt = {"trigger": "prompt", "sources": [fact.id], "digest": "", "chars": 1}
    scene.log.append(scene.event("21 08:00", "now", "context_injected", **receipt))
    text = start(scene, transcript, "compact")

    assert "Passed after that: `make reindex" in text
    assert "Refunds go through Stripe" in text
    assert text.index("Asked first") < text.index("Prices are integers")
    assert "Asked first" not in start(scene, transcript, "resume")


@pytest.mark.slow
def test_what_was_told_and_replaced_since_is_not_told_again_without_an_index(tmp_path):
    scene = Scene(tmp_path)
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("".join(json.dumps(record) + "\n" for record in SESSION))
    old = scene.log.append(scene.event("01 08:00", "old", "fact", content="Refunds go through Stripe", key="refunds"))
    receipt = {"trigger": "prompt", "sources": [old.id], "digest": "", "chars": 1}
    scene.log.append(scene.event("21 08:00", "now", "context_injected", **receipt))
    scene.log.append(scene.event("21 08:01", "other", "fact", content="Refunds go through Adyen", key="refunds"))

    assert "Stripe" not in start(scene, transcript, "compact")
