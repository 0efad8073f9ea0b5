"""Our own words that hosts repeat as if the user had said them, told from the user's; pure.

A host wraps what a hook gave it (Gemini `<hook_context>`, Codex `<hook_prompt>`, Claude `<system-reminder>`), or
hands it back bare. A request of ours is one line with our mark, then indented commands; a context runs to the end.
"""

import re
from collections.abc import Iterable, Iterator

from eventlog.hosts.steps import Step

_WRAPPED = re.compile(r"<(hook_context|hook_prompt|system-reminder|session_context)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
_CONTEXT = re.compile(r"^# (?:Memory|记忆) ?[(（]eventlog[)）]$.*\Z", re.DOTALL | re.MULTILINE)
_REQUEST = re.compile(
    r"^(?:[A-Z][\w ]{0,40}:\s+)?\[eventlog\][^\n]*(?:\n(?:[ \t]+\S[^\n]*|`--type`[^\n]*|[ \t]*)(?=\n|\Z))*",
    re.MULTILINE,
)


def of_the_user(prompt: str) -> str:
    """Remove our words from a prompt, wherever they stand; the rest is the user's."""
    said = _WRAPPED.sub("", prompt) if "<" in prompt else prompt
    if "eventlog" in said:
        said = _REQUEST.sub("", _CONTEXT.sub("", said))
    return said.strip()


def without_ours(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps between the user and the agent: no prompt of ours, and not what the agent answered to it."""
    answers_us = False
    for step in steps:
        if step.kind == "prompt":
            said = of_the_user(step.text)
            answers_us = not said
            if said:
                yield Step("prompt", said)
        elif step.kind != "reply" or not answers_us:
            yield step
