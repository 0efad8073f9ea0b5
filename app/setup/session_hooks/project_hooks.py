"""`project`: the hooks a project brings itself, in `.eventlog/session_hooks.py`; run only with a person's consent.

The consent is to one file, as it was when it was shown, until it changes. It is kept in the store, never in the
project, and given on a terminal only (`eventlog lifecycle trust`). The bytes that were agreed to are the bytes that
run. Every class of the file that is a `SessionLifecycleHook` is made without arguments, when it runs.
"""

import hashlib
import inspect
import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from types import ModuleType

from msgspec import to_builtins

from eventlog.app.setup.session_hooks.hooks import (
    HookContext,
    HookOutcome,
    HookRegistry,
    HookResult,
    HookStatus,
    LateHook,
    SessionLifecycleHook,
    SessionMoment,
)
from eventlog.fast import fastjson
from eventlog.format.errors import BadRequest, BadSettings, system_reason
from eventlog.projects.root import project_root
from eventlog.store import Store
from eventlog.store.files import make_dirs, replace_file
from eventlog.store.shared_files import NotConfined, read_below

PLACE = ".eventlog/session_hooks.py"  # in the root of a project
_LONGEST = 1 << 20  # bytes of source
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


class Consent(Enum):
    """The answer of the person to the file as it is now."""

    GIVEN = "trusted"
    NEVER_ASKED = "not trusted"
    OUTDATED = "changed since it was trusted"


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
    """Read the hooks of a project for a person to agree to; raises BadRequest where that cannot be."""
    try:
        return source_of(project)
    except (OSError, NotConfined) as error:
        reason = system_reason(error)[0] if isinstance(error, OSError) else str(error)
        hint = f"a project's own hooks are in {PLACE} of its root"
        raise BadRequest(f"cannot be read: {reason}", where=str(Path(project, PLACE)), hint=hint) from error


def consent(store: Store, project: str, source: bytes) -> Consent:
    """Tell what the person has said to this source as the hooks of this project."""
    known = _given(store).get(_key(project))
    if known is None:
        return Consent.NEVER_ASKED
    return Consent.GIVEN if known == _digest(source) else Consent.OUTDATED


def give_consent(store: Store, project: str, source: bytes) -> None:
    """Note that the person has said yes to exactly this source; raises NotStored."""
    _keep(store, {**_given(store), _key(project): _digest(source)})


def withdraw_consent(store: Store, project: str) -> bool:
    """Forget the consent; tells whether there was any. Raises NotStored."""
    given = _given(store)
    found = given.pop(_key(project), None) is not None
    if found:
        _keep(store, given)
    return found


def _agreed(context: HookContext) -> HookRegistry | HookResult:
    """Load the hooks a person has agreed to; where there are none, the result that says why."""
    if not context.project:
        return HookResult.skipped("in no project")
    path = str(Path(context.project, PLACE))
    try:
        source = source_of(context.project)
    except (OSError, NotConfined) as error:
        return HookResult.skipped(f"{path} cannot be read: {error}")
    said = consent(Store(context.store), context.project, source)
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
        raise BadSettings("defines no hook", where=PLACE, hint="derive a class from SessionLifecycleHook")
    found = HookRegistry()
    for kind in kinds:
        found.register(LateHook(kind), name=kind.__name__)
    return found


def _in_one(outcomes: Sequence[HookOutcome]) -> HookResult:
    """Join the results of all hooks of the file: the status of the worst, and what each says."""
    status = min((outcome.result.status for outcome in outcomes), key=_WORST_FIRST.index)
    messages = (": ".join(filter(None, (outcome.hook, outcome.result.message))) for outcome in outcomes)
    return HookResult(status, "; ".join(messages), {outcome.hook: to_builtins(outcome.result) for outcome in outcomes})


def _key(project: str) -> str:
    return str(Path(project, PLACE).absolute())


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()


def _given(store: Store) -> dict[str, object]:
    """Read all consents, digests by path; a file that cannot be read has none."""
    try:
        return fastjson.object_in(Path(store.trusted).read_bytes())
    except OSError:
        return {}


def _keep(store: Store, given: dict[str, object]) -> None:
    make_dirs(store.root)
    replace_file(store.trusted, fastjson.dumps(given) + b"\n")
