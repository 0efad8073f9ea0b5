"""`session_hooks:` -> the hooks it asks for.

    session_hooks:
      logging: true
      git_cleanup: {enabled: true, main_branch: trunk, time_limit: 20}
      metrics: {enabled: true, url: "…"}       # of another package: entry point `metrics`, group eventlog.session_hooks

An entry point names a class or function that is called with the options as keyword arguments and returns a
`SessionLifecycleHook`. A package that is installed but not named here does not run.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from eventlog.errors import BadSettings
from eventlog.lifecycle import git_cleanup, logging_hook
from eventlog.lifecycle.base import SessionLifecycleHook
from eventlog.lifecycle.registry import TIME_LIMIT, HookRegistry

GROUP = "eventlog.session_hooks"

_Make = Callable[[dict[str, Any]], SessionLifecycleHook]
_BUILT_IN: dict[str, _Make] = {
    "logging": lambda options: logging_hook.Logging(msgspec.convert(options, logging_hook.Options)),
    "git_cleanup": lambda options: git_cleanup.GitCleanup(msgspec.convert(options, git_cleanup.Options)),
}


def registry(session_hooks: Mapping[str, bool | Mapping[str, Any]]) -> HookRegistry:
    """The hooks that are turned on, in the order they are named; raises BadSettings."""
    found = HookRegistry()
    for name, chosen in session_hooks.items():
        options = dict(chosen) if isinstance(chosen, Mapping) else {"enabled": chosen}
        enabled = _take(name, options, "enabled", True, bool)
        limit = _take(name, options, "time_limit", TIME_LIMIT, float)
        hook = _make(name, options)
        if enabled and hook:
            found.register(hook, name=name, time_limit=limit)
        elif enabled:
            raise BadSettings(
                "there is no such hook",
                where=f"session_hooks.{name}",
                hint=f"built in are {', '.join(_BUILT_IN)}; others come by an entry point {GROUP}",
            )
    return found


def _take(name: str, options: dict[str, Any], key: str, default: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(options.pop(key, default), kind)
    except msgspec.ValidationError as error:
        raise BadSettings(str(error), where=f"session_hooks.{name}.{key}") from error


def _make(name: str, options: dict[str, Any]) -> SessionLifecycleHook | None:
    """Built-in options are checked even where the hook is off, so that turning it on is no surprise."""
    make = _BUILT_IN.get(name) or _foreign(name)
    if make is None:
        return None
    try:
        return make(options)
    except BadSettings:
        raise
    except Exception as error:
        raise BadSettings(str(error), where=f"session_hooks.{name}", hint="see the options of the hook") from error


def _foreign(name: str) -> _Make | None:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        return lambda options: point.load()(**options)
    return None
