"""The check of a remote before anything is done: it belongs to this memory, is whole, and not older than before.

What is refused: a place that was emptied, belongs to another memory, or was rolled back. A file alone that is torn,
missing or old is no reason: its machine writes it again. A relay may be emptied, or its stream deleted: it is filled
again. Nothing that is gone there deletes anything here.
"""

from collections.abc import Mapping

import msgspec

from eventlog.app.sync import keyring as keys
from eventlog.app.sync.keyring import Keyring, save_keyring
from eventlog.app.sync.remote import Remote
from eventlog.app.sync.segments import (
    MARKER,
    Listing,
    MachineHead,
    Marker,
    key_name,
    open_head,
    read_marker,
    replica_of_head,
)
from eventlog.app.sync.sync_state import SyncState
from eventlog.format.errors import BadRequest, UntrustedRemote
from eventlog.store import Store

_LEAVE = "if that is meant: `eventlog sync leave`, then start or join again; nothing is deleted here"


def look(remote: Remote, keyring: Keyring, state: SyncState, store: Store, *, renew: bool = False) -> Listing:
    """Read marker and heads of a remote, and take over the secret of a newer epoch.

    With `renew` it may be emptied or rolled back, as a relay may be emptied. Raises Offline, UntrustedRemote, or
    NotStored.
    """
    names = remote.names()
    read = dict(remote.read([name for name in names if name == MARKER or replica_of_head(name)]))
    marker = read_marker(read.get(MARKER, b""))
    if remote.stream != state.stream:
        state.begin_stream(remote.stream)
    may_be_empty = renew or remote.stream is not None
    if marker is None or (may_be_empty and _is_behind(marker, keyring)):
        marker = _marker_again(names, read, keyring, state, may_be_empty=may_be_empty)
        names -= {MARKER}  # it is published anew
    if marker.namespace != keyring.namespace:
        raise UntrustedRemote("belongs to another memory", where=keyring.remote, hint=_LEAVE)
    if marker.epoch < keyring.epoch:
        raise UntrustedRemote("was rolled back: its key is older than ours", where=keyring.remote, hint=_again(keyring))
    if marker.epoch > keyring.epoch:
        _take_secret(remote, names, marker, keyring, state.replica)
        save_keyring(store, keyring)
    if not marker.is_signed_by(keyring.secret):
        raise UntrustedRemote("has a marker that no machine of ours signed", where=keyring.remote, hint=_LEAVE)
    heads, damaged = {}, []
    for name, data in sorted(read.items()):
        replica = replica_of_head(name)
        head = open_head(keyring, replica, data) if replica else None
        if head is None:
            damaged += [name] if replica else []
        elif head.sequence <= marker.dropped.get(replica, head.sequence):
            heads[replica] = head
    state.dropped = marker.dropped
    return _without_old_heads(Listing(names, marker, heads, damaged), keyring, state, renew=renew)


def check_code(remote: Remote, address: str, secret: bytes) -> Marker:
    """Compare a code with a remote; raises BadRequest for a wrong code, UntrustedRemote for a remote without memory."""
    names = remote.names()
    marker = read_marker(dict(remote.read([MARKER])).get(MARKER, b"")) if MARKER in names else None
    if marker is None:
        what = f"has lost its marker, {MARKER}" if any(map(replica_of_head, names)) else "holds no memory yet"
        raise UntrustedRemote(what, where=address, hint=f"on the other machine: eventlog sync start {address}")
    if not marker.is_signed_by(secret):
        raise BadRequest("is the code of another memory, or one from before a machine was dropped", where="CODE")
    return marker


def secrets_before(remote: Remote, marker: Marker, secret: bytes) -> dict[int, str]:
    """Read the secrets of the epochs before, for the segments that were encrypted then."""
    found = {marker.epoch: secret.hex()}
    if marker.epoch > 1:
        name = key_name(marker.epoch, "earlier")
        ring = Keyring("", marker.namespace, marker.epoch, found, "")
        opened = ring.decrypt(dict(remote.read([name])).get(name, b""))
        found |= msgspec.json.decode(opened or b"{}", type=dict[int, str])
    return found


def keys_for(marker: Marker, keyring: Keyring, recipients: Mapping[str, str]) -> dict[str, bytes]:
    """Encrypt the secret of a new epoch for each machine, and the earlier secrets for that secret."""
    earlier = {epoch: secret for epoch, secret in keyring.secrets.items() if epoch != keyring.epoch}
    files = {
        key_name(marker.epoch, replica): keys.encrypt(keyring.secret, recipient)
        for replica, recipient in recipients.items()
    }
    files[key_name(marker.epoch, "earlier")] = keyring.encrypt(msgspec.json.encode(earlier))
    return files


def marker_files(found: Listing, keyring: Keyring, state: SyncState) -> dict[str, bytes]:
    """Write the marker of a remote that has lost it, and the keys that were lost with it, for all machines."""
    files = {MARKER: found.marker.signed(keyring.secret)}
    if keyring.epoch > 1 and key_name(keyring.epoch, "earlier") not in found.names:
        recipients = {
            name: seen.recipient
            for name, seen in state.machines.items()
            if seen.recipient and name not in found.marker.dropped
        }
        recipients[state.replica] = keys.recipient_of(keyring.machine)
        files |= keys_for(found.marker, keyring, recipients)
    return files


def _again(keyring: Keyring) -> str:
    return f"if that is meant: `eventlog sync start {keyring.remote}`; nothing is deleted here"


def _is_behind(marker: Marker, keyring: Keyring) -> bool:
    """Return whether a machine that did not have our key yet has filled a relay again."""
    secret = bytes.fromhex(keyring.secrets.get(marker.epoch, ""))
    is_ours = marker.namespace == keyring.namespace and marker.is_signed_by(secret)
    return marker.epoch < keyring.epoch and is_ours


def _marker_again(
    names: set[str], read: Mapping[str, bytes], keyring: Keyring, state: SyncState, *, may_be_empty: bool
) -> Marker:
    """Make the marker of a remote that has lost it; raises UntrustedRemote where no head of this memory lies there."""
    if not names and not may_be_empty:
        raise UntrustedRemote("was emptied", where=keyring.remote, hint=_again(keyring))
    if names and not any(
        open_head(keyring, replica_of_head(name), data) for name, data in read.items() if name != MARKER
    ):
        raise UntrustedRemote("is no memory of eventlog, or one of somebody else", where=keyring.remote, hint=_LEAVE)
    marker = Marker(keyring.namespace, keyring.epoch, state.dropped)
    marker.signed(keyring.secret)
    return marker


def _take_secret(remote: Remote, names: set[str], marker: Marker, keyring: Keyring, replica: str) -> None:
    """Take over the secret of a newer epoch that another machine has left; raises UntrustedRemote."""
    name = key_name(marker.epoch, replica)
    data = dict(remote.read([name])).get(name, b"") if name in names else b""
    secret = keys.decrypt(data, [keyring.machine]) or b""
    if not marker.is_signed_by(secret):
        raise UntrustedRemote(
            "this machine was dropped from it",
            where=keyring.remote,
            hint="what it has stays here; with a new code it may join again: `eventlog sync leave` first",
        )
    keyring.epoch = marker.epoch
    keyring.secrets |= secrets_before(remote, marker, secret)


def _without_old_heads(found: Listing, keyring: Keyring, state: SyncState, *, renew: bool) -> Listing:
    """Leave out heads that are older than they were; raises UntrustedRemote where their segments are gone, too."""
    expected = {name: (seen.sequence, seen.taken) for name, seen in state.machines.items()}
    if state.sequence:
        expected[state.replica] = state.sequence, [name for name, _ in state.segments()]
    for replica, (sequence, taken) in expected.items():
        head = found.heads.get(replica)
        if head is None or head.sequence >= sequence:
            continue
        newer = [f"{replica}/{name}" for name in taken if name not in head.segments]
        if newer and found.names.isdisjoint(newer) and not renew:
            raise UntrustedRemote("was rolled back: it held more before", where=keyring.remote, hint=_again(keyring))
        del found.heads[replica]
    return found


def copied(found: Listing, state: SyncState) -> bool:
    """Return whether another store publishes under this name."""
    head: MachineHead | None = found.heads.get(state.replica)
    return head is not None and head.token not in (state.token, state.pending)
