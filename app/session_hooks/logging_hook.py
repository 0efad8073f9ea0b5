"""`logging`: one line per start and end of a session, in `cache/sessions.log`."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from eventlog import side_log
from eventlog.app.session_hooks.hook_base import HookResult, SessionLifecycleHook
from eventlog.app.session_hooks.hook_context import HookContext
from eventlog.files import make_dirs
from eventlog.store import Store
from eventlog.text import one_line

_LARGEST = 1 << 20  # bytes; then the file is started anew and the old one kept as `.1`


class LoggingOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`session_hooks.logging` of `config.yaml`."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"  # what the lines are marked with
    log_start: bool = True
    log_end: bool = True


class Logging(SessionLifecycleHook):
    """Say when sessions start and end."""

    name = "logging"

    def __init__(self, options: LoggingOptions = LoggingOptions()) -> None:  # noqa: B008 - it is frozen
        self._options = options

    def on_session_start(self, context: HookContext) -> HookResult:
        """A line, where wanted."""
        return self._log("start", context) if self._options.log_start else HookResult.skipped("log_start is off")

    def on_session_end(self, context: HookContext) -> HookResult:
        """A line, where wanted."""
        return self._log("end", context) if self._options.log_end else HookResult.skipped("log_end is off")

    def _log(self, moment: str, context: HookContext) -> HookResult:
        said = {"session": context.session_id, "project": context.project, "agent": context.agent}
        words = [f"{name}={one_line(value)}" for name, value in {**said, "reason": context.reason}.items() if value]
        path = path_of(Store(context.store))
        line = " ".join([context.at, self._options.log_level, f"session {moment}", *words])
        make_dirs(str(path.parent))
        side_log.append(str(path), line.encode("utf-8", "replace"), _LARGEST)
        return HookResult.success(str(path))


def path_of(store: Store) -> Path:
    """Where the lines are."""
    return Path(store.cached("sessions.log"))
