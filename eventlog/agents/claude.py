"""Claude Code, and every host that kept its protocol.

Payload: `session_id`, `hook_event_name`, `prompt_id` (the turn, from 2.1.196 on); inside a subagent also `agent_id`,
under the root's session id. Documentation: code.claude.com/docs/en/hooks.
"""

from eventlog.agents.moment import Moment, Payload, present, text

AGENT = "claude-code"
SILENT = b""


def read(payload: Payload, name: str, agent: str = AGENT) -> Moment:
    """The moment a payload tells of."""
    turn = text(payload, "turn_id", "prompt_id")
    tool = text(payload, "tool_use_id")
    subagent = text(payload, "agent_id")
    session = text(payload, "session_id", "sessionId")
    about = {"session": session, "subagent": subagent}
    match name:
        case "SessionStart":
            return Moment(agent, name, payload, type="session_start", fields=_start(payload), **about)
        case "Stop" | "AfterAgent":
            fields = present(turn_id=turn, status="completed")
            return Moment(agent, name, payload, turn=turn, type="turn_end", fields=fields, **about)
        case "SessionEnd":
            fields = present(reason=text(payload, "reason"))
            return Moment(agent, name, payload, turn=turn, type="session_end", fields=fields, **about)
        case "SubagentStart" | "SubagentStop":
            return Moment(agent, name, payload, turn=subagent, **about)
        case "UserPromptSubmit":
            return Moment(agent, name, payload, turn=turn, **about)
        case _:
            return Moment(agent, name, payload, turn=tool, **about)


def _start(payload: Payload) -> dict[str, object]:
    return present(
        source=text(payload, "source"),
        model=text(payload, "model"),
        transcript_path=text(payload, "transcript_path"),
    )
