"""What a person types while Claude Code works on a turn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from eventlog.hosts.claude.past import steps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("mode", "origin", "prompts"),
    [("prompt", "human", ["Round half even"]), ("prompt", "peer", []), ("task-notification", "human", [])],
)
def test_only_what_a_person_typed_during_a_turn_is_a_prompt(
    tmp_path: Path, mode: str, origin: str, prompts: list[str]
) -> None:
    queued = {"type": "queued_command", "prompt": "Round half even", "commandMode": mode, "origin": {"kind": origin}}
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps({"type": "attachment", "uuid": "q1", "sessionId": "s1", "attachment": queued}) + "\n")
    assert [step.text for step in steps(file) if step.kind == "prompt"] == prompts
