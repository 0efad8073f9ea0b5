"""Claude Code's files, hooks and permissions; documentation: code.claude.com/docs/en/hooks, /skills, /permissions.

It asks before each command (`claude -p` refuses it) unless a rule allows it; it checks each command of a line.
"""

from eventlog.hosts.profile import HookFile, HostProfile, PluginFormat, RuleFile, ServerFile, listed

_SKILL = (
    "---\nname: eventlog\ndescription: Save a summary of the session and its key facts when a task is done, or look up "
    "what earlier sessions saved. Use at the end of every task.\n---\n\n"
)

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "PreCompact", "PostCompact", "SessionEnd",
)  # fmt: skip

_PERMISSION = listed("Bash({}:*)", ("Bash", "Bash(*)", "Bash(:*)"), {"deny": "refused"}, ".claude/settings.json")

PROFILE = HostProfile(
    agent="claude",
    name="Claude Code",
    home=".claude",
    home_variable="CLAUDE_CONFIG_DIR",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".claude/settings.json",
        refuses=("comment", "trailing_comma"),
        events=_EVENTS,
        before_files=("PreToolUse",),
        after_failures=("PostToolUseFailure",),
        own={
            "PreToolUse": {"matcher": "Read|Edit|MultiEdit|Write|NotebookEdit"},
            "PostToolUseFailure": {"matcher": "Bash"},
            "PostToolUse": {"matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash", "async": True},
            "SessionEnd": {"timeout": 5},  # all hooks at the end share 1.5 s, unless one asks for more
        },
    ),
    rules=RuleFile(
        project_file=".claude/skills/eventlog/SKILL.md",
        user_file="skills/eventlog/SKILL.md",
        head=_SKILL,
    ),
    permission=_PERMISSION,
    servers=ServerFile(entry={"type": "stdio"}),  # docs: /mcp
    plugin=PluginFormat(  # docs: /plugins-reference, /plugin-marketplaces
        install="claude plugin marketplace add {directory} && claude plugin install eventlog@eventlog",
        manifest=".claude-plugin/plugin.json",
        root="${CLAUDE_PLUGIN_ROOT}",
        catalog=".claude-plugin/marketplace.json",
        listing={"source": "./"},
    ),
    switches={"disableAllHooks": True, "allowManagedHooksOnly": True},
    settings_files=(  # docs: /settings
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-settings.d/*.json",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
        ".claude/settings.local.json",
    ),
    runs=("claude",),
    marks=("CLAUDECODE",),
)
