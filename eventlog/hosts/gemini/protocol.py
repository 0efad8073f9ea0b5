"""Gemini CLI: Claude Code's shapes under names of its own; no turn id, a `timestamp` in every payload.

It puts what hooks answered into the prompt it tells the next ones of. It may tell of a session's end twice, and its
agent's shell commands are not told the session.
Documentation: github.com/google-gemini/gemini-cli, docs/hooks.
"""

from eventlog import fastjson
from eventlog.hosts.call import HookCall, Payload, present, text
from eventlog.hosts.claude import protocol as claude

AGENT = "gemini"
SILENT = b"{}"  # an empty answer makes it parse stderr

_OPENS, _CLOSES = "<hook_context>", "</hook_context>"
_AS_CLAUDE_SAYS = {"PreCompress": "PreCompact"}

start = claude.start


def read(payload: Payload, name: str) -> HookCall:
    """The call a payload tells of."""
    if prompt := text(payload, "prompt"):
        payload = {**payload, "prompt": _of_the_user(prompt)}
    call = claude.read(payload, _AS_CLAUDE_SAYS.get(name, name), AGENT)
    call.name = name
    if name == "AfterAgent":
        return call.as_event("turn_end", present(status="completed"), is_final=claude.is_settled(payload))
    call.dedupe_key = call.dedupe_key or text(payload, "tool_call_id")
    return call


def ask(request: str, notice: str) -> bytes:
    """Continue the turn with a request; the person is shown the notice instead of it."""
    return fastjson.dumps({"decision": "deny", "reason": request, "systemMessage": notice})


def flush(request: str) -> bytes:
    """Nothing: before a compression only the user can be told something."""
    del request
    return SILENT


def _of_the_user(prompt: str) -> str:
    """The prompt without what hooks had answered, wherever that stands."""
    if _OPENS not in prompt:
        return prompt
    first, *others = prompt.split(_OPENS)
    return "".join([first, *(other.partition(_CLOSES)[2] for other in others)]).strip()
