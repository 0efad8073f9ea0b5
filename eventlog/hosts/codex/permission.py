"""Codex runs commands unasked in a sandbox, in which only the project and the temporary directory can be written.

Documentation: developers.openai.com/codex/config-reference (`sandbox_mode`, `sandbox_workspace_write`).
"""

from pathlib import PurePath
from typing import Any

from eventlog.hosts.permission import Grant, Permission, Verdict, strings
from eventlog.hosts.steps import dig

_KEYS = ("sandbox_workspace_write", "writable_roots")


def _judge(config: Any, grant: Grant) -> Verdict:
    mode = dig(config, "sandbox_mode")
    store = PurePath(grant.store)
    inside = any(store == PurePath(root) or PurePath(root) in store.parents for root in strings(config, _KEYS))
    return "allowed" if mode == "danger-full-access" or (inside and mode != "read-only") else "refused"


PERMISSION = Permission(
    form="toml",
    user_file="config.toml",
    keys=_KEYS,
    items=lambda grant: (grant.store,),
    judge=_judge,
    overruled='sandbox_mode = "workspace-write" in config.toml',
    is_ours=lambda item, grant: item == grant.store,
)
