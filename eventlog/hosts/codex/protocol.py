"""Codex CLI: Claude Code's protocol with a `turn_id`; `session_id` is the root thread, inside subagents too.

At the end of a turn a hook can only block, which is shown as such: the agent is asked at the next prompt.

Documentation: developers.openai.com/codex/hooks.
"""

from eventlog.fast import os
from eventlog.hosts.call import HookCall, Payload, text
from eventlog.hosts.claude.protocol import ClaudeLike
from eventlog.store.files import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_UPDATES = "*** Update File: "


class _CodexProtocol(ClaudeLike):
    """The protocol of Codex: anything on stdout but its JSON, or a key it does not know, makes Stop fail."""

    session_variable = "CODEX_SESSION_ID"  # the root thread (CODEX_THREAD_ID: the own one)
    most_at_start = "utf-8", 9_900  # of 2,500 tokens, of four bytes as it counts them; the rest goes into a file
    memory = (("AGENTS.override.md", "AGENTS.md"),), ((".codex/AGENTS.override.md", ".codex/AGENTS.md"),), False
    servers = "CODEX_HOME", ".codex", "config.toml", ".codex/config.toml"

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        call = super().read(payload, name)
        call.may_ask = call.name == self.prompt
        if name == "PreToolUse":
            arguments = payload.get("tool_input")
            patch = text(arguments, "command", "input") if isinstance(arguments, dict) else ""
            updates = (line.removeprefix(_UPDATES).strip() for line in patch.splitlines() if line.startswith(_UPDATES))
            call.file = next(updates, "")  # the tool names no file but in its patch
        return call

    def conversation_of_call(self, meta: Payload) -> str:
        """Find the root thread that calls an MCP tool; older releases name only the thread itself."""
        turn = meta.get("x-codex-turn-metadata")
        return (text(turn, "session_id") if isinstance(turn, dict) else "") or text(meta, "threadId")

    def newest_transcript(self, where: str, environ: "Mapping[str, str]") -> str:
        """Find the rollout written last, of any directory: `sessions/2026/02/21/rollout-*.jsonl`; "" for none."""
        del where
        home = environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
        days = [f"{home}/sessions"]
        for _ in ("year", "month", "day"):
            days = [f"{parent}/{name}" for parent in days for name in names_in(parent) if name.isdigit()]
        found = [path for path in map(self.newest_file, days) if path]
        return max(found, key=lambda path: os.stat(path).st_mtime_ns, default="")


PROTOCOL = _CodexProtocol("codex")
