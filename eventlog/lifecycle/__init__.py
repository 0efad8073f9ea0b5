"""Session lifecycle hooks: what else shall happen when a session starts and when it ends.

Independent of any host's hooks. Hooks are chosen in `config.yaml` under `session_hooks:`; other packages add theirs
by the entry point group `eventlog.session_hooks`.
"""

from eventlog.lifecycle.base import HookResult, HookStatus, SessionLifecycleHook
from eventlog.lifecycle.context import GitState, HookContext
from eventlog.lifecycle.registry import HookRegistry, Outcome, get_registry

__all__ = [
    "GitState", "HookContext", "HookRegistry", "HookResult", "HookStatus", "Outcome", "SessionLifecycleHook",
    "get_registry",
]  # fmt: skip
