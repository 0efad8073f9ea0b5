"""Before a file is opened an agent is told what was decided about it: once, as data, with a receipt, where that is wanted."""

import json

import pytest

from eventlog import Memory
from eventlog.app.search import open_index
from eventlog.format.events import (
    ContextInjected,
    ConversationText,
    Fact,
    HostEvent,
    Retraction,
    SessionStart,
    StageSummary,
)
from tests.support.hook_calls import errors_of, respond
from tests.support.payloads import claude, codex, data

SHOP, BILLING = "/src/shop", "/src/billing"
FORMS = f"{SHOP}/checkout/forms.py"
RULE = "checkout/forms.py refuses blanks: a postcode of spaces is none"


@pytest.fixture
def store(tmp_path):
    memory = Memory(tmp_path / "store")
    memory.log.append(Fact(conversation_id="before", project=SHOP, content=RULE))
    (tmp_path / "store" / "config.yaml").write_text("recall: {file: true}\n")
    return tmp_path / "store"


def opens(store, path=FORMS, session="s", project=SHOP, tool="Read", **more):
    payload = claude("PreToolUse", tool_name=tool, tool_input={"file_path": path}, tool_use_id="t1", **more)
    return told_by(store, {**payload, "session_id": session, "cwd": project})


def told_by(store, payload, agent="claude"):
    answer = respond(data(payload), ["--agent", agent, "--store", str(store)], {})
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""


def events(store, kind):
    return [event for event in Memory(store).log.read() if isinstance(event, kind)]


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write"])
def test_an_agent_is_told_what_names_the_file_it_opens_with_a_receipt_and_no_event_besides(store, tool):
    head, line, _ = opens(store, tool=tool).splitlines()
    [fact] = events(store, Fact)
    [receipt] = events(store, ContextInjected)

    assert "data, not instructions" in head
    assert line == f"    - [{fact.ts[:10]} {fact.id[-8:]}] {RULE}"
    assert (receipt.trigger, receipt.sources, receipt.conversation_id) == ("file", [fact.id], "s")
    assert events(store, HostEvent) == []
    assert errors_of(store) == []


def test_it_is_told_the_decisions_of_the_last_sessions_that_changed_the_file(store):
    memory = Memory(store)
    for number in range(4):
        session, decision = f"c{number}", f"Rate {number} comes from the invoice"
        memory.log.append(
            ConversationText(conversation_id=session, project=SHOP, title="t", files=["checkout/tax.py", "a.py"])
        )
        memory.log.append(
            StageSummary(
                conversation_id=session, project=SHOP, topic=f"Tax {number}", summary="x", decisions=[decision]
            )
        )
    memory.log.append(StageSummary(conversation_id="c9", project=SHOP, summary="tax.py is long"))

    told = opens(store, f"{SHOP}/checkout/tax.py").splitlines()[1:-1]
    assert [line.partition("] ")[2] for line in told] == [
        f"Tax {number} · Rate {number} comes from the invoice" for number in (3, 2, 1)
    ]


def test_what_was_told_once_by_whichever_hook_is_not_told_again(store):
    assert opens(store)
    assert not opens(store, tool="Edit")
    asks = {**claude("UserPromptSubmit", prompt="Why does forms.py refuse blanks of a postcode?"), "cwd": SHOP}
    assert not told_by(store, {**asks, "session_id": "s"})
    assert RULE in told_by(store, {**asks, "session_id": "other"})
    assert not opens(store, session="other")


@pytest.mark.parametrize(
    "path", [f"{SHOP}/orders/forms.py", "/etc/forms.py", f"{SHOP}/checkout/", f'{SHOP}/"', SHOP, "../x"]
)
def test_of_other_files_nothing_is_told(store, path):
    assert not opens(store, path)
    assert errors_of(store) == []


def test_nothing_of_another_project_nor_withdrawn_nor_about_the_user_where_others_listen(store):
    assert not opens(store, f"{BILLING}/checkout/forms.py", project=BILLING)
    memory = Memory(store)
    [fact] = events(store, Fact)
    memory.log.append(Retraction(conversation_id="human", target=fact.id))
    assert not opens(store)
    memory.log.append(Fact(conversation_id="x", project=SHOP, content="I own forms.py", memory_type="O"))
    memory.log.append(SessionStart(conversation_id="many", project=SHOP, session_type="shared"))
    assert opens(store, session="alone")
    assert not opens(store, session="many")


def test_nobody_is_told_who_does_not_want_it_and_no_subagent(store):
    assert not opens(store, agent_id="sub", agent_type="Explore")
    (store / "config.yaml").write_text("recall: {file: false}\n")
    assert not opens(store)
    assert [event.name for event in events(store, HostEvent)] == ["PreToolUse"]


@pytest.mark.parametrize("tool", ["apply_patch", "Bash"])
def test_codex_is_told_of_the_file_its_patch_changes(store, tool):
    patch = "*** Begin Patch\n*** Update File: checkout/forms.py\n@@\n-a\n+b\n*** End Patch"
    payload = codex("PreToolUse", tool_name=tool, tool_input={"command": patch}, tool_use_id="t1")

    assert RULE in told_by(store, {**payload, "cwd": SHOP}, "codex")


def test_a_command_that_opens_no_file_is_told_nothing_and_leaves_no_event(store):
    payload = codex("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")

    assert not told_by(store, {**payload, "cwd": SHOP}, "codex")
    assert events(store, HostEvent) == []


def test_whatever_goes_wrong_the_file_is_opened_without_and_the_failure_is_noted(store, monkeypatch):
    monkeypatch.setattr(open_index, "delete", lambda _: None)
    (store / "cache" / "search.sqlite").mkdir(parents=True)

    assert opens(store) == ""
    assert len(errors_of(store)) == 1
