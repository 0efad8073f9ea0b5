"""Auggie: Claude Code's names of events but for `PromptSubmit`, under `conversation_id` and `workspace_roots`.

It has no turn id, and ignores the answer to a prompt. A turn may be answered with a request, which goes to the agent.
By its documentation and the schemas in its program (0.36), not run: docs.augmentcode.com/cli/hooks.
"""

from eventlog.hosts.call import HookCall, Payload, text
from eventlog.hosts.claude.protocol import BlockedInside


class _AuggieProtocol(BlockedInside):
    """The protocol of Auggie."""

    memory = (("AGENTS.md",), ("CLAUDE.md",)), (), False
    servers = "", ".augment", "settings.json", ".augment/settings.json"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        prompt = text(payload, "user_prompt") if name == "PromptSubmit" else ""
        payload = {**payload, "prompt": prompt} if prompt else payload  # as readers of the log look for it
        call = HookCall(self.agent, name, payload, session=text(payload, "conversation_id"))
        match name:
            case "SessionStart":
                call.may_recur = True
                return call.as_session_start()
            case "Stop":
                cause = text(payload, "agent_stop_cause")
                status = "completed" if cause in ("", "end_turn") else cause
                return call.as_turn_end(status=status, may_ask=status == "completed")
            case "SessionEnd":
                call.may_recur = True
                return call.as_session_end()
            case "PromptSubmit" if prompt:
                call = call.as_prompt(prompt)
                call.asked = ""  # it ignores the answer
        return call


PROTOCOL = _AuggieProtocol("auggie")
