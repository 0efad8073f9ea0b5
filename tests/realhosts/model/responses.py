"""OpenAI Responses, as Codex CLI speaks them."""

import json
import time
from collections.abc import Iterator
from uuid import uuid4

from tests.realhosts.model.script import Answer, Run, Say, Use
from tests.realhosts.model.talk import JSON, Message, Role, Talk, names, text_of

_OF_THE_HOST = ("<environment_context", "<user_instructions", "# AGENTS.md", "<subagent_notification")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


def read(body: JSON) -> Talk:
    """The conversation of a request."""
    items = body.get("input") or []
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items
    messages = [message for item in items for message in _messages(item)]
    return Talk((Message("system", body.get("instructions") or ""), *messages), names(body.get("tools") or ()))


def write(body: JSON, talk: Talk, answer: Answer, tokens: int) -> JSON | list[JSON]:
    """One response: a list of events where the request streams."""
    item = _item(body, talk, answer)
    usage = {"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    begun = {"id": f"resp_{uuid4().hex}", "object": "response", "created_at": int(time.time()), "status": "in_progress"}
    begun |= {"model": body.get("model"), "output": []}
    done = {**begun, "status": "completed", "output": [item], "usage": usage | details}
    return list(_events(begun, item, done)) if body.get("stream") else done


def _messages(item: JSON) -> Iterator[Message]:
    kind = item.get("type", "message")
    if kind.endswith("_output"):
        output = item.get("output")
        yield Message("tool", output if isinstance(output, str) else json.dumps(output))
    elif kind == "message":
        text = text_of(item.get("content"))
        role = _ROLES.get(item.get("role", "user"), "system")
        yield Message("system" if text.lstrip().startswith(_OF_THE_HOST) else role, text)


def _item(body: JSON, talk: Talk, answer: Answer) -> JSON:
    if isinstance(answer, Run):
        return _call(talk, answer.command)
    if isinstance(answer, Use):
        return _use(body, answer)
    return _message(answer)


def _message(answer: Say) -> JSON:
    content = [{"type": "output_text", "text": answer.text, "annotations": []}]
    return {
        "type": "message",
        "id": f"msg_{uuid4().hex}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _call(talk: Talk, command: str) -> JSON:
    """The shell tool of this version: a function, or a program that calls one."""
    called: JSON = {"call_id": f"call_{uuid4().hex}", "status": "completed"}
    for name, key in (("exec_command", "cmd"), ("shell_command", "command")):
        if name in talk.tools:
            arguments = json.dumps({key: command})
            return called | {"type": "function_call", "id": f"fc_{uuid4().hex}", "name": name, "arguments": arguments}
    if "exec" in talk.tools:
        program = (
            f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(r.output ?? JSON.stringify(r));"
        )
        return called | {"type": "custom_tool_call", "id": f"ctc_{uuid4().hex}", "name": "exec", "input": program}
    return _message(Say(f"No shell among {', '.join(talk.tools)}"))


def _use(body: JSON, answer: Use) -> JSON:
    """A tool: a function of its own, or in the namespace of its server."""
    called: JSON = {"call_id": f"call_{uuid4().hex}", "status": "completed", "id": f"fc_{uuid4().hex}"}
    spaces = [tool["name"] for tool in body.get("tools") or () if answer.tool in names(tool.get("tools") or ())]
    called |= {"namespace": spaces[0]} if spaces else {}
    return called | {"type": "function_call", "name": answer.tool, "arguments": json.dumps(answer.arguments)}


def _events(begun: JSON, item: JSON, done: JSON) -> Iterator[JSON]:
    stream: list[JSON] = [{"type": "response.created", "response": begun}]
    stream.append({"type": "response.output_item.added", "output_index": 0, "item": item | {"status": "in_progress"}})
    if item["type"] == "message":
        place: JSON = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        text = item["content"][0]["text"]
        stream.append({"type": "response.output_text.delta", **place, "delta": text})
    stream.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    stream.append({"type": "response.completed", "response": done})
    yield from ({**event, "sequence_number": at} for at, event in enumerate(stream))
