"""Members of a memory: the first machine starts it, others join by its code, a machine is dropped, or leaves."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.app.open_store import OpenStore
from eventlog.app.sync.exchange import exchange
from eventlog.app.sync.keyring import SECRET, Keyring
from eventlog.app.sync.remote import Remote, full_address, open_remote
from eventlog.app.sync.segments import MARKER, MachineHead, Marker, look, marker_files
from eventlog.app.sync.sync_state import SyncState, names_of
from eventlog.fast import os
from eventlog.format.errors import BadRequest, Busy, EventLogError, Offline, UntrustedRemote
from eventlog.store.files import remove
from eventlog.store.locks import lock
from eventlog.store.replica import make_replica, rename, replica_of

_TRIES = 20


class _DroppedMachine(NamedTuple):
    """A machine that was dropped, the new code, and the machines that go on by themselves."""

    machine: str
    code: str
    others: list[str]


def start_sync(opened: OpenStore, place: str) -> Keyring:
    """Make an empty place the remote of this store, and return its keys, with the code for others.

    The remote of a store that syncs is taken as it is where it was emptied, rolled back, or lost its marker: its key
    stays, and everything is sent again. Raises BadRequest where the store syncs already, UntrustedRemote for a place
    with something else, Offline, NotStored.
    """
    address = full_address(place, opened.machine)
    with lock(opened.store.lock("sync")):
        keyring = Keyring.load(opened.store)
        if keyring is None:
            keyring = _begin(opened, address)
        else:
            _begin_again(opened, keyring, address)
        return keyring


def _begin(opened: OpenStore, address: str) -> Keyring:
    remote = open_remote(address, opened.store, opened.machine, make=True)
    names = remote.names()
    if MARKER in names:
        raise UntrustedRemote("holds a memory already", where=address, hint=f"eventlog sync join {address} CODE")
    if names:
        raise UntrustedRemote("is not empty", where=address, hint="name an empty directory or repository")
    make_replica(opened.store)
    keyring = Keyring(address, os.urandom(8).hex(), 1, {1: os.urandom(SECRET).hex()}, Keyring.new_machine())
    keyring.save(opened.store)  # first: nobody else has the key of what is there afterwards
    _publish_marker(remote, address, {MARKER: Marker(keyring.namespace, keyring.epoch).signed(keyring)})
    return keyring


def _begin_again(opened: OpenStore, keyring: Keyring, address: str) -> None:
    """Take the remote of this store as it is, and write its marker where that is lost."""
    _, remote, state = _opened(opened)
    if keyring.remote != address or _is_in_order(remote, keyring, state, opened):
        raise _syncs_already(opened, keyring)
    remote = open_remote(address, opened.store, opened.machine, make=True)
    found = look(remote, keyring, state, opened.store, renew=True)
    if MARKER not in found.names:
        _publish_marker(remote, address, marker_files(found, keyring, state))
    _forget_others(opened, keyring)


def _syncs_already(opened: OpenStore, keyring: Keyring) -> BadRequest:
    hint = "`eventlog sync leave` first"
    return BadRequest(f"syncs already, with {keyring.remote}", where=opened.store.root, hint=hint)


def _is_in_order(remote: Remote, keyring: Keyring, state: SyncState, opened: OpenStore) -> bool:
    """Return whether a store exchanges with its remote, and may go on."""
    try:
        return bool(state.sequence) and MARKER in look(remote, keyring, state, opened.store).names
    except (UntrustedRemote, Offline):
        return False


def _publish_marker(remote: Remote, address: str, files: dict[str, bytes]) -> None:
    if not remote.publish(files, ()):
        hint = "join it with the code shown there"
        raise UntrustedRemote("is being started by another machine", where=address, hint=hint)


def join_sync(opened: OpenStore, place: str, code: str | Callable[[], str]) -> Keyring:
    """Make this store a member of a remote; nothing is written before its code is found right.

    A code that has to be asked for is asked for once a memory is found there. Raises BadRequest for a wrong code or
    where the store syncs already, UntrustedRemote, Offline, or NotStored.
    """
    import tempfile  # most verbs join nothing

    address = full_address(place, opened.machine)
    if isinstance(code, str):  # a misspelt one is refused before the remote is asked
        Keyring.secret_in(code)
    keyring = Keyring.load(opened.store)
    with tempfile.TemporaryDirectory(prefix="eventlog-") as clone:
        remote = open_remote(address, opened.store, opened.machine, clone)
        names = remote.names()
        marker = Marker.read(dict(remote.read([MARKER])).get(MARKER, b"")) if MARKER in names else None
        if marker is None:
            is_lost = any(map(MachineHead.replica_in, names))
            what = f"has lost its marker, {MARKER}" if is_lost else "holds no memory yet"
            raise UntrustedRemote(what, where=address, hint=f"on the other machine: eventlog sync start {address}")
        secret = Keyring.secret_in(code if isinstance(code, str) else code())
        if keyring and keyring.secret != secret:
            raise _syncs_already(opened, keyring)
        if not marker.is_signed_by(secret):
            raise BadRequest("is the code of another memory, or one from before a machine was dropped", where="CODE")
        secrets = marker.secrets_before(remote, secret)
    name = make_replica(opened.store)
    with lock(opened.store.lock("sync")):
        if name in marker.dropped:  # what this machine publishes by that name counts no more
            rename(opened.store, name)
        keyring = keyring or Keyring(address, marker.namespace, marker.epoch, secrets, Keyring.new_machine())
        keyring = replace(keyring, remote=address, namespace=marker.namespace, epoch=marker.epoch, secrets=secrets)
        _forget_others(opened, keyring)
        keyring.save(opened.store)
    return keyring


def _forget_others(opened: OpenStore, keyring: Keyring) -> None:
    """Take the remote as it is: everything is sent again, and what was there of this machine makes room."""
    state = SyncState.load(opened.store)
    if state.namespace == keyring.namespace:
        state.machines, state.days = {}, {}
        state.save(opened.store)


def drop_machine(opened: OpenStore, reference: str, confirmed: Callable[[str], bool]) -> _DroppedMachine | None:
    """Begin an epoch without a machine, once that is `confirmed`: it can read nothing that is written from now on.

    The others are left the new secret, the old code joins no more. None where that is not confirmed. Raises BadRequest
    for a machine that is not known, UntrustedRemote, Offline, or NotStored.
    """
    Keyring.of(opened.store)  # before the lock, which makes the directory of a store
    with lock(opened.store.lock("sync")):
        keyring, remote, state = _opened(opened)
        found = look(remote, keyring, state, opened.store)
        replica = _machine_named(reference, found.members(keyring, state), state.replica)
        if not confirmed(replica):
            return None
        for _ in range(_TRIES):
            others = found.members(keyring, state)
            if others.pop(replica, None) is None:  # by another machine, meanwhile
                return _DroppedMachine(replica, keyring.code, sorted(others.keys() - {state.replica}))
            last = found.heads[replica] if replica in found.heads else state.machines[replica]
            epoch, secret = keyring.epoch + 1, os.urandom(SECRET)
            secrets = {**keyring.secrets, epoch: secret.hex()}
            marker = Marker(keyring.namespace, epoch, {**found.marker.dropped, replica: last.sequence})
            marker.heads = {name: found.digests[name] for name in found.heads}
            marker.keys = f"{epoch}-{os.urandom(4).hex()}"
            renewed = replace(keyring, epoch=epoch, secrets=secrets)
            files = {**marker.keys_for(renewed, others), MARKER: marker.signed(renewed)}
            if remote.publish(files, ()):
                state.dropped, state.heads = marker.dropped, marker.heads  # a lost marker is made again by these
                state.save(opened.store)
                renewed.save(opened.store)
                return _DroppedMachine(replica, renewed.code, sorted(others.keys() - {state.replica}))
            found = look(remote, keyring, state, opened.store)
    raise Busy("other machines publish all the time", where=keyring.remote, hint="try again")


def leave_sync(opened: OpenStore, confirmed: Callable[[], bool] = lambda: True) -> bool | None:
    """Remove the key of the remote from this store, once that is `confirmed`; all events stay, here and there.

    Publishes a last time; return whether the remote was reached, None where it is not confirmed. Raises BadRequest for
    a store that does not sync.
    """
    key = f"{opened.store.sync}/key"
    if not os.path.exists(key):
        raise BadRequest("does not sync", where=opened.store.root)
    if not confirmed():
        return None
    try:
        is_published = not exchange(opened, leaving=True).offline
    except EventLogError:  # refused, full or busy, or the key is damaged: who leaves need not care
        is_published = False
    with lock(opened.store.lock("sync")):
        remove(key)
    return is_published


def _opened(opened: OpenStore) -> tuple[Keyring, Remote, SyncState]:
    keyring = Keyring.of(opened.store)
    state = SyncState.load(opened.store)
    state.replica = state.replica or replica_of(opened.store)
    return keyring, open_remote(keyring.remote, opened.store, opened.machine), state


def _machine_named(reference: str, members: Collection[str], here: str) -> str:
    """Find the machine that is meant; raises BadRequest for none, for several, and for this machine."""
    others = [name for name in members if name != here]
    shown = names_of(members)
    meant = [name for name in others if reference in (name, shown[name])]
    meant = meant or [name for name in others if reference and reference in name]
    if reference in (here, shown.get(here)) and reference not in others:
        raise BadRequest(f"{reference} is this machine", hint="eventlog sync leave")
    if len(meant) != 1:
        names = ", ".join(sorted(others)) or "no other machine yet"
        raise BadRequest(f"{reference!r} is {'several machines' if meant else 'no machine of this memory'}", hint=names)
    return meant[0]
