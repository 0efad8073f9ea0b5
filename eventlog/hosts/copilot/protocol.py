"""GitHub Copilot CLI. Under camel-case names payloads are camel-case and do not say which event they are of.

It also runs hooks it finds in a repository's Claude Code settings, and VS Code's, under those names and with
snake-case payloads. A call has the same `timestamp` in both, to the millisecond: that, with the content of a tool call,
is its key. This was not observed in VS Code, which shares the shapes: there only the content identifies calls.
Documentation: docs.github.com/copilot/reference/hooks-reference.
"""

from eventlog.fast import fastjson
from eventlog.format import timestamps
from eventlog.hosts.call import HookCall, Payload, text
from eventlog.hosts.claude import protocol as claude

_AGENT = "copilot"
_IN_ITS_WORDS = {"stop": "agentStop", "userPromptSubmit": "userPromptSubmitted"}


class _CopilotProtocol(claude.Blocked):
    """The protocol of Copilot CLI."""

    prompt = "userPromptSubmitted"
    session_variable = "COPILOT_AGENT_SESSION_ID"
    memory = (("AGENTS.md",), (".github/copilot-instructions.md",)), ((".copilot/AGENTS.md",),), False
    servers = "COPILOT_HOME", ".copilot", "mcp-config.json", ""

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        return read(payload, name, self.agent)

    def start(self, context: str, event: str = "") -> bytes:
        """Give a session its context, at its start or after a tool."""
        del event
        return fastjson.dumps({"additionalContext": context})


def read(payload: Payload, name: str, agent: str) -> HookCall:
    """Make a call of a payload, with event names of both spellings."""
    camel = name[:1].lower() + name[1:]
    name = _IN_ITS_WORDS.get(camel, camel)
    session, tool = text(payload, "sessionId", "session_id"), text(payload, "tool_use_id", "toolUseId")
    call = HookCall(agent, name, payload, session=session, dedupe_key=tool, subagent=_subagent(payload, name))
    moment = _moment(payload) if agent == _AGENT else ""
    match name:
        case "sessionStart":
            return call.as_session_start(dedupe_key=moment)
        case "agentStop" if payload.get("stop_hook_active"):  # the same turn, continued for a hook
            call.dedupe_key = moment
        case "agentStop":
            status = _STATUS.get(reason := text(payload, "stopReason", "stop_reason"), reason)
            may_ask = call.is_settled and status == "completed"
            return call.as_turn_end(status=status, dedupe_key=moment, may_ask=may_ask)
        case "preCompact":
            call.owes_context = "compact"  # no start follows a compaction
            return call.as_compaction(dedupe_key=moment)
        case "sessionEnd":
            return call.as_session_end(reason=text(payload, "reason"), dedupe_key=moment)
        case "userPromptSubmitted" if prompt := text(payload, "prompt"):
            call.dedupe_text = prompt
            call.takes_context = agent == _AGENT  # from 1.0.65 on
            call.asked = prompt if call.takes_context else ""
        case "subagentStart":
            call.starts_helper = agent == _AGENT
        case "preToolUse" | "postToolUse":
            call.dedupe_text = _tool_call(payload)
            call.takes_context = name == "postToolUse"
    if moment and call.dedupe_text is not None:
        call.dedupe_key = f"{moment}\n{fastjson.dumps({'said': call.dedupe_text}).decode()}"
    return call


def _moment(payload: Payload) -> str:
    """Return the time of a call to the millisecond, from milliseconds or RFC 3339; "" for none."""
    time = payload.get("timestamp")
    if isinstance(time, int) and 0 < time < _LAST_MS:
        time = timestamps.from_ns(time * 1_000_000)
    if not isinstance(time, str) or not time.endswith("Z"):
        return ""
    seconds, _, fraction = time[:-1].partition(".")
    return f"{seconds}.{fraction[:3]:0<3}"


_STATUS = {"": "completed", "end_turn": "completed"}
_LAST_MS = 253_402_300_800_000  # the year 10000


def _subagent(payload: Payload, name: str) -> str:
    """Return a subagent's id; some of its events have only its name, or that of its kind."""
    if found := text(payload, "agentId", "agent_id"):
        return found
    named = text(payload, "agentName", "agent_name", "agentType", "agent_type") or "subagent"
    return named if name.startswith("subagent") else ""


def _tool_call(payload: Payload) -> object:
    """Return tool, arguments and result: under either naming, arguments as an object or as its text."""
    arguments = payload.get("toolArgs", payload.get("tool_input"))
    arguments = fastjson.dumps(arguments).decode() if isinstance(arguments, dict) else arguments
    result = payload.get("toolResult", payload.get("tool_result"))
    shown = text(result, "textResultForLlm", "text_result_for_llm") if isinstance(result, dict) else result
    return [text(payload, "toolName", "tool_name").lower(), arguments, shown]


PROTOCOL = _CopilotProtocol("copilot")
