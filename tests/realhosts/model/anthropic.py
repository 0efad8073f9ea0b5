"""Anthropic Messages, as Claude Code speaks them."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.realhosts.model.script import Answer, Run, Use
from tests.realhosts.model.talk import JSON, Message, Talk, names, text_of

SHELL = "Bash"
_REMINDER = "<system-reminder>"
_LOADED = "Tool loaded."  # said after a search for tools
_STOP_HOOK = f"{_REMINDER}\nStop hook"  # what a hook wants at the end of a turn is the next thing to do


def read(body: JSON) -> Talk:
    """The conversation of a request."""
    messages = [message for entry in body.get("messages", []) for message in _messages(entry)]
    system = Message("system", text_of(body.get("system")))
    return Talk((system, *messages), names(body.get("tools") or ()))


def write(body: JSON, talk: Talk, answer: Answer, tokens: int) -> JSON | list[JSON]:
    """One message: a list of events where the request streams."""
    block, stop = _block(answer)
    message = {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens, "output_tokens": 10},
    }
    return list(_events(message, block)) if body.get("stream") else message


def _messages(entry: JSON) -> Iterator[Message]:
    """A user's entry holds prompts, what tools answered, and reminders of the host, as blocks."""
    content = entry.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        text = text_of(block)
        if block.get("type") == "tool_result":
            yield Message("tool", text)
        elif text:
            is_reminder = text.strip() == _LOADED or (
                text.lstrip().startswith(_REMINDER) and not text.lstrip().startswith(_STOP_HOOK)
            )
            yield Message("system" if is_reminder else entry["role"], text)


def _block(answer: Answer) -> tuple[JSON, str]:
    if isinstance(answer, Run):
        return _call(SHELL, {"command": answer.command, "description": "Run it"}), "tool_use"
    if isinstance(answer, Use):
        return _call(answer.tool, answer.arguments), "tool_use"
    return {"type": "text", "text": answer.text}, "end_turn"


def _call(tool: str, arguments: JSON) -> JSON:
    return {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": tool, "input": arguments}


def _events(message: JSON, block: JSON) -> Iterator[JSON]:
    empty, delta = _parts(block)
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 10}}
    yield {"type": "message_stop"}


def _parts(block: JSON) -> tuple[JSON, dict[str, Any]]:
    """A block without its content, and its content."""
    if block["type"] == "tool_use":
        return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
