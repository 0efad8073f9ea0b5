"""Session lifecycle hooks: what else shall happen when a session starts and when it ends.

Independent of any host's hooks. Hooks are chosen in `config.yaml` under `session_hooks:`; other packages add theirs
by the entry point group `eventlog.session_hooks`, a project by `.eventlog/session_hooks.py`, once a person agrees.

Imported by: app, cli.
"""

from eventlog.app.setup.session_hooks.hooks import (
    GitState,
    HookContext,
    HookOutcome,
    HookRegistry,
    HookResult,
    HookStatus,
    SessionLifecycleHook,
    SessionUsage,
    get_registry,
)

__all__ = [
    "GitState", "HookContext", "HookOutcome", "HookRegistry", "HookResult", "HookStatus", "SessionLifecycleHook",
    "SessionUsage", "get_registry",
]  # fmt: skip
