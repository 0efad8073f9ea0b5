"""The name of this machine's store among the stores that exchange logs: the file `replica`, made on first need.

Events that tell of files of one machine carry it, so that they count for those files only.

Imported inside agents' hooks: os only, one small read.
"""

from eventlog import files
from eventlog.errors import NotStored
from eventlog.lean import os
from eventlog.store import is_replica_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.store import Store

_READ = 128  # bytes; a longer file is none of ours
_LONGEST_HOST = 24
_LONGEST = 40
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def replica_of(store: "Store") -> str:
    """Read the name of this store; "" where none was made yet, or nobody can read it."""
    try:
        name = files.read_regular(store.replica, _READ).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return name if len(name) <= _LONGEST and "." not in name and is_replica_name(name) else ""


def make_replica(store: "Store") -> str:
    """Read the name of this store, made now where there is none: of several processes one wins. Raises NotStored."""
    found = replica_of(store)
    if found:
        return found
    try:
        _make(store)
    except OSError as error:
        raise files.not_stored(error, store.replica) from error
    if found := replica_of(store):
        return found
    raise NotStored("does not hold the name of a store", where=store.replica, hint="remove it, and it is made anew")


def _make(store: "Store") -> None:
    """Give the store a name, unless it has got one meanwhile; raises OSError or NotStored."""
    from eventlog.settings.cached import wants_sync

    durable = wants_sync(store)
    files.make_dirs(store.root, durable=durable)
    temporary = f"{store.replica}.{os.urandom(4).hex()}{files.ENDING}"
    files.write_temporary(temporary, f"{_new_name()}\n".encode(), durable=durable, mode=files.OURS)
    try:
        os.link(temporary, store.replica)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        with files.lock(store.lock("replica")):
            if not os.path.exists(store.replica):
                os.replace(temporary, store.replica)
    finally:
        files.remove(temporary)
    if durable:
        files.sync_dir(store.root)


def _new_name() -> str:
    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    plain = "".join(char if char in _LETTERS else "-" for char in host.split(".")[0].lower())
    slug = plain[:_LONGEST_HOST].strip("-")
    return f"{slug if is_replica_name(slug) else 'machine'}-{os.urandom(3).hex()}"
