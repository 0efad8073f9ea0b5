"""A session's context, with the shell it needs: people's files, the store's cache, the clock.

`build` only looks; `begin` is the real start of a session: what is used once is used up.
"""

import time
from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.user_files import take_bootstrap
from eventlog.app.serve.context_loader import Loader
from eventlog.log.event_log import EventLog
from eventlog.projections.context import build as pure
from eventlog.projections.context.agent_context import SessionType
from eventlog.projections.context.build import ContextResult
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.context.sources import session_type_of
from eventlog.settings.schema import Settings


def build(
    log: EventLog,
    settings: Settings,
    request: ContextRequest,
    clock: Callable[[], float] = time.perf_counter,
    *,
    creates: bool = False,
) -> ContextResult:
    """Build the context and time it; no file and no line of the log makes it fail.

    With `creates`, missing files of the user are made from their templates.
    """
    begun = clock()
    store = log.store
    loader = Loader(store.cached("context"), datetime.fromisoformat(request.now), creates)
    built = pure.build(log, settings, request, loader.load, open_for_reading(store))
    took_ms = round((clock() - begun) * 1000)
    return built._replace(context=replace(built.context, load_time_ms=took_ms))


def begin(log: EventLog, settings: Settings, request: ContextRequest) -> ContextResult:
    """Build the context of a session that starts now; the receipt is the caller's, once the text has been given.

    What only the user is told once waits for a session to which nobody else listens.
    """
    listens = session_type_of(log, request)
    is_told = listens is SessionType.MAIN
    first = take_bootstrap(settings, request.home, request.now) if is_told else ""
    told = replace(request, session_type=listens, bootstrap=first)
    return build(log, settings, told, creates=settings.context.templates)
