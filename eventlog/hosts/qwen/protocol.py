"""Qwen Code: Claude Code's protocol and names, a `timestamp` in every payload, `prompt_id` `<session>########<number>`.

All hooks of a call get the same `timestamp`. `UserPromptSubmit` also comes after a tool, without a prompt, and with the
request of a hook: all of the same turn. Started with a single prompt it sends no end of its session. The answer to a
start stands in the system message, also after a compaction, and nowhere else: each start is answered, however soon it
follows another. A hook that stops the end of a turn is shown as an error, so the agent is asked at the next prompt.
Documentation: qwenlm.github.io/qwen-code-docs, features/hooks; seen in 0.24.
"""

from eventlog.hosts.call import HookCall, Payload, text, typed
from eventlog.hosts.claude.protocol import ClaudeLike


class _QwenProtocol(ClaudeLike):
    """The protocol of Qwen Code."""

    session_variable = "QWEN_CODE_SESSION_ID"
    memory = (("QWEN.md",),), ((".qwen/QWEN.md",),), True
    servers = "QWEN_HOME", ".qwen", "settings.json", ".qwen/settings.json"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        if prompt := text(payload, "prompt"):
            payload = {**payload, "prompt": typed(prompt)}
        call = super().read(payload, name)
        if name == "SessionStart":
            call.dedupe_key = text(payload, "timestamp")
        call.may_ask = call.name == self.prompt and text(payload, "prompt") != ""
        return call


PROTOCOL = _QwenProtocol("qwen-code")
