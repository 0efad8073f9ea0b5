"""Keeps the context of one session for the next ones, with what it was made of.

`eventlog/hooks/ready_context.py` tells it, as long as all that is as it was.
"""

from typing import NamedTuple

from eventlog import fastjson, timestamps
from eventlog.app.context import build
from eventlog.app.context_loader import copy_of
from eventlog.app.open_store import OpenStore
from eventlog.app.receipt import receipt_of
from eventlog.app.session_context import request_of
from eventlog.errors import NotStored
from eventlog.files import replace_file
from eventlog.hooks import ready_context
from eventlog.hosts.call import HookCall
from eventlog.projections.context.build import ContextResult
from eventlog.projections.context.lasting import Lasting, lasting
from eventlog.projections.context.request import ContextRequest
from eventlog.store import Store
from eventlog.text import encodable

TICK_NS = 20_000_000  # by so much a clock of a file system may be behind


class LogAsItWas(NamedTuple):
    """The log before a context is made: what is said while it is made counts as said since."""

    since: str
    log: str
    size: int
    said: str


def log_now(opened: OpenStore) -> LogAsItWas | None:
    """Look at the log; None where nothing can be kept of it."""
    store, since = opened.store, opened.machine.now()
    try:
        said = ready_context.said_on(store, since[:10])
        return LogAsItWas(since, ready_context.log_but(store, since[:10]), len(said), ready_context.digest_of(said))
    except (OSError, ValueError):
        return None


def keep(opened: OpenStore, call: HookCall, request: ContextRequest, built: ContextResult, before: LogAsItWas) -> bool:
    """Keep a context for the next session that starts like this one; False where it may not last.

    Nothing is kept that was made of a file which changed meanwhile, or just before: nobody knows how it was read.
    """
    lasts, head = lasting(built.parts), encodable(request.instructions)
    text = built.context.text
    if not lasts or not text.startswith(head) or _tells_of_tomorrow(opened, before.since):
        return False
    files = {path: ready_context.stamp_of(path) for path in _files(opened.store, lasts)}
    begun = timestamps.to_ns(before.since)
    if any(changed_at > begun - TICK_NS for _, _, changed_at, _ in files.values()):
        return False
    kept: dict[str, object] = {
        **before._asdict(),
        "until": lasts.until,
        "files": list(files.items()),
        "work": ready_context.work_of(call),
        "heard": lasts.heard,
        "body": text[len(head) :],
        "receipt": receipt_of(built),
    }
    if any(not ready_context.stamp_of(copy_of(opened.store.cached("context"), path))[3] for path in lasts.missing):
        return False  # it would be made at a real start
    try:
        path = ready_context.place(opened.store, call, request.source, request.instructions)
        replace_file(path, fastjson.dumps(kept), durable=False)
    except (NotStored, OSError, ValueError):
        return False
    return True


def make_ready(opened: OpenStore, agent: str, project: str, where: str, session: str) -> bool:
    """Make the context of the next session of an agent in a project, which is named as long as this one."""
    if not (before := log_now(opened)):
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


def _files(store: Store, lasts: Lasting) -> list[str]:
    """List the files whose change ends it; a file that somebody removed is made again where its copy goes."""
    return [*lasts.files, *(copy_of(store.cached("context"), path) for path in lasts.missing)]
