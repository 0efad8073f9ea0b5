"""Codex CLI: `rollout-<time>-<thread>.jsonl`, lines of `{timestamp, type, payload}`.

The same words may stand twice, as `response_item` and as `event_msg`; the items are the conversation. Each subagent
has a rollout of its own.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eventlog.hosts.steps import Step, dig, records, text_of
from eventlog.hosts.tools import from_tool

_NOT_THE_USER = ("<environment_context>", "<user_instructions>", "<permissions", "<turn_aborted>", "<skill",
                 "# AGENTS.md", "<INSTRUCTIONS>")  # fmt: skip


def steps(path: Path) -> Iterator[Step]:
    """The steps of a rollout; raises OSError."""
    for record in records(path):
        payload = record.get("payload")
        if record.get("type") == "response_item":
            yield from _item(payload)
        elif record.get("type") == "event_msg" and dig(payload, "type") == "thread_name_updated":
            yield from (Step("title", name) for name in [dig(payload, "thread_name")] if isinstance(name, str))


def _item(payload: Any) -> Iterator[Step]:
    match dig(payload, "type"):
        case "message":
            said = text_of(dig(payload, "content"))
            if dig(payload, "role") == "assistant" and said:
                yield Step("reply", said)
            elif dig(payload, "role") == "user" and said and not said.startswith(_NOT_THE_USER):
                yield Step("prompt", said)
        case "function_call":
            yield from from_tool(str(dig(payload, "name")), dig(payload, "arguments"))
        case "custom_tool_call":
            yield from from_tool(str(dig(payload, "name")), dig(payload, "input"))
        case "local_shell_call":
            yield from from_tool("shell", dig(payload, "action"))
