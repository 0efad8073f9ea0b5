"""The log itself as a transcript: what hooks recorded of prompts, tools and replies, for hosts without a reader."""

from collections.abc import Iterable, Iterator
from typing import Any

from eventlog.format.events import Event, HostEvent
from eventlog.hosts.our_words import without_ours
from eventlog.hosts.steps import Step, dig
from eventlog.hosts.tools import from_tool

# hosts' names of "the user said something", in lower case
PROMPTS = ("userpromptsubmit", "userpromptsubmitted", "beforesubmitprompt", "beforeagent")
_TOOLS = ("posttooluse", "aftertool")
_NOT_THE_USER = "<task-notification>"


def steps(events: Iterable[Event]) -> Iterator[Step]:
    """The steps of a conversation, of its events in order; those of subagents only as far as they changed things."""
    told = (event for event in events if isinstance(event, HostEvent))
    return without_ours(
        step for event in told for step in _of(event.name.casefold(), event.payload, helper=bool(event.subagent))
    )


def _of(name: str, payload: dict[str, Any], *, helper: bool) -> Iterator[Step]:
    if name in PROMPTS and not helper:
        prompt = payload.get("prompt")
        if isinstance(prompt, str) and not prompt.startswith(_NOT_THE_USER):
            yield Step("prompt", prompt)
    elif name in _TOOLS:
        arguments = dig(payload, "tool_input") or dig(payload, "toolArgs")
        yield from from_tool(str(dig(payload, "tool_name") or dig(payload, "toolName")), arguments)
    elif name == "afterfileedit":
        yield from from_tool("edit", payload)
    elif name == "aftershellexecution":
        yield from from_tool("shell", payload)
    elif name == "afteragentresponse" and isinstance(payload.get("text"), str):
        yield Step("reply", payload["text"])
