"""`project`: the hooks a project brings itself, in `.eventlog/session_hooks.py`; run only with a person's consent.

The bytes that were agreed to are the bytes that run. Every class of the file that is a `SessionLifecycleHook` is made
without arguments, when it runs.
"""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from msgspec import to_builtins

from eventlog.app.session_hooks import consent
from eventlog.app.session_hooks.consent import Consent
from eventlog.app.session_hooks.hook_base import HookResult, HookStatus, SessionLifecycleHook
from eventlog.app.session_hooks.hook_context import HookContext
from eventlog.app.session_hooks.late_hook import LateHook
from eventlog.app.session_hooks.registry import HookOutcome, HookRegistry, SessionMoment
from eventlog.confined import NotConfined
from eventlog.errors import BadSettings
from eventlog.store import Store

_MODULE = "eventlog_project_hooks"
_WORST_FIRST = (HookStatus.FAILURE, HookStatus.WARNING, HookStatus.SUCCESS, HookStatus.SKIPPED)


class ProjectHooks(SessionLifecycleHook):
    """Run the project's own hooks, if the person has said yes to them as they are."""

    name = "project"

    def on_session_start(self, context: HookContext) -> HookResult:
        """Run them for a start."""
        return self._run("start", context)

    def on_session_end(self, context: HookContext) -> HookResult:
        """Run them for an end."""
        return self._run("end", context)

    def issue_state(self, context: HookContext) -> str | None:
        """Ask them, in their order."""
        hooks = _agreed(context)
        return hooks.issue_state(context) if isinstance(hooks, HookRegistry) else None

    def _run(self, moment: SessionMoment, context: HookContext) -> HookResult:
        hooks = _agreed(context)
        return _in_one(hooks.run(moment, context)) if isinstance(hooks, HookRegistry) else hooks


def _agreed(context: HookContext) -> HookRegistry | HookResult:
    """Load the hooks a person has agreed to; where there are none, the result that says why."""
    if not context.project:
        return HookResult.skipped("in no project")
    path = str(Path(context.project, consent.PLACE))
    try:
        source = consent.source_of(context.project)
    except (OSError, NotConfined) as error:
        return HookResult.skipped(f"{path} cannot be read: {error}")
    said = consent.consent(Store(context.store), context.project, source)
    if said is not Consent.GIVEN:
        kept_out = HookResult.warning if said is Consent.OUTDATED else HookResult.skipped
        return kept_out(f"{path} is {said.value}; `eventlog lifecycle trust` shows it and asks")
    return _registered(_hooks(path, source))


def _hooks(path: str, source: bytes) -> list[type[SessionLifecycleHook]]:
    """Load the file, and list the hooks it defines; raises whatever it raises."""
    module = ModuleType(_MODULE)
    module.__file__ = path
    sys.modules[_MODULE] = module  # dataclasses look there for the module of a class
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - a person has agreed to these bytes
    found = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == _MODULE]
    return [kind for kind in found if issubclass(kind, SessionLifecycleHook) and not inspect.isabstract(kind)]


def _registered(kinds: list[type[SessionLifecycleHook]]) -> HookRegistry:
    if not kinds:
        raise BadSettings("defines no hook", where=consent.PLACE, hint="derive a class from SessionLifecycleHook")
    found = HookRegistry()
    for kind in kinds:
        found.register(LateHook(kind), name=kind.__name__)
    return found


def _in_one(outcomes: Sequence[HookOutcome]) -> HookResult:
    """Join the results of all hooks of the file: the status of the worst, and what each says."""
    status = min((outcome.result.status for outcome in outcomes), key=_WORST_FIRST.index)
    messages = (": ".join(filter(None, (outcome.hook, outcome.result.message))) for outcome in outcomes)
    return HookResult(status, "; ".join(messages), {outcome.hook: to_builtins(outcome.result) for outcome in outcomes})
