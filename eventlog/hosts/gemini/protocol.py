"""Gemini CLI: Claude Code's shapes under names of its own; no turn id, a `timestamp` in every payload.

All hooks of a call get the same `timestamp`. `PreCompress` comes before every call of the model, compressed or not, so
it is a request to save only where a person starts it; no start follows. The answers of hooks stand in the prompt that
the next hooks get. A session's end may come several times, and the agent's shell commands do not know the session. At
the end of a turn a hook can only deny it, which is shown as a failure: the agent is asked at the next prompt.
Documentation: github.com/google-gemini/gemini-cli, docs/hooks.
"""

from eventlog.hosts.call import HookCall, Payload, text, typed
from eventlog.hosts.claude.protocol import ClaudeLike

_EXIT_CODE = "\nExit Code: "
_OPENS, _CLOSES = "<hook_context>", "</hook_context>"


class _GeminiProtocol(ClaudeLike):
    """The protocol of Gemini CLI; before a compression an answer reaches only the user."""

    silent = b"{}"  # an empty answer makes it parse stderr
    prompt = "BeforeAgent"
    memory = (("GEMINI.md",),), ((".gemini/GEMINI.md",),), True
    servers = "", ".gemini", "settings.json", ".gemini/settings.json"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        if prompt := text(payload, "prompt"):
            payload = {**payload, "prompt": typed(_of_the_user(prompt))}
        call = super().read(payload, name)
        call.dedupe_key = call.dedupe_key or text(payload, "tool_call_id")
        response = payload.get("tool_response")  # as the model reads it: with an exit code only where that is not 0
        printed = text(response, "llmContent") if isinstance(response, dict) else ""
        match name:
            case "SessionStart" if text(payload, "source") == "clear":
                call.owes_context = "clear"  # the agent is not shown the answer to a clear
            case "PreCompress" if text(payload, "trigger") == "manual":
                call.owes_context = "compact"
                return call.as_compaction(dedupe_key=text(payload, "timestamp"))
            case "AfterTool" if _EXIT_CODE in printed:
                return call.as_failure(printed)
            case "BeforeAgent":
                call.takes_context = call.may_ask = True
                call.asked = text(payload, "prompt")
            case "AfterAgent" if not payload.get("stop_hook_active"):  # else the same turn, continued for a hook
                moment = text(payload, "timestamp")
                return call.as_turn_end(status="completed", dedupe_key=moment, may_ask=False)
        return call


def _of_the_user(prompt: str) -> str:
    """Remove the answers of hooks from a prompt."""
    if _OPENS not in prompt:
        return prompt
    first, *others = prompt.split(_OPENS)
    return "".join([first, *(other.partition(_CLOSES)[2] for other in others)]).strip()


PROTOCOL = _GeminiProtocol("gemini")
