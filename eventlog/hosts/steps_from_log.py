"""The log itself as a transcript: what hooks recorded of prompts, tools and replies, for hosts without a reader."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from eventlog.events import Event, HostEvent
from eventlog.hosts.steps import Step, dig, from_tool, of_the_user

_PROMPTS = ("userpromptsubmit", "userpromptsubmitted", "beforesubmitprompt", "beforeagent")
_TOOLS = ("posttooluse", "aftertool")
_NOT_THE_USER = ("<task-notification>", "[eventlog]")


def steps(events: Iterable[Event]) -> Iterator[Step]:
    """The steps of a conversation, of its events in order; those of subagents only as far as they changed things."""
    for event in events:
        if isinstance(event, HostEvent):
            yield from _of(event.name.casefold(), event.payload, helper=bool(event.subagent))


def _of(name: str, payload: dict[str, Any], *, helper: bool) -> Iterator[Step]:
    if name in _PROMPTS and not helper:
        prompt = payload.get("prompt")
        said = of_the_user(prompt) if isinstance(prompt, str) else ""
        if said and not said.startswith(_NOT_THE_USER):
            yield Step("prompt", said)
    elif name in _TOOLS:
        arguments = dig(payload, "tool_input") or _parsed(dig(payload, "toolArgs"))
        yield from from_tool(str(dig(payload, "tool_name") or dig(payload, "toolName")), arguments)
    elif name == "afterfileedit":
        yield from from_tool("edit", payload)
    elif name == "aftershellexecution":
        yield from from_tool("shell", payload)
    elif name == "afteragentresponse" and isinstance(payload.get("text"), str):
        yield Step("reply", payload["text"])


def _parsed(arguments: Any) -> Any:
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, TypeError, RecursionError):
        return arguments
