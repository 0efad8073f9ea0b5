"""Check the store, its settings, and every agent; changes nothing."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.ask.query import texts_in
from eventlog.app.build import foreign_logs
from eventlog.app.build.cache import open_for_reading
from eventlog.app.naming.references import ShortIds
from eventlog.app.setup.install.host_report import Problem, Report, examine
from eventlog.app.setup.install.install import InstallTarget
from eventlog.app.setup.session_hooks.run import mistakes_in
from eventlog.app.write.set_aside import copies_in
from eventlog.format import fence, timestamps
from eventlog.format.codec import to_fields
from eventlog.format.errors import BadSettings, place_of, record_reason, system_reason
from eventlog.format.events import Fact, PlanEntry, StageSummary
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import cut, one_line
from eventlog.format.timestamps import order
from eventlog.hooks import error_log
from eventlog.hosts import packages
from eventlog.hosts.profile import profiles
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.log.verify import sync_program
from eventlog.projections.current.withdrawals import withdrawals_until
from eventlog.projections.engine.day_fold import StoredDays, stamps_of
from eventlog.projections.engine.row_store import RowsDamaged
from eventlog.settings import load
from eventlog.settings.cached import off_switch
from eventlog.store import Store, spool
from eventlog.store.files import file_stamp
from eventlog.store.replica import copied_from, own_replica_of, replica_of

_SHOWN, _CHARS = 5, 100  # of events that try to leave their fence
_NO_PERMISSION = system_reason(PermissionError(errno.EACCES, ""))

_NAMED = 5  # events in the future, with their ids
_TRIED = 4096  # bytes: a block of most file systems
_NEEDED = ("knowledge.db", "locks")
_FOR_OTHERS = 0o077  # rights of others


class DoctorReport(NamedTuple):
    """The size of the store's log, and when its list of sessions was last written; problems of the store.

    Edited files that were set aside, a report per agent, and failures of hooks.
    """

    store: str
    log_files: int
    log_bytes: int
    written_at: str | None
    problems: list[Problem]
    set_aside: list[str]
    agents: list[Report]
    failures: list[dict[str, Any]]
    copied_from: str = ""  # the name of the store that this one was copied from

    @property
    def needs_a_fix(self) -> bool:
        """Return whether the user should act."""
        serious = any(problem.serious for agent in self.agents for problem in agent.problems)
        return bool(serious or self.problems or self.failures)


def doctor(target: InstallTarget) -> DoctorReport:
    """Check the store and every agent; a file that cannot be read is a problem, not an error."""
    store, home = target.store, list(_home(target))
    sizes: list[int] = []
    written = None
    with suppress(OSError):  # not read: a log may be large, or unreadable
        sizes = [file_stamp(file)[0] for day in days.list_days(store.log) for file in day.files]
    with suppress(OSError):
        written = timestamps.from_ns(Path(store.knowledge, "sessions.jsonl").stat().st_mtime_ns)
    return DoctorReport(
        store.root,
        len(sizes),
        sum(sizes),
        written,
        list({problem.what: problem for problem in (*home, *_problems(target))}.values()),
        list(map(str, copies_in(store))),
        [] if home else examine(target),
        [failure | {"error": record_reason(str(failure.get("error")))} for failure in error_log.failures(store)],
        copied_from(store) if own_replica_of(store) else "",
    )


def _home(target: InstallTarget) -> Iterator[Problem]:
    """Check the home directory, which contains the agents' files."""
    home = str(target.home)
    if not target.home.is_absolute():
        yield Problem(f"HOME is {home!r}, which is no path from the root", "set HOME to your home directory")
    elif os.path.lexists(home) and not target.home.is_dir():
        yield Problem(f"{home} is your home directory, and it is none", "set HOME to your home directory")
    elif os.path.lexists(home) and not os.access(home, os.R_OK | os.X_OK):
        yield Problem(f"{home} cannot be examined: {_NO_PERMISSION[0]}", _NO_PERMISSION[1])


def _problems(target: InstallTarget) -> Iterator[Problem]:
    store = target.store
    for check in (
        _switches(target),
        _settings(store),
        _ownership(store),
        _writing(store),
        _waiting(store),
        _lost(store),
        _redacting(store),
        _log_files(store.log),
        _damage(store),
        _replicas(store),
        _leaving(store),
        _future(store),
        _rooms(),
    ):
        try:
            yield from check
        except OSError as error:
            what, fix = system_reason(error)
            yield Problem(f"{place_of(error, store.root)} cannot be examined: {what}", fix)


def _redacting(store: Store) -> Iterator[Problem]:
    if Path(store.redacting).exists():
        yield Problem(
            "a redaction was killed, and is not finished",
            "any verb finishes it once the disk takes it; eventlog redact says why not",
        )


def _log_files(log: str) -> Iterator[Problem]:
    for path in days.foreign_files(log):
        if program := sync_program(Path(path).name):
            what = f"{path} is a copy {program} made where two versions met, and is never read"
            yield Problem(what, "name it YYYY-MM-DD.NAME.jsonl to have its events too, or remove it")
        else:
            yield Problem(f"{path} is no day file and is never read", f"move it out of {log}")
    for bad in days.unreadable(log):
        what = f"{bad.file} cannot be read: {bad.reason}"
        yield Problem(what, "give it back to its owner, or move it out: the rest is read")


def _damage(store: Store) -> Iterator[Problem]:
    """Report the damage that the last replay saw in files that are as they were then: no line is read for it."""
    rows = {}
    with suppress(RowsDamaged):
        rows = StoredDays(open_for_reading(store)).rows()
    known = (day for day in days.list_days(store.log) if day.date in rows and rows[day.date].stamps == stamps_of(day))
    found = (damage for day in known for damage in rows[day.date].damage)
    if lines := [damage for damage in found if damage.kind not in ("pending", "unreadable")]:
        what = f"{len(lines):,} damaged line{'s' * (len(lines) != 1)} of the log, the first {lines[0].place}"
        yield Problem(f"{what}: {lines[0].reason}", "eventlog verify lists all; --repair moves them out")


def _replicas(store: Store) -> Iterator[Problem]:
    for lost in foreign_logs.lost_lines(store):
        now = "is gone" if lost.there is None else f"has {lost.there:,} now, and they do not begin with those"
        fix = f"copy it again from its machine; if it is meant to be so, remove {store.cached('replicas.json')}"
        yield Problem(f"{lost.path} was seen with {lost.seen:,} line{'s' * (lost.seen != 1)} and {now}", fix)
    if file := foreign_logs.written_elsewhere(store):
        name = replica_of(store)
        yield Problem(
            f"{file} has events of {name}, the name of this store, that its own log lacks",
            "where a copy of this store is in use, remove the file `replica` there; else this log has lost them",
        )
    if (former := copied_from(store)) and not own_replica_of(store):
        yield Problem(f"this store is a copy of that of {former}, and goes by its name", "eventlog replay")
    if Path(store.replica).exists() and not replica_of(store):
        yield Problem(f"{store.replica} does not hold the name of a store", "remove it, and it is made anew")


def _leaving(store: Store) -> Iterator[Problem]:
    """Report statements, not withdrawn, that try to leave the fence of a context."""
    log = EventLog(store)
    stated = (event for event in log.mentioning(fence.LEAVING) if isinstance(event, Fact | StageSummary | PlanEntry))
    found = [event for event in stated if any(map(fence.tries_to_leave, texts_in(to_fields(event))))]
    withdrawn = Retractions(withdrawals_until(log, open_for_reading(store)) if found else ())
    leaving = sorted((event for event in found if not withdrawn.hides(event)), key=order)
    for event in leaving[-_SHOWN:]:
        short, text = ShortIds(store).of(event.id), cut(one_line(" · ".join(statements_of(event))), _CHARS)
        yield Problem(f"{short} says what could be taken for a host's words: {text}", f"eventlog forget {short}")
    if len(leaving) > _SHOWN:
        yield Problem(f"{len(leaving) - _SHOWN} older ones do so, too", "forget these, and see again")


def _future(store: Store) -> Iterator[Problem]:
    """Report events a minute or more in the future: a clock was wrong then, or is now."""
    limit = timestamps.from_ns(timestamps.system_clock() + timestamps.FOLLOWED)
    if found := list(EventLog(store).read(limit)):
        named = ", ".join(map(ShortIds(store).of, [event.id for event in found[:_NAMED]]))
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        span = " to ".join(dict.fromkeys((found[0].ts[:10], found[-1].ts[:10])))
        what = f"{len(found):,} event{'s' * (len(found) != 1)} of the future, {span}: {named}{more}"
        fix = "set the clock if it is wrong; they outrank nothing said here since; eventlog forget ID takes a fact back"
        yield Problem(what, fix)


def _rooms() -> Iterator[Problem]:
    """Name the rooms of other packages that cannot be loaded."""
    profiles()
    for agent, why in packages.broken.items():
        yield Problem(f"the package of the host {agent} cannot be used: {why}", "upgrade or remove that package")


def _switches(target: InstallTarget) -> Iterator[Problem]:
    if switch := off_switch(target.environ):
        yield Problem(f"{switch} is set: hooks record nothing", f"unset {switch}")
    if switch := off_switch({}, str(target.project)):
        yield Problem("hooks record nothing in this project", f"rm {switch}")


def _settings(store: Store) -> Iterator[Problem]:
    try:
        settings = load.load(store).settings
    except BadSettings as error:
        is_there = error.what.startswith("cannot be read")
        do = error.hint if is_there else "correct it"
        yield Problem(str(error), f"{do}: until then hooks go by the defaults, and replay refuses")
        return
    for mistake in mistakes_in(settings):
        yield Problem(f"{store.config}: {mistake}", mistake.hint or "correct it: the hook fails until then")


def _ownership(store: Store) -> Iterator[Problem]:
    """Report files of the store that others may read, and settings that others may write."""
    for path in (Path(store.root), Path(store.log), Path(store.config)):
        try:
            found = path.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(found.st_mode)
        if found.st_uid != os.geteuid():
            yield Problem(f"{path} belongs to another user", f"chown {os.geteuid()} {path}")
        if mode & (_FOR_OTHERS if stat.S_ISDIR(found.st_mode) else 0o022):
            yield Problem(f"{path} is open to other users (mode {mode:o})", f"chmod go-rwx {path}")


def _writing(store: Store) -> Iterator[Problem]:
    places = (Path(store.log), *Path(store.log).parents)
    existing = next(path for path in places if os.path.lexists(path))
    if not existing.is_dir():
        yield _refused(existing, NotADirectoryError(errno.ENOTDIR, ""))
    elif os.statvfs(existing).f_flag & os.ST_RDONLY:
        yield _refused(existing, OSError(errno.EROFS, ""))
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield Problem(f"{existing} cannot be written", f"chmod u+w {existing}")
    else:
        yield from _tried(existing.parent if existing == Path(store.log) else existing)
    yield from _unusable(Path(store.cache))


def _unusable(cache: Path) -> Iterator[Problem]:
    """Report parts of the cache that a replay cannot write, unless the disk is read-only."""
    fix = f"chmod -R u+rwX {cache}, or remove it"
    if os.path.lexists(cache) and not cache.is_dir():
        yield Problem(f"{cache} cannot be used: it is no directory, and each replay reads the whole log", f"rm {cache}")
        return
    for path in (cache, *(cache / name for name in _NEEDED)):
        if _is_refused(path, os.R_OK | os.W_OK):
            yield Problem(f"{path} cannot be used: each replay reads the whole log", fix)
    knowledge = cache.with_name("knowledge")
    if _is_refused(knowledge, os.W_OK | os.X_OK):
        yield Problem(f"{knowledge} cannot be written: replay needs it", f"chmod -R u+rwX {knowledge}")


def _is_refused(path: Path, rights: int) -> bool:
    """Return whether a file exists without these rights, though the disk can be written."""
    if not os.path.lexists(path) or os.access(path, rights):
        return False
    with suppress(OSError):
        return not os.statvfs(path).f_flag & os.ST_RDONLY
    return True


def _refused(place: Path, error: OSError) -> Problem:
    what, remedy = system_reason(error)
    return Problem(f"{place} cannot be written: {what}", remedy)


def _tried(directory: Path) -> Iterator[Problem]:
    """Try to write a block: a full disk can be opened."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"\n" * _TRIED)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = _refused(directory, error)
        yield problem._replace(fix="free some space: until then hooks lose events") if is_full else problem


def _lost(store: Store) -> Iterator[Problem]:
    """Report lost events, until the user removes the files that count them."""
    lost = error_log.lost(store)
    if lost is None:
        return
    first, last = (timestamps.from_ns(ns)[:19] for ns in (lost.first_ns, lost.last_ns))
    reasons = [record_reason(str(failure.get("error"))).rpartition(": ")[2] for failure in error_log.failures(store)]
    why = f": {reasons[-1]}" if reasons else ""
    many = f"{lost.events:,} hook event{'s' * (lost.events != 1)} could not be stored"
    fix = f"keep some space free; to hear no more of it: rm {' '.join(lost.counters)}"
    yield Problem(f"{many}, from {first} to {last}{why}", fix)


def _waiting(store: Store) -> Iterator[Problem]:
    """Report events that wait in the spool, and files that the log refused."""
    if waiting := spool.waiting(store):
        count = f"{len(waiting):,} event{'s wait' if len(waiting) > 1 else ' waits'}"
        yield Problem(
            f"{count} in {store.spool}: hooks found the log locked, or could not write it",
            f"eventlog replay appends them; if they stay, `fuser -v {store.log}/*` names who holds the log",
        )
    for path in spool.waiting(store, spool.REFUSED):
        yield Problem(f"{path} is no event and was set aside", "read it, then remove it")
