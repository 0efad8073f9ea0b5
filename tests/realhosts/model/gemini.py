"""Gemini generateContent, as Gemini CLI speaks it."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.realhosts.model.script import Answer, Run, Use
from tests.realhosts.model.talk import JSON, Message, Talk, names, text_of

SHELL = "run_shell_command"
_EXAMPLES: dict[str, Any] = {"number": 1, "integer": 1, "boolean": False, "array": [], "object": {}}


def read(body: JSON) -> Talk:
    """The conversation of a request."""
    messages = [message for content in body.get("contents", []) for message in _messages(content)]
    system = Message("system", text_of((body.get("systemInstruction") or {}).get("parts")))
    functions = [function for tool in body.get("tools") or () for function in tool.get("functionDeclarations", ())]
    return Talk((system, *messages), names(functions))


def write(body: JSON, talk: Talk, answer: Answer, tokens: int) -> list[JSON]:
    """One response: a list of one where it is a stream."""
    content = {"role": "model", "parts": [_part(body, talk, answer)]}
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    head = {"modelVersion": "fake", "responseId": uuid4().hex}
    return [{**head, "candidates": [candidate], "usageMetadata": usage}]


def _messages(content: JSON) -> Iterator[Message]:
    """The parts of one turn: what functions answered apart, texts together, for a prompt may be several."""
    parts = content.get("parts", [])
    for part in parts:
        if "functionResponse" in part:
            yield Message("tool", json.dumps(part["functionResponse"].get("response")))
    if text := text_of(parts):
        yield Message("assistant" if content.get("role") == "model" else "user", text)


def _part(body: JSON, talk: Talk, answer: Answer) -> JSON:
    config = body.get("generationConfig") or {}
    if schema := config.get("responseJsonSchema") or config.get("responseSchema"):
        return {"text": json.dumps(_example(schema))}
    if isinstance(answer, Run):
        return {"functionCall": {"name": SHELL, "args": {"command": answer.command, "description": "Run it"}}}
    if isinstance(answer, Use):
        return {"functionCall": {"name": answer.tool, "args": answer.arguments}}
    return {"text": answer.text}


def _example(schema: JSON) -> JSON:
    """Anything of that shape: the host asks small questions of its own, such as which model to use."""
    fields = schema.get("properties", {})
    return {
        name: (field.get("enum") or [_EXAMPLES.get(str(field.get("type")).lower(), "x")])[0]
        for name, field in fields.items()
    }
