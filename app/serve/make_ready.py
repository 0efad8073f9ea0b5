"""Keeps the context of one session for the next ones, with what it was made of.

`eventlog/hooks/ready_context.py` tells it, as long as all that is as it was.
"""

from typing import NamedTuple

from eventlog.app.open_store import OpenStore
from eventlog.app.serve.context import build
from eventlog.app.serve.context_loader import copy_of
from eventlog.app.serve.session_context import receipt_of, request_of
from eventlog.fast import fastjson
from eventlog.format import timestamps
from eventlog.format.errors import NotStored
from eventlog.format.text import encodable
from eventlog.hooks import ready_context
from eventlog.hosts.call import HookCall
from eventlog.projections.context import context_files
from eventlog.projections.context.agent_context import SessionType
from eventlog.projections.context.build import ContextResult
from eventlog.projections.context.lasting import lasting
from eventlog.projections.context.request import ContextRequest
from eventlog.store.files import NO_FILE, replace_file

TICK_NS = 20_000_000  # by so much a clock of a file system may be behind


class AsItWas(NamedTuple):
    """The log and the project's repository before a context is made: what they tell meanwhile counts as told since."""

    since: str
    log: str
    size: int
    said: str
    config: str


def as_it_is(opened: OpenStore, project: str) -> AsItWas | None:
    """Look at the log and the repository; None where nothing can be kept of a context."""
    store, since = opened.store, opened.machine.now()
    config = ready_context.config_of(project)
    try:
        said = ready_context.said_on(store, since[:10])
        log = ready_context.log_but(store, since[:10])
        return AsItWas(since, log, len(said), ready_context.digest_of(said), config)
    except (OSError, ValueError):
        return None


def keep(opened: OpenStore, call: HookCall, request: ContextRequest, built: ContextResult, before: AsItWas) -> bool:
    """Keep a context for the next session that starts like this one; False where it may not last.

    Nothing is kept that was made of a file which changed meanwhile, or just before: nobody knows how it was read.
    """
    lasts, head = lasting(built.parts), encodable(request.instructions)
    text = built.context.text
    if not lasts or not text.startswith(head) or _tells_of_tomorrow(opened, before.since):
        return False
    copies = [copy_of(opened.store.cached("context"), path) for path in lasts.missing]  # without one, it is made again
    files = {path: ready_context.stamp_of(path) for path in (*lasts.files, *copies)}
    begun = timestamps.to_ns(before.since)
    if any(changed_at > begun - TICK_NS for _, _, changed_at, _ in files.values()):
        return False
    if any(files[path] == list(NO_FILE) for path in (*lasts.there, *copies)):
        return False  # somebody removed it meanwhile; or it is the trace of a file that a real start would make
    bootstrap = context_files.bootstrap_file(opened.settings, request.home).path
    if built.context.session_type is SessionType.MAIN and files[bootstrap] != list(NO_FILE):
        return False  # the next real start is told of it, and uses it up
    kept: dict[str, object] = {
        **before._asdict(),
        "until": lasts.until,
        "files": list(files.items()),
        "work": [request.work.branch, request.work.files],
        "heard": lasts.heard,
        "body": built.body,
        "receipt": receipt_of(built),
    }
    try:
        path = ready_context.place(opened.store, call, request.source, request.instructions)
        replace_file(path, fastjson.dumps(kept), durable=False)
    except (NotStored, OSError, ValueError):
        return False
    return True


def make_ready(opened: OpenStore, agent: str, project: str, where: str, session: str) -> bool:
    """Make the context of the next session of an agent in a project, which is named as long as this one."""
    if not (before := as_it_is(opened, project)):
        return False
    call = HookCall(agent, "SessionStart", {"cwd": where or project}, session="x" * len(session))
    if call.project != project:
        return False
    request = request_of(
        opened,
        project,
        session=call.session,
        session_type="main",
        source=ready_context.NEW[0],
        agent=agent,
        where=where,
    )
    return keep(opened, call, request, build(opened.log, opened.settings, request), before)


def _tells_of_tomorrow(opened: OpenStore, now: str) -> bool:
    """Tell whether the log has days to come, of which a context hears more by and by."""
    return any(day.date > now[:10] for day in opened.log.days(now))
