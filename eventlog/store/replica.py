"""The name of this machine's store among the stores that exchange logs: the file `replica`, made on first need.

Events that tell of files of one machine carry it, so that they count for those files only. Beside it, `replica.machine`
notes on which machine the file was last seen: a store that was copied from there whole gets a name of its own.

Imported inside agents' hooks: os only, two small reads.
"""

import eventlog
from eventlog.fast import os
from eventlog.format import ids
from eventlog.store import files, is_replica_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from eventlog.store import Store

_READ = 256  # bytes; a longer file is none of ours
_LONGEST_HOST = 24
_LONGEST = 40
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id", "/etc/hostid")
_FIELDS, _REPORTED = 6, "told"  # of a note
_SHORTEST_ID = 32  # characters; what is shorter is a word like "uninitialized"


def replica_of(store: "Store") -> str:
    """Read the name of this store; "" before it has a name, or where it cannot be read."""
    name = (files.read(store.replica, _READ) or b"").decode("ascii", "replace").strip()
    return name if len(name) <= _LONGEST and "." not in name and is_replica_name(name) else ""


def own_replica_of(store: "Store") -> str:
    """Read the name of this store; "" also where it is still that of the store this one was copied from."""
    name = replica_of(store)
    return "" if name and _is_copied(store, name) else name


def copied_from(store: "Store", *, untold: bool = False) -> str:
    """Read the name of the store that this one was copied from; "" where it was not, or only where that is `untold`."""
    name = replica_of(store)
    if name and _is_copied(store, name):
        return name
    noted = _noted(store, name)
    return noted[3] if noted and not (untold and noted[4]) else ""


def mark_reported(store: "Store") -> None:
    """Record that a person has read that this store is a copy; raises NotStored."""
    if copied_from(store, untold=True):
        _note(store, replica_of(store), reported=_REPORTED)


def make_replica(store: "Store", former: str = "") -> str:
    """Read the name of this store, or make it: of several processes the first wins.

    Its events are those of a `former` store, where it was restored. Raises NotStored.
    """
    found = replica_of(store)
    noted = _noted(store, found) if found else ()
    if noted and noted[1:3] == _file(store) and not former:  # this very file, on whatever machine
        return found
    if not found:
        with _alone(store):
            if not os.path.exists(store.replica):
                _write_name(store)
    elif _is_copied(store, found):
        rename(store, found, only_a_copy=True)
    if found := replica_of(store):
        _note(store, found, former if former != found else "")
        return found
    hint = "remove it, and it is made anew"
    raise eventlog.NotStored("does not hold the name of a store", where=store.replica, hint=hint)


def rename(store: "Store", former: str, *, only_a_copy: bool = False) -> str:
    """Give a store another name, unless it has got one meanwhile: a copy of it has the former. Raises NotStored."""
    with _alone(store):
        is_former = replica_of(store) == former and (not only_a_copy or _is_copied(store, former))
        if is_former:
            # notes of sessions that run on the other machine: here their hosts would look gone
            for name in files.names_in(store.cached("open")) if only_a_copy else ():
                files.remove(store.cached("open", name))
            _write_name(store)
            files.remove(f"{store.replica}.machine")
    if is_former:
        _note(store, replica_of(store), former)
    return replica_of(store)


def _write_name(store: "Store") -> None:
    from eventlog.settings.cached import wants_sync

    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    plain = "".join(char if char in _LETTERS else "-" for char in host.split(".")[0].lower())
    slug = plain[:_LONGEST_HOST].strip("-")
    name = f"{slug if is_replica_name(slug) else 'machine'}-{os.urandom(3).hex()}"
    files.replace_file(store.replica, f"{name}\n".encode(), durable=wants_sync(store))


def _alone(store: "Store") -> "AbstractContextManager[object]":
    """Keep other processes from giving a name meanwhile; raises NotStored or Busy."""
    from eventlog.store.locks import lock

    return lock(store.lock("replica"))


# ------------------------------------------------------------------------------------------ where the name was made


def _is_copied(store: "Store", name: str) -> bool:
    """Return whether the file `replica` is a copy from another machine.

    Both must be certain. Another file: a copy has another inode and another change time, neither of which any program
    can choose; a disk that moved, or one that several machines mount, keeps one of them. Another machine: a home that
    moved, was restored or renamed on the same one is no copy, nor is a host's new name.
    """
    noted, now = _noted(store, name), _file(store)
    if not (noted and now):
        return False
    machine, inode, changed = noted[:3]
    return inode != now[0] and changed != now[1] and _machine() not in ("", machine)


def _noted(store: "Store", name: str) -> tuple[str, ...]:
    """Read machine, inode, change time, former name and `told` as noted for this name; nothing where they are not."""
    fields = (files.read(f"{store.replica}.machine", _READ) or b"").decode("ascii", "replace").split("\n")
    return tuple(fields[1:6]) if fields[0] == name and len(fields) == _FIELDS + 1 else ()  # each ends its line


def _note(store: "Store", name: str, former: str = "", reported: str = "") -> None:
    """Record this machine and this file, unless either cannot be identified."""
    machine, file = _machine(), _file(store)
    if not (machine and file):
        return
    with _alone(store):  # else one who read the note before another wrote `former` removes it
        noted = _noted(store, name)
        if noted and noted[0] != machine:
            return
        before = noted[3:] or ("", "")
        fields = (name, machine, *file, former or before[0], reported or before[1], "")
        files.replace_file(f"{store.replica}.machine", "\n".join(fields).encode(), durable=False)


def _file(store: "Store") -> tuple[str, ...]:
    _, _, changed, inode = files.file_stamp(store.replica)
    return (str(inode), str(changed)) if inode else ()


def _machine() -> str:
    """Digest what distinguishes this machine, for as long as its system is installed; "" where nothing does."""
    for path in _MACHINE_IDS:
        text = (files.read(path, _READ) or b"").decode("ascii", "replace").strip()
        if len(text) >= _SHORTEST_ID:
            return ids.digest(f"eventlog {text}", 16).hex()
    return _digest_of_mac() if hasattr(os, "uname") and os.uname().sysname == "Darwin" else ""


def _digest_of_mac() -> str:
    import ctypes  # where a name is made or a copy suspected, and nowhere else

    found, wait = (ctypes.c_ubyte * 16)(), (ctypes.c_long * 2)(1, 0)  # a uuid, and one second
    try:
        failed = ctypes.CDLL(None).gethostuuid(found, wait)
    except (OSError, AttributeError):
        return ""
    return "" if failed else ids.digest(f"eventlog {bytes(found).hex()}", 16).hex()
