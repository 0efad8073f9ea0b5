"""Qwen Code's files, hooks, permissions; documentation: qwenlm.github.io/qwen-code-docs, features/hooks, configuration.

It asks before each command unless a rule allows it. A rule for a command allows whatever begins like it, and 0.24.4
runs `$(…)` and backticks in it unasked: so only our tools get a rule, which no shell reads. `qwen -p` has no shell at
all unless a rule names it.
"""

from eventlog.hosts.profile import SECONDS, HookFile, HostProfile, PluginFormat, RuleFile, ServerFile, listed

_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "PreCompact", "SessionEnd",
)  # fmt: skip

_PERMISSION = listed(
    "run_shell_command({} *)",
    enough=("run_shell_command", "run_shell_command(*)"),
    overrules={"deny": "refused", "ask": "asked"},
    project_file=".qwen/settings.json",
    unsafe="its agent saves unasked by tools only (eventlog install qwen --allow): a rule for a command would "
    "also run what a saved text has in backticks",
)

PROFILE = HostProfile(
    agent="qwen",
    name="Qwen Code",
    home=".qwen",
    home_variable="QWEN_HOME",
    hooks=HookFile(
        user_file="settings.json",
        project_file=".qwen/settings.json",
        refuses=("trailing_comma",),
        events=_EVENTS,
        after_failures=("PostToolUseFailure",),
        own={
            "PostToolUseFailure": {"matcher": "run_shell_command"},
            "PostToolUse": {"matcher": "write_file|edit|notebook_edit|run_shell_command|todo_write"},
        },
        handler={"name": "eventlog", "type": "command", "command": "", "timeout": SECONDS},
    ),
    rules=RuleFile(project_file="QWEN.md", user_file="QWEN.md"),
    permission=_PERMISSION,
    servers=ServerFile(),
    plugin=PluginFormat(  # docs: extension; beside a `plugin.json` of Agent Plugins it would read no hooks
        folder="qwen",
        install="qwen extensions install {directory}/qwen",
        manifest="qwen-extension.json",
        root="${CLAUDE_PLUGIN_ROOT}",
        servers="",
    ),
    settings_files=("/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json"),
    runs=("qwen",),
    marks=("QWEN_CODE",),
)
