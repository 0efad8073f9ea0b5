"""Cursor's files and hooks; documentation: cursor.com/docs/agent/hooks."""

from eventlog.hosts.profile import SECONDS, ForeignHooks, HookFile, HostProfile, RuleFile, ServerFile

_MDC = "---\ndescription: Save what is worth knowing later (eventlog)\nalwaysApply: true\n---\n\n"

_EVENTS = (
    "sessionStart", "beforeSubmitPrompt", "afterFileEdit", "afterShellExecution", "preCompact", "stop",
    "subagentStart", "subagentStop", "sessionEnd",
)  # fmt: skip

PROFILE = HostProfile(
    agent="cursor",
    name="Cursor",
    home=".cursor",
    hooks=HookFile(
        user_file="hooks.json",
        project_file=".cursor/hooks.json",
        shape="flat",
        events=_EVENTS,
        own={"stop": {"loop_limit": 1}},
        handler={"command": "", "timeout": SECONDS},
        document={"version": 1},
    ),
    rules=RuleFile(project_file=".cursor/rules/eventlog.mdc", head=_MDC),
    servers=ServerFile(),
    programs=("cursor", "cursor-agent"),
    also_runs=(ForeignHooks("claude", is_enough=True),),
    runs=("cursor-agent",),
    marks=("CURSOR_AGENT",),
)
