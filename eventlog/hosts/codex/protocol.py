"""Codex CLI: Claude Code's protocol with a `turn_id`; `session_id` is the root thread, inside subagents too.

At the end of a turn a hook can only block, which is shown as such: the agent is asked at the next prompt.

Documentation: developers.openai.com/codex/hooks.
"""

from eventlog.hosts.call import HookCall, Payload, text
from eventlog.hosts.claude import protocol as claude

AGENT = "codex"
SESSION_VARIABLE = "CODEX_SESSION_ID"  # of its agent's shell commands: the root thread (CODEX_THREAD_ID: the own one)
MOST_AT_START = ("utf-8", 9_900)  # of 2,500 tokens, of four bytes as it counts them; the rest goes into a file
SILENT = b""  # anything on stdout that is not its JSON makes Stop fail, and so does a key it does not know

_UPDATES = "*** Update File: "

PROMPT = claude.PROMPT
start = claude.start
ask = claude.ask_with_prompt
flush = claude.flush


def read(payload: Payload, name: str) -> HookCall:
    """Read the call a payload tells of."""
    call = claude.read(payload, name, AGENT)
    call.may_ask = name == claude.PROMPT
    if name == "PreToolUse":
        call.file = _patched(payload)
    return call


def _patched(payload: Payload) -> str:
    """The first file a patch is about to change, by the tool for that or by the shell; no other is known before."""
    arguments = payload.get("tool_input")
    patch = text(arguments, "command", "input") if isinstance(arguments, dict) else ""
    return next((line.removeprefix(_UPDATES).strip() for line in patch.splitlines() if line.startswith(_UPDATES)), "")


def conversation_of_call(meta: Payload) -> str:
    """Find the root thread a tool of ours is called in; older releases name only the thread itself."""
    turn = meta.get("x-codex-turn-metadata")
    return (text(turn, "session_id") if isinstance(turn, dict) else "") or text(meta, "threadId")
