"""OpenCode's files, and the plugin that calls our hook; documentation: opencode.ai/docs/plugins, /docs/rules."""

from pathlib import Path

from eventlog.hosts.profile import HookFile, HostProfile, RuleFile, ServerFile

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "AfterAgentResponse", "Stop", "SubagentStart", "PreCompact",
    "SessionEnd",
)  # fmt: skip

PROFILE = HostProfile(
    agent="opencode",
    name="OpenCode",
    home=".config/opencode",
    home_variable="OPENCODE_CONFIG_DIR",
    hooks=HookFile(
        user_file="plugins/eventlog.js",
        project_file=".opencode/plugins/eventlog.js",
        shape="script",
        events=_EVENTS,
        handler={},
        script=Path(__file__).with_name("plugin.js"),
    ),
    rules=RuleFile(project_file="AGENTS.md", user_file="AGENTS.md"),
    servers=ServerFile(keys=("mcp",), entry={"type": "local", "enabled": True}, has_one_list=True),
    traces=(".config/opencode", ".local/share/opencode"),
    runs=("opencode",),
    marks=("OPENCODE",),
)
