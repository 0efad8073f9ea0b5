"""Qwen Code asks before each command unless a rule allows it.

`qwen -p` has no shell at all unless a rule names it as `run_shell_command`: a rule for `Bash` is none to it.
Documentation: qwenlm.github.io/qwen-code-docs, configuration/settings (`permissions`).
"""

from eventlog.hosts.permission import listed

PERMISSION = listed(
    "run_shell_command({} *)",
    enough=("run_shell_command", "run_shell_command(*)"),
    overrules={"deny": "refused", "ask": "asked"},
    project_file=".qwen/settings.json",
)
