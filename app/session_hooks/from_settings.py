"""`session_hooks:` -> the hooks it asks for.

    session_hooks:
      logging: true
      git_cleanup: {enabled: true, main_branch: trunk, time_limit: 20}
      metrics: {enabled: true, url: "…"}       # of another package: entry point `metrics`, group eventlog.session_hooks
      project: {enabled: false}                # not even with consent: the project's own, `.eventlog/session_hooks.py`

An entry point names a class or function that is called with the options as keyword arguments and returns a
`SessionLifecycleHook`. A package that is installed but not named here does not run. A hook that cannot be made fails
whenever it would run; the others run all the same.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from eventlog.app.session_hooks import consent, git_cleanup, logging_hook
from eventlog.app.session_hooks.hook_base import HookResult, SessionLifecycleHook
from eventlog.app.session_hooks.hook_context import HookContext
from eventlog.app.session_hooks.late_hook import LateHook
from eventlog.app.session_hooks.project_hooks import ProjectHooks
from eventlog.app.session_hooks.registry import TIME_LIMIT, HookRegistry, get_registry
from eventlog.errors import BadSettings

GROUP = "eventlog.session_hooks"

_PROJECT = "project"
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Make = Callable[[dict[str, Any]], SessionLifecycleHook]
_BUILT_IN: dict[str, _Make] = {
    "logging": lambda options: logging_hook.Logging(msgspec.convert(options, logging_hook.LoggingOptions)),
    "git_cleanup": lambda options: git_cleanup.GitCleanup(msgspec.convert(options, git_cleanup.CleanupOptions)),
    _PROJECT: lambda options: ProjectHooks(**options),
}


class BrokenHook(SessionLifecycleHook):
    """In the place of a hook that could not be made: says why, whenever that would have run."""

    def __init__(self, mistake: BadSettings) -> None:
        self.mistake = mistake

    def on_session_start(self, context: HookContext) -> HookResult:
        """Fail with the reason it could not be made."""
        del context
        return HookResult.failure(f"{self.mistake}; {self.mistake.hint}" if self.mistake.hint else str(self.mistake))

    on_session_end = on_session_start


def registry(session_hooks: Mapping[str, bool | Mapping[str, Any]], project: str = "") -> HookRegistry:
    """Make the hooks in the order they are named, then the project's own and those of this program (`get_registry`).

    A `BrokenHook` stands for each that cannot be made.
    """
    found = HookRegistry()
    own = {_PROJECT: True} if project and Path(project, consent.PLACE).exists() else {}
    for name, chosen in {**session_hooks, **own, **session_hooks}.items():  # what the settings say of it counts
        try:
            _register(found, name, dict(chosen) if isinstance(chosen, Mapping) else {"enabled": chosen})
        except BadSettings as mistake:
            found.register(BrokenHook(mistake), name=name)
    found.update(get_registry())
    return found


def _register(found: HookRegistry, name: str, options: dict[str, Any]) -> None:
    enabled = _option(name, options, "enabled", True, bool)
    limit = _option(name, options, "time_limit", TIME_LIMIT, _Seconds)
    hook = _make(name, options)
    if hook:
        found.register(hook, name=name, time_limit=limit, enabled=enabled)
    elif enabled:
        raise BadSettings(
            "there is no such hook",
            where=f"session_hooks.{name}",
            hint=f"built in are {', '.join(_BUILT_IN)}; others come by an entry point {GROUP}",
        )


def _option(name: str, options: dict[str, Any], key: str, default: Any, kind: Any) -> Any:
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

    point = next(iter(entry_points(group=GROUP, name=name)), None)
    return (lambda options: LateHook(lambda: point.load()(**options))) if point else None
