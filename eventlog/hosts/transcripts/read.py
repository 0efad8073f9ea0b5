"""Read the steps of a conversation: from its host's transcript, or for hosts without a reader, from the log.

Hosts repeat our own texts as if the user had written them: they wrap the answer of a hook (Gemini `<hook_context>`,
Codex `<hook_prompt>`, Claude `<system-reminder>`), or return it bare. A request of ours is a line with our mark, then
indented commands; a context extends to the end. These texts are removed, and so are the agent's replies to them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from eventlog import hosts
from eventlog.format import codec
from eventlog.format.events import Event, HostEvent
from eventlog.hosts.call import PLANS, not_the_user, typed
from eventlog.hosts.transcripts.steps import REQUESTS, SessionCalls, Step, from_tool
from eventlog.secrets import scrub_text

# hosts' names of a prompt of the user, in lower case
PROMPTS = ("userpromptsubmit", "promptsubmit", "userpromptsubmitted", "beforesubmitprompt", "beforeagent")
_FAILED_TOOL = "posttoolusefailure"
_TOOLS = ("posttooluse", "aftertool", _FAILED_TOOL)
_ANSWERS = ("tool_response", "tool_output", "toolResult", "tool_result", "error")

_WRAPPED = re.compile(
    r"<(hook_context|hook_prompt|system[-_]reminder|session_context|current_datetime|tools_changed_notice)\b[^>]*>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_OBJECT = re.compile(r"\s*(?:```(?:json)?\n)?(\{.*\})\s*(?:```)?\s*", re.DOTALL)
_CONTEXT = re.compile(r"^# (?:Memory|记忆) ?[(（]eventlog[)）]$.*\Z", re.DOTALL | re.MULTILINE)
_REQUEST = re.compile(
    r"^(?:[A-Z][\w ]{0,40}:\s+)?\[eventlog\][^\n]*(?:\n(?:[ \t]+\S[^\n]*|`--type`[^\n]*|[ \t]*)(?=\n|\Z))*",
    re.MULTILINE,
)


def find_transcripts(agent: str, place: Path) -> list[Path]:
    """List the transcripts in a host's directory, or in any folder of them, last written last; or the file `place`.

    This order keeps few days of the log open at a time.
    """
    past = hosts.part(agent, "past")
    if past is None:
        return []
    if place.is_file():
        return [place]
    folders = [place / name for name in past.FOLDERS if (place / name).is_dir()]
    names = past.NAMES if folders else [name.rpartition("/")[2] for name in past.NAMES]
    found = {path for folder in folders or [place] for name in names for path in folder.rglob(name) if path.is_file()}
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, str(path)))


def read_transcript(agent: str, path: str) -> Iterator[Step]:
    """Yield the steps of an agent's transcript; none where the file is missing or the host has no reader.

    Each text is scrubbed whole, before lines are taken out of it: a key of several lines is recognised by its first
    and its last.
    """
    past = hosts.part(agent, "past")
    if not past or not path or not Path(path).is_file():  # a pipe or a device would never end
        return
    try:
        for step in without_own_texts(past.steps(Path(path))):
            yield Step(step.kind, scrub_text(step.text))
    except OSError:
        return


def logged_steps(events: Iterable[Event]) -> Iterator[Step]:
    """Yield the steps of a conversation from its events in order; of subagents only their changes."""
    called = (event for event in events if isinstance(event, HostEvent))
    return without_own_texts(
        step
        for event in called
        for step in _steps_of(event.name.casefold(), event.payload, is_subagent=bool(event.subagent))
    )


def _steps_of(name: str, payload: dict[str, Any], *, is_subagent: bool) -> Iterator[Step]:
    if name in PROMPTS and not is_subagent:
        prompt = payload.get("prompt")
        if isinstance(prompt, str):
            yield Step("prompt", prompt)
    elif name in _TOOLS:
        arguments = payload.get("tool_input") or payload.get("toolArgs")
        answer = next((found for field in _ANSWERS if (found := payload.get(field))), "")
        tool = str(payload.get("tool_name") or payload.get("toolName"))
        yield from _called(tool, arguments, answer, badly=name == _FAILED_TOOL)
    elif name == "afterfileedit":
        yield from from_tool("edit", payload)
    elif name == "aftershellexecution":
        yield from _called("shell", payload, payload.get("output"))
    elif name == "afteragentresponse" and isinstance(payload.get("text"), str):
        yield Step("reply", payload["text"])


def _called(tool: str, arguments: Any, answer: Any, *, badly: bool = False) -> Iterator[Step]:
    calls = SessionCalls()
    yield from calls.called("", from_tool(tool, arguments))
    yield from calls.ended("", answer, badly=badly)


def without_own_texts(steps: Iterable[Step]) -> Iterator[Step]:
    """Remove our texts from prompts, and the replies to our prompts; turn words of the host itself into notices."""
    answers_us = False
    for step in steps:
        if step.kind in REQUESTS:
            prompt = of_the_user(step.text)
            if not_the_user(prompt):  # the agent goes on with what it was asked before
                yield Step("notice", prompt)
                continue
            answers_us = not prompt
            if prompt:
                yield Step("plan" if is_plan(prompt) else step.kind, prompt)
        elif step.kind != "reply":
            yield step
        elif not answers_us:
            yield Step("reply", _in_words(step.text))


def _in_words(reply: str) -> str:
    """Return the texts of an answer in JSON, as programs ask for it: of the object first, then of what is in it."""
    found = _OBJECT.fullmatch(reply)
    level: list[Any] = [found and codec.json_object(found[1])]
    texts: list[str] = []
    while any(level):
        level = [value for item in level for value in (item.values() if isinstance(item, dict) else item or ())]
        texts += (value for value in level if isinstance(value, str) and len(value.split()) > 1)
        level = [value for value in level if isinstance(value, (dict, list))]
    return "\n\n".join(texts) or reply


def is_plan(prompt: str) -> bool:
    """Return whether a prompt is a plan that the agent wrote: accepted, a host hands it back as a request."""
    return prompt.startswith(PLANS)


def of_the_user(prompt: str) -> str:
    """Remove our texts from a prompt, and an editor's; the rest is the user's."""
    prompt = typed(prompt)
    rest = _WRAPPED.sub("", prompt) if "<" in prompt else prompt
    if "eventlog" in rest:
        rest = _REQUEST.sub("", _CONTEXT.sub("", rest))
    return rest.strip()
