"""Claude Code."""

from pathlib import Path
from typing import ClassVar

from tests.realhosts.hosts.host import KEY, Host, as_json


class Claude(Host):
    """`claude -p`; its conversations take an id of ours."""

    name, agent, title = "claude", "claude-code", "Claude Code"
    removes = "claude plugin uninstall eventlog@eventlog && claude plugin marketplace remove eventlog"
    tells_of_failures, tells_what_it_wrote = True, True
    helper = "Agent", "prompt", {"subagent_type": "general-purpose", "description": "Look"}
    in_background: ClassVar = {"run_in_background": True}

    def program(self, modules: Path):
        # the package of the platform: on Node 20 npm silently installs an older release of the main one
        return next(modules.glob("@anthropic-ai/claude-code-linux-*/claude"))

    def files(self, project: Path, address):
        known = {"hasTrustDialogAccepted": True, "allowedTools": []}
        state = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {str(project): known},
        }
        settings = '{\n    "includeCoAuthoredBy": false,\n    "env": { "FOO": "bar" }\n}\n'
        return {".claude.json": as_json(state), ".claude/settings.json": settings}

    def environment(self, address):
        quiet = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
        return {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": KEY, **dict.fromkeys(quiet, "1")}

    def turn(self, prompt, session, *, resume, free):
        mode = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__eventlog"] if free else []
        return ["-p", prompt, "--resume" if resume else "--session-id", session, *mode]

    def fork(self, resume):
        return [*resume, "--fork-session"]

    def terminal(self):
        return ["--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__eventlog"]
