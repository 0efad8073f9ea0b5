"""Of a rollout of Codex, what a person typed is the person's, and what a program asked is a program's."""

import json

import pytest

from eventlog.hosts import part
from eventlog.hosts.call import HookCall
from eventlog.hosts.transcripts.draw import draw
from eventlog.hosts.transcripts.read import of_the_user, read_transcript
from eventlog.hosts.transcripts.steps import Step

PARENT, THREAD = "019d7d08-46c9-7f73-affe-4e6ca9852d56", "019d7e2f-0041-7310-951c-94020254dfc9"
BEFORE, OWN = "019d7d08-f1d2-78a1-ae52-df8e21f9b394", "019d7e2f-006a-78e0-8d88-fc868c230ea4"  # turns
SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
PLUGINS = "<recommended_plugins>\nHere is a list of plugins that are not installed.\n</recommended_plugins>"


def meta(**fields):
    return {"type": "session_meta", "payload": {"id": THREAD, "cwd": "/src/shop", **fields}}


def event(kind, **fields):
    return {"type": "event_msg", "payload": {"type": kind, **fields}}


def said(role, *texts):
    content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text} for text in texts]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


def asked(text):
    return [said("user", text), event("user_message", message=text)]


def task(text):
    head = "Message Type: NEW_TASK\nTask name: /root/brief_audit\nSender: /root\nPayload:\n"
    content = [{"type": "input_text", "text": head + text}, {"type": "encrypted_content", "encrypted_content": "x"}]
    return {"type": "response_item", "payload": {"type": "agent_message", "recipient": "/root/b", "content": content}}


def patched(path):
    patch = f"*** Begin Patch\n*** Update File: {path}\n*** End Patch"
    return {"type": "response_item", "payload": {"type": "custom_tool_call", "name": "apply_patch", "input": patch}}


@pytest.fixture
def read(tmp_path):
    def steps(*lines):
        path = tmp_path / f"rollout-{THREAD}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return list(read_transcript("codex", str(path)))

    return steps


@pytest.mark.parametrize("text", [PLUGINS, '<codex_internal_context source="goal">\nGo on\n</codex_internal_context>'])
def test_what_no_event_says_again_and_begins_with_a_tag_is_the_hosts(text, read):
    tagged = "<b>Total</b> is cut, why?"

    assert [Step("prompt", "Fix it"), Step("prompt", tagged)] == read(
        said("user", text), *asked("Fix it"), *asked(tagged)
    )
    assert [Step("prompt", tagged)] == read(said("user", tagged))  # of a release without these events
    assert [Step("prompt", "Fix it")] == read(said("user", PLUGINS, "<environment_context>", "Fix it"), *asked("-"))[:1]


def test_a_helper_is_told_by_its_own_part_and_not_by_its_parents(read):
    parents = [
        event("task_started", turn_id=BEFORE),
        *asked("Fix the cart"),
        patched("cart.py"),
        said("assistant", "ok"),
    ]
    own = [event("task_started", turn_id=OWN), *asked("Review cart.py"), said("assistant", "It is right.")]
    mine = [Step("task", "Review cart.py"), Step("reply", "It is right.")]

    assert mine == read(meta(source=SPAWNED, forked_from_id=PARENT), meta(id=PARENT), *parents, *own)
    assert mine == read(meta(source=SPAWNED), *own)
    fork = read(meta(source="cli", forked_from_id=PARENT), meta(id=PARENT), *parents, *own)
    assert [Step("prompt", "Fix the cart"), Step("prompt", "Review cart.py")] == [
        step for step in fork if step.kind == "prompt"
    ]


@pytest.mark.parametrize(("sent", "told"), [("Audit the brief", "Audit the brief"), ("", "brief audit")])
def test_the_task_of_a_helper_is_what_its_parent_sent_else_its_name(sent, told, read):
    assert [Step("task", told)] == read(meta(source=SPAWNED), said("user", PLUGINS), task(sent))


@pytest.mark.parametrize(
    ("source", "kind"),
    [("cli", "prompt"), ("vscode", "prompt"), ("mcp", "prompt"), ("exec", "task"), (SPAWNED, "task")],
)
def test_a_run_by_a_program_asks_for_the_program(source, kind, read):
    assert [Step(kind, "Review it")] == read(meta(source=source), *asked("Review it"))


def test_a_review_belongs_to_the_conversation_that_started_it(tmp_path):
    path = tmp_path / f"rollout-{THREAD}.jsonl"
    path.write_text(json.dumps(meta(source={"subagent": "review"}, parent_thread_id=PARENT)) + "\n")
    session = part("codex", "past").past_session(path, [])

    assert (PARENT, THREAD) == (session.conversation, session.subagent)


def test_a_plan_is_a_proposal_and_what_serves_the_host_is_no_word_of_the_agents(read):
    plan = "The brief is clear.\n\n<proposed_plan>\n# Round once\n\nIn the cart\n</proposed_plan>"
    notes = "<oai-mem-citation>\n<citation_entries>\nMEMORY.md:1-4|note=[x y]\n</citation_entries>\n</oai-mem-citation>"
    steps = read(*asked("Plan it"), said("assistant", f'{plan}\n\n::git-push{{cwd="/src"}}\n{notes}'))

    assert [Step("prompt", "Plan it"), Step("reply", "The brief is clear.")] == steps[:2]
    assert [Step("proposal", "# Round once\n\nIn the cart\n")] == steps[2:]


@pytest.mark.parametrize(
    "lead",
    ["PLEASE IMPLEMENT THIS PLAN:\n", "A previous agent produced the plan below to accomplish the task. Go.\n\n"],
)
def test_a_plan_that_was_accepted_is_no_word_of_the_users(lead, read):
    steps = read(
        *asked(f"{lead}# Round once\n\nDecision: keep Decimal"), said("assistant", "Done: the cart rounds once.")
    )
    drawing = draw(steps)

    assert "plan" == steps[0].kind
    assert drawing
    assert (["keep Decimal"], []) == (drawing.decisions, drawing.of_user)
    assert "Round once" in drawing.opening.replace("# ", "")


def test_an_answer_in_json_is_told_by_its_texts(read):
    review = {
        "findings": [{"title": "[P2] Use a real lock", "body": "Two writers lose a token.", "line": 3}],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "The lock of Windows does nothing.",
    }
    told = (
        "patch is incorrect\n\nThe lock of Windows does nothing.\n\n[P2] Use a real lock\n\nTwo writers lose a token."
    )

    for answer in (json.dumps(review), f"```json\n{json.dumps(review, indent=1)}\n```"):
        assert [Step("reply", told)] == read(said("assistant", answer))
    for answer in ('{"ok": true}', "{not JSON}", "[1]", 'It is {"a b": "c d"}'):
        assert [Step("reply", answer)] == read(said("assistant", answer))


@pytest.mark.parametrize(
    "before",
    ["# Files mentioned by the user:\n\n## cart.png: /home/ada/cart.png\n", '<in-app-browser-context source="x">y</in-app-browser-context>\n'],
)  # fmt: skip
def test_what_an_editor_names_before_a_prompt_is_not_the_users(before):
    prompt = f"{before}\n## My request for Codex:\nFix the cart"

    assert "Fix the cart" == of_the_user(prompt)
    assert "Fix the cart" == HookCall("codex", "UserPromptSubmit", {}, session="c").as_prompt(prompt).asked


@pytest.mark.parametrize(("later", "left"), [(0, ["Test it"]), (2, ["Test it"]), (3, []), (5, [])])
def test_a_plan_that_later_turns_left_alone_is_no_list_of_to_dos(later, left, read):
    plan = [{"step": "Round once", "status": "completed"}, {"step": "Test it", "status": "pending"}]
    call = {"type": "function_call", "name": "update_plan", "arguments": json.dumps({"plan": plan}), "call_id": "p"}
    turn = [patched("cart.py"), said("assistant", "The cart rounds once now."), event("task_complete")]
    lines = [*asked("Round once"), {"type": "response_item", "payload": call}, *turn]
    drawing = draw(read(*lines, *[*asked("And the tax?"), *turn] * later))

    assert drawing
    assert (left, later + 1) == (drawing.todos, drawing.turns)
