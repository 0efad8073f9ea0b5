"""What a person types while Claude Code works on a turn is a request, once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from eventlog.hosts.claude.past import steps

if TYPE_CHECKING:
    from pathlib import Path

HALF = "Round half even"


def said(role: str, text: str, uuid: str, parent: str) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "message": message}


def attached(text: str, uuid: str, parent: str, mode: str = "prompt", origin: str = "human") -> dict[str, Any]:
    queued = {"type": "queued_command", "prompt": text, "commandMode": mode, "origin": {"kind": origin}}
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "attachment": queued}


def queue(operation: str, text: str = "") -> dict[str, Any]:
    return {"type": "queue-operation", "operation": operation, "sessionId": "s1"} | ({"content": text} if text else {})


def prompts(folder: Path, *records: dict[str, Any]) -> list[str]:
    file = folder / "s1.jsonl"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return [step.text for step in steps(file) if step.kind == "prompt"]


@pytest.mark.parametrize(
    ("mode", "origin", "taken"),
    [("prompt", "human", [HALF]), ("prompt", "peer", []), ("task-notification", "human", [])],
)
def test_only_what_a_person_typed_during_a_turn_is_a_prompt(
    tmp_path: Path, mode: str, origin: str, taken: list[str]
) -> None:
    assert taken == prompts(tmp_path, attached(HALF, "q1", "", mode, origin))


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        (
            (
                "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
                "<command-args>the cart</command-args>"
            ),
            ["/review the cart"],
        ),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>", ["/review"]),
        ("<command-name>/model</command-name>\n<command-message>model</command-message>", []),
    ],
)
def test_a_command_of_a_persons_own_is_a_prompt_and_one_of_the_host_is_none(
    tmp_path: Path, typed: str, taken: list[str]
) -> None:
    assert taken == prompts(tmp_path, said("user", typed, "u1", ""))


@pytest.mark.parametrize(
    ("operations", "taken"),
    [
        ([queue("enqueue", HALF), queue("remove")], [HALF]),
        ([queue("enqueue", HALF), queue("remove", HALF)], [HALF]),
        ([queue("enqueue", HALF), queue("remove"), attached(HALF, "q1", "a1")], [HALF]),
        ([queue("enqueue", HALF), queue("remove"), said("user", HALF, "u2", "a1")], [HALF]),
        ([queue("enqueue", HALF), queue("dequeue"), said("user", HALF, "u2", "a1")], [HALF]),
        ([attached(HALF, "q1", "a1"), said("user", HALF, "u2", "q1")], [HALF]),
        ([queue("enqueue", "Show tax"), queue("enqueue", HALF), queue("remove", HALF)], [HALF]),
        ([queue("enqueue", HALF), queue("popAll", HALF)], []),
        ([queue("enqueue", HALF), queue("popAll"), queue("remove")], []),
        ([queue("enqueue", "<task-notification>\n<task-id>a</task-id>\n</task-notification>"), queue("remove")], []),
        ([queue("enqueue", '{"task_id":"a1","description":"Look","task_type":"local_agent"}'), queue("remove")], []),
        ([queue("enqueue", '{"total": 1.005} is off'), queue("remove")], ['{"total": 1.005} is off']),
        ([queue("enqueue", "<agent-notification>\nRead it.\n</agent-notification>"), queue("remove")], []),
        ([said("user", "Operation stopped by hook: Warning: totals are off", "u2", "a1")], []),
        ([said("user", "This session is being continued from a previous conversation. Totals", "u2", "a1")], []),
        ([attached(HALF, "q1", "a1"), said("user", "Show tax", "u2", "a1")], ["Show tax"]),  # rewound
    ],
)
def test_what_a_turn_took_in_is_a_prompt_once(
    tmp_path: Path, operations: list[dict[str, Any]], taken: list[str]
) -> None:
    before = [said("user", "Fix totals", "u1", ""), said("assistant", "I look.", "a1", "u1")]

    assert ["Fix totals", *taken] == prompts(tmp_path, *before, *operations)
