"""The index of a store, opened: current, or rebuilt beside the old file, which it replaces when it is whole.

An index is made anew where there is none, it is damaged or has another format, the log has changed otherwise than by
appends, or a project with much in it has another name now. Who has time also makes it anew where another program made
it, or a withdrawal brought something back to light; a prompt has none, and reads what exists.
Imported inside agents' hooks: standard library only.
"""

import gc

from eventlog.app.naming.known_projects import KnownProjects
from eventlog.app.search.appended import NotAppended
from eventlog.app.search.database import DatabaseError, OperationalError, delete, is_damage
from eventlog.app.search.search_index import SearchIndex
from eventlog.app.search.word_tables import fields_in
from eventlog.fast import os
from eventlog.store import files
from eventlog.store.index_lookup import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import TypeVar

    from eventlog.format.events import Event
    from eventlog.store import Store

    T = TypeVar("T")

PATIENCE = 5.0  # seconds another writer is waited for
ALL = 1 << 62  # bytes


def open_index(store: "Store", *, patience: float = PATIENCE, limit: int = ALL) -> SearchIndex:
    """Open the index, current with the log; where the cache cannot be written, or no store is, an index in memory.

    Raises OSError, ValueError where more than `limit` bytes had to be read, and DatabaseError.
    """
    if not os.path.isdir(store.root):
        return _made(store, ":memory:", limit, "")
    program = _program(patience)

    def is_usable(index: SearchIndex) -> bool:
        if not index.is_current() or _is_outdated(index, store, program):
            return False
        index.catch_up(store, limit)
        if program and not index.is_outdated(program):
            index.erase()
        return not _is_outdated(index, store, program)

    try:
        return _existing(store, patience, is_usable) or _anew(store, limit, program)
    except (OSError, OperationalError) as error:
        if patience < PATIENCE or (isinstance(error, OperationalError) and is_damage(error)):
            raise
        return _made(store, ":memory:", limit, "")


def _is_outdated(index: SearchIndex, store: "Store", program: str) -> bool:
    """Return whether an index must be replaced; not while the withdrawals of a day are unknown."""
    return bool(program) and index.is_outdated(program) and None not in _withdrawn_unread(store).values()


def _withdrawn_unread(store: "Store") -> "Mapping[str, Collection[Event] | None]":
    from eventlog.app.build.cache import withdrawn_unread  # most indexes lack no day

    return withdrawn_unread(store)


def _known_unread(store: "Store") -> list[bytes]:
    """List lines of days that cannot be read now: what the cache has of withdrawals, and the index of others."""
    withdrawn, path = _withdrawn_unread(store), store.cached("search.sqlite")
    if not withdrawn:
        return []
    from eventlog.format.codec import encode

    lines = [encode(event) for found in withdrawn.values() for event in found or ()]
    if not os.path.isfile(path):
        return lines
    index = SearchIndex(path, KnownProjects(store), PATIENCE)
    try:
        rows = index.database.execute("SELECT line FROM units") if index.is_current() else ()
        return lines + [line for (line,) in rows if str(fields_in(line)["ts"])[:10] in withdrawn]
    except DatabaseError:
        return lines
    finally:
        index.close()


def read_index(store: "Store", read: "Callable[[SearchIndex], T]") -> "T":
    """Read from the index, current with the log, and from a new one where a line of it is damaged.

    Raises OSError where the log cannot be read, DatabaseError where there is no room.
    """
    is_new = False
    while True:
        index = open_index(store)
        try:
            return read(index)
        except DatabaseError as error:
            if is_new or not is_damage(error):
                raise
            delete(store.cached("search.sqlite"))
        finally:
            index.close()
        is_new = True


def invalidate(store: "Store") -> None:
    """Mark the index stale: a later replay rebuilds it, prompts read it until then."""
    path = store.cached("search.sqlite")
    if not os.path.isfile(path):
        return
    try:
        index = SearchIndex(path, KnownProjects(store), PATIENCE)
        try:
            index.database.execute("DELETE FROM meta WHERE name = 'program'")
        finally:
            index.close()
    except DatabaseError as error:
        if is_damage(error):  # where nothing can be written, nothing can be changed
            delete(path)


def leave_index(store: "Store", limit: int) -> SearchIndex:
    """Update the index from the log, without a byte of what is withdrawn, and open it; create it where there is none.

    An index that is merely outdated stays. Raises ValueError where more than `limit` bytes had to be read, and OSError
    or DatabaseError where nothing can be written.
    """

    def is_left(index: SearchIndex) -> bool:
        if not index.is_current():
            return False
        index.catch_up(store, limit, every_day=True)
        index.erase()
        index.count()
        return True

    if index := _existing(store, PATIENCE, is_left):
        return index
    delete(store.cached("search.sqlite"))
    return _anew(store, limit, _program(PATIENCE))


def _program(patience: float) -> str:
    """Return the key of this program; "" for a prompt, which takes an index of any."""
    if patience < PATIENCE:
        return ""
    from eventlog.app.build.program import program_key

    return program_key()


def _existing(store: "Store", patience: float, use: "Callable[[SearchIndex], bool]") -> SearchIndex | None:
    """Open the index that exists; None where there is none, or `use` returns that it is of none."""
    path = store.cached("search.sqlite")
    if not os.path.isfile(path):
        delete(path)
        return None
    index, is_of_use = SearchIndex(path, KnownProjects(store), patience), False
    try:
        is_of_use = use(index)
    except NotAppended:
        pass
    except DatabaseError as error:
        if not is_damage(error):
            raise
    finally:
        if not is_of_use:
            index.close()
    return index if is_of_use else None


def _anew(store: "Store", limit: int, program: str) -> SearchIndex:
    files.make_dirs(store.cache, durable=False)
    path = store.cached("search.sqlite")
    temporary = f"{path}.{os.urandom(4).hex()}{files.ENDING}"
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.MODE_PRIVATE))
    try:
        built = _made(store, temporary, limit, program)
        built.close()
        if not program and os.path.isfile(path) and len(built.grown) < len(names_of(store.log)):
            raise ValueError("a day cannot be read, and what it withdraws is not looked for here")
        files.remove(f"{path}-journal")  # of the old one, whose writer was killed
        os.replace(temporary, path)
    finally:
        files.remove(temporary)
    index = SearchIndex(path, built.names, PATIENCE)
    index.grown = built.grown
    return _filled(index, index.is_current)


def _made(store: "Store", path: str, limit: int, program: str) -> SearchIndex:
    index = SearchIndex(path, KnownProjects(store), PATIENCE)
    return _filled(index, lambda: _fill(index, store, limit, program))


def _filled(index: SearchIndex, fill: "Callable[[], object]") -> SearchIndex:
    """Return an index that was filled or looked at; close it where that raises."""
    try:
        fill()
    except BaseException:
        index.close()
        raise
    return index


def _fill(index: SearchIndex, store: "Store", limit: int, program: str) -> None:
    try:
        index.create("fts5", program)
    except OperationalError as error:
        if "no such module" not in str(error):
            raise
        index.create("scan", program)
    was_on = gc.isenabled()
    gc.disable()  # what is read is kept, and holds no cycles
    try:
        index.catch_up(store, limit, known=_known_unread(store) if program else ())
    finally:
        if was_on:
            gc.enable()
