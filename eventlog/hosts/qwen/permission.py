"""Qwen Code asks before each command unless a rule allows it.

A rule for a command allows whatever begins like it, and 0.24.4 runs `$(…)` and backticks in it unasked: so there is no
rule of ours for one, but for our tools, which no shell reads. `qwen -p` has no shell at all unless a rule names it.
Documentation: qwenlm.github.io/qwen-code-docs, configuration/settings (`permissions`).
"""

from eventlog.hosts.permission import listed

PERMISSION = listed(
    "run_shell_command({} *)",
    enough=("run_shell_command", "run_shell_command(*)"),
    overrules={"deny": "refused", "ask": "asked"},
    project_file=".qwen/settings.json",
    unsafe="its agent saves unasked by tools only (eventlog install qwen --mcp --allow): a rule for a command would "
    "also run what a saved text has in backticks",
)
