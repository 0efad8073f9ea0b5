"""Gemini CLI: Claude Code's shapes under names of its own; no turn id, a `timestamp` in every payload.

It may tell of a session's end twice. Documentation: github.com/google-gemini/gemini-cli, docs/hooks.
"""

from eventlog import wire
from eventlog.agents import claude
from eventlog.agents.moment import Moment, Payload, present, text

AGENT = "gemini"
SILENT = b"{}"  # an empty answer makes it parse stderr

_AS_CLAUDE_SAYS = {"PreCompress": "PreCompact"}

start = claude.start


def read(payload: Payload, name: str) -> Moment:
    """The moment a payload tells of."""
    moment = claude.read(payload, _AS_CLAUDE_SAYS.get(name, name), AGENT)
    moment.name = name
    if name == "AfterAgent":
        return moment.becomes("turn_end", present(status="completed"), settled=claude.is_settled(payload))
    moment.turn = moment.turn or text(payload, "tool_call_id")
    return moment


def ask(request: str) -> bytes:
    """The answer that makes the agent go on with a request."""
    return wire.dumps({"decision": "deny", "reason": request})


def flush(request: str) -> bytes:
    """Nothing: before a compression only the user can be told something."""
    del request
    return SILENT
