"""Codex CLI's files and hooks; documentation: developers.openai.com/codex/hooks, /codex/guides/agents-md."""

from eventlog.hosts.codex.trust import distrust, without_trust
from eventlog.hosts.profile import SECONDS, HookFile, HostProfile, MemoryFiles, RuleFile, ServerFile, TrustFile

_AGENTS = ("AGENTS.override.md", "AGENTS.md")  # it reads the first that is there

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SubagentStart", "SubagentStop",
    "SessionEnd",
)  # fmt: skip

PROFILE = HostProfile(
    agent="codex",
    name="Codex CLI",
    home=".codex",
    home_variable="CODEX_HOME",
    hooks=HookFile(
        user_file="hooks.json",
        project_file=".codex/hooks.json",
        shape="nested",
        events=_EVENTS,
        before_files=("PreToolUse",),
        own={
            "PreToolUse": {"matcher": "apply_patch|Bash"},
            "SessionStart": {"matcher": "startup|resume|clear|compact"},
            "SessionEnd": {"timeout": 3},  # the most it allows
        },
        handler={"type": "command", "command": "", "timeout": SECONDS},
    ),
    rules=RuleFile(project_file="AGENTS.md", user_file="AGENTS.md"),
    memory=MemoryFiles(project=(_AGENTS,), home=(tuple(f".codex/{name}" for name in _AGENTS),)),
    servers=ServerFile("config.toml", ".codex/config.toml", keys=("mcp_servers",)),  # docs: /codex/mcp
    distrust=distrust,
    trust=TrustFile("config.toml", without_trust),
    after_install="Codex skips hooks it was not told to trust: run /hooks in it once",
    runs=("codex",),
    marks=("CODEX_SANDBOX", "CODEX_THREAD_ID"),
)
