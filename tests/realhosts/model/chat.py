"""OpenAI chat completions, as Copilot CLI and others speak them with a provider of the user's own."""

import json
import time
from uuid import uuid4

from tests.realhosts.model.script import Answer, Run, Use
from tests.realhosts.model.talk import JSON, Message, Role, Talk, names, text_of

_SHELLS = ("bash", "run_shell_command", "shell")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}


def read(body: JSON) -> Talk:
    """The conversation of a request."""
    entries = body.get("messages", [])
    messages = [Message(_ROLES.get(entry["role"], "system"), text_of(entry.get("content"))) for entry in entries]
    return Talk(tuple(messages), names(body.get("tools") or ()))


def write(body: JSON, talk: Talk, answer: Answer, tokens: int) -> JSON | list[JSON | str]:
    """One completion: a list of chunks where the request streams."""
    message, finish = _message(talk, answer)
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": body.get("model")}
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    if not body.get("stream"):
        choices = [{"index": 0, "message": message, "finish_reason": finish}]
        return {**head, "object": "chat.completion", "choices": choices, "usage": usage}
    head["object"] = "chat.completion.chunk"
    return [
        {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**head, "choices": [], "usage": usage},
        "[DONE]",
    ]


def _message(talk: Talk, answer: Answer) -> tuple[JSON, str]:
    if isinstance(answer, Use):
        return _call(answer.tool, answer.arguments), "tool_calls"
    if not isinstance(answer, Run):
        return {"role": "assistant", "content": answer.text}, "stop"
    shell = next((name for name in _SHELLS if name in talk.tools), "")
    if not shell:
        return {"role": "assistant", "content": f"No shell among {', '.join(talk.tools)}"}, "stop"
    arguments: JSON = {"command": answer.command, "description": "Run it"}
    if shell == "run_shell_command":
        arguments |= {"is_background": False}
    return _call(shell, arguments), "tool_calls"


def _call(tool: str, arguments: JSON) -> JSON:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{uuid4().hex}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
