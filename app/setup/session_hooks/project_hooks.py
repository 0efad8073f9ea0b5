"""`project`: a project's own hooks in `.eventlog/session_hooks.py`, run only with a person's approval.

An approval is for exactly the bytes that were shown, and exactly these bytes run. It is stored in the store, never in
the project, and asked for on a terminal only (`eventlog lifecycle trust`). Every class of the file that is a
`SessionLifecycleHook` is constructed without arguments, when it runs.
"""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec import to_builtins

from eventlog.app.setup.session_hooks.hooks import (
    HookContext,
    HookOutcome,
    HookRegistry,
    HookResult,
    HookStatus,
    LazyHook,
    SessionLifecycleHook,
    SessionMoment,
)
from eventlog.fast.sha import sha256
from eventlog.format.errors import BadRequest, BadSettings, system_reason
from eventlog.projects.approvals import Approvals
from eventlog.projects.root import project_root
from eventlog.store import Store
from eventlog.store.shared_files import NotConfined, read_below

if TYPE_CHECKING:
    from eventlog.projects.approvals import Approval

PLACE = ".eventlog/session_hooks.py"  # in the root of a project
_LONGEST = 1 << 20  # bytes of source
_MODULE = "eventlog_project_hooks"
_WORST_FIRST = (HookStatus.FAILURE, HookStatus.WARNING, HookStatus.SUCCESS, HookStatus.SKIPPED)


class ProjectHooks(SessionLifecycleHook):
    """Runs the project's own hooks, if a person has approved their source."""

    name = "project"

    def on_session_start(self, context: HookContext) -> HookResult:
        """Run the hooks for a start."""
        return self._run("start", context)

    def on_session_end(self, context: HookContext) -> HookResult:
        """Run the hooks for an end."""
        return self._run("end", context)

    def issue_state(self, context: HookContext) -> str | None:
        """Ask the hooks in order."""
        hooks = _approved_hooks(context)
        return hooks.issue_state(context) if isinstance(hooks, HookRegistry) else None

    def _run(self, moment: SessionMoment, context: HookContext) -> HookResult:
        hooks = _approved_hooks(context)
        return _joined(hooks.run(moment, context)) if isinstance(hooks, HookRegistry) else hooks


def source_of(project: str) -> bytes:
    """Read the hooks of a project; raises OSError or NotConfined."""
    source = read_below(Path(project), Path(project, PLACE), _LONGEST + 1)
    if len(source) > _LONGEST:
        raise NotConfined(f"is longer than {_LONGEST:,} bytes")
    return source


def project_of(named: str) -> str:
    """Find the project whose hooks a path names: the file itself, or any directory of the project."""
    path = Path(named).absolute()
    return str(path.parent.parent) if path.parts[-2:] == Path(PLACE).parts else project_root(str(path)) or str(path)


def shown_source(project: str) -> bytes:
    """Read the hooks of a project to show them to a person; raises BadRequest."""
    try:
        return source_of(project)
    except (OSError, NotConfined) as error:
        reason = system_reason(error)[0] if isinstance(error, OSError) else str(error)
        hint = f"a project's own hooks are in {PLACE} of its root"
        raise BadRequest(f"cannot be read: {reason}", where=str(Path(project, PLACE)), hint=hint) from error


def approval(store: Store, project: str, source: bytes) -> "Approval":
    """Look up the approval of this source as the hooks of this project."""
    return Approvals(store).of(_key(project), source)


def approve(store: Store, project: str, source: bytes) -> None:
    """Store the approval of exactly this source; raises NotStored."""
    Approvals(store).add({_key(project): sha256(source)})


def revoke(store: Store, project: str) -> bool:
    """Remove the approval; return whether it existed. Raises NotStored."""
    return bool(Approvals(store).revoke([_key(project)]))


def _approved_hooks(context: HookContext) -> HookRegistry | HookResult:
    """Load the approved hooks; without an approval, return the result with the reason."""
    if not context.project:
        return HookResult.skipped("in no project")
    path = str(Path(context.project, PLACE))
    try:
        source = source_of(context.project)
    except (OSError, NotConfined) as error:
        return HookResult.skipped(f"{path} cannot be read: {error}")
    found = approval(Store(context.store), context.project, source)
    if found != "trusted":
        refused = HookResult.skipped if found == "not trusted" else HookResult.warning
        return refused(f"{path} is {found}; `eventlog lifecycle trust` shows it and asks")
    return _registered(_hooks(path, source))


def _hooks(path: str, source: bytes) -> list[type[SessionLifecycleHook]]:
    """Load the file, and list the hooks it defines; raises any exception of the file."""
    module = ModuleType(_MODULE)
    module.__file__ = path
    sys.modules[_MODULE] = module  # dataclasses look there for the module of a class
    exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - a person has approved these bytes
    found = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == _MODULE]
    return [kind for kind in found if issubclass(kind, SessionLifecycleHook) and not inspect.isabstract(kind)]


def _registered(kinds: list[type[SessionLifecycleHook]]) -> HookRegistry:
    if not kinds:
        raise BadSettings("defines no hook", where=PLACE, hint="derive a class from SessionLifecycleHook")
    found = HookRegistry()
    for kind in kinds:
        found.register(LazyHook(kind), name=kind.__name__)
    return found


def _joined(outcomes: Sequence[HookOutcome]) -> HookResult:
    """Join the results of all hooks of the file: the worst status, and all messages."""
    status = min((outcome.result.status for outcome in outcomes), key=_WORST_FIRST.index)
    messages = (": ".join(filter(None, (outcome.hook, outcome.result.message))) for outcome in outcomes)
    return HookResult(status, "; ".join(messages), {outcome.hook: to_builtins(outcome.result) for outcome in outcomes})


def _key(project: str) -> str:
    return str(Path(project, PLACE).absolute())
