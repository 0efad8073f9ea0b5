"""Files of a remote, and how each, and the whole, is checked before it is used.

Marker    `eventlog-sync.json`: which memory this is, its epoch, signed by the secret; without it a place is foreign.
Head      `<replica>/head.age`, replaced by its machine only: which segments count, with their digests; signed.
Keys      `keys/<epoch>-<random>/<replica>.age`: the secret of an epoch, by machine; `earlier.age`: older secrets.

Names tell replica and day, nothing else. What is not as its head says is not used.

What is refused: a place that was emptied, belongs to another memory, or was rolled back. A file alone that is torn,
missing or old is no reason: its machine writes it again. A relay may be emptied, or its stream deleted: it is filled
again. Nothing that is gone there deletes anything here.
"""

import re
import zlib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import Struct

from eventlog.app.sync.keyring import Keyring, signature
from eventlog.app.sync.remote import Remote
from eventlog.app.sync.sync_state import SyncState
from eventlog.app.write.erasing.foreign_redactions import ForeignRedaction
from eventlog.fast import os
from eventlog.fast.sha import sha256
from eventlog.format.codec import json_of
from eventlog.format.errors import UntrustedRemote
from eventlog.format.timestamps import to_ms
from eventlog.store import Store, day_of, is_replica_name

MARKER = "eventlog-sync.json"
_LARGEST = 64 << 20  # bytes of a segment's lines
_AT_ONCE = 8 << 20  # bytes of lines from which on another segment begins
_DIGEST = 32  # hexadecimal digits
_LEAVE = "if that is meant: `eventlog sync leave`, then start or join again; nothing is deleted here"
_NAME = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)/(?P<number>\d{1,12})-[0-9a-f]{8}\.age")


class Marker(Struct):
    """The identity of a remote; `dropped` has the machines that were dropped, with the last head that counts.

    Who was dropped still has the secrets from before: of the heads that are signed by those only `heads` count, by
    their digests, and a new secret is taken over only from who can prove, by `proofs`, to have the one before.
    """

    namespace: str
    epoch: int = 1
    dropped: dict[str, int] = {}
    check: str = ""
    format: int = 1
    heads: dict[str, str] = {}
    proofs: dict[int, str] = {}
    keys: str = ""  # the folder of the keys of this epoch, for two machines may begin it at once

    @classmethod
    def read(cls, data: bytes) -> "Marker | None":
        """Read the marker of a remote; None where it is damaged, or of a later format."""
        marker = json_of(data, cls)
        return marker if marker and marker.format == 1 else None

    def signed(self, keyring: Keyring) -> bytes:
        """Write the marker, signed by the secret of its epoch and by all before."""
        body = self._body()
        self.check = keyring.sign(body, self.epoch)
        self.proofs = {epoch: keyring.sign(body, epoch) for epoch in keyring.secrets if epoch < self.epoch}
        return msgspec.json.encode(self)

    def is_signed_by(self, secret: bytes) -> bool:
        """Return whether the secret is that of this remote and epoch."""
        return bool(self.check) and signature(secret, self._body()) == self.check

    def is_proven_to(self, keyring: Keyring, epoch: int) -> bool:
        """Return whether who wrote the marker has the secret that is known here of an earlier epoch."""
        return bool(self.proofs.get(epoch)) and keyring.sign(self._body(), epoch) == self.proofs[epoch]

    def key_name(self, replica: str) -> str:
        """Name the file that hands a machine the secret of the epoch."""
        return f"keys/{self.keys or self.epoch}/{replica}.age"

    def keys_for(self, keyring: Keyring, recipients: Mapping[str, str]) -> dict[str, bytes]:
        """Encrypt the secret of a new epoch for each machine, and the earlier secrets for that secret."""
        earlier = {epoch: secret for epoch, secret in keyring.secrets.items() if epoch != keyring.epoch}
        files = {
            self.key_name(replica): keyring.encrypt(keyring.secret, recipient)
            for replica, recipient in recipients.items()
        }
        files[self.key_name("earlier")] = keyring.encrypt(msgspec.json.encode(earlier))
        return files

    def secrets_before(self, remote: Remote, secret: bytes) -> dict[int, str]:
        """Read the secrets of the epochs before, for the segments that were encrypted then."""
        found = {self.epoch: secret.hex()}
        if self.epoch > 1:
            name = self.key_name("earlier")
            ring = Keyring("", self.namespace, self.epoch, found, "")
            opened = ring.decrypt(dict(remote.read([name])).get(name, b""))
            found |= msgspec.json.decode(opened or b"{}", type=dict[int, str])
        return found

    def _body(self) -> bytes:
        counting = [self.heads] if self.heads else []
        body = ["marker", self.format, self.namespace, self.epoch, self.dropped, *counting]
        return msgspec.json.encode(body, order="sorted")


class MachineHead(Struct):
    """The state of a machine as it was when it last published.

    `segments` maps `<day>/<number>-<random>.age` to digests, `received` replicas to the number of the last segment
    taken from each; `bad` names segments of others that were not what their heads say; `copied` is the recipient that a
    copy of its store had, too.
    """

    namespace: str
    replica: str
    sequence: int
    token: str
    ts: str
    recipient: str
    last: int = 0
    segments: dict[str, str] = {}
    received: dict[str, int] = {}
    bad: list[str] = []
    redactions: list[ForeignRedaction] = []
    confirmed: list[str] = []
    left: bool = False
    copied: str = ""

    @staticmethod
    def replica_in(name: str) -> str:
        """Read the machine from the name of a head; "" for every other name."""
        replica, slash, rest = name.partition("/")
        return replica if slash and rest == "head.age" and is_replica_name(replica) and "." not in replica else ""

    def packed(self, keyring: Keyring) -> bytes:
        """Sign and encrypt the head."""
        body = msgspec.json.encode(self)
        signed = f"{keyring.epoch}\n{keyring.sign(body)}\n".encode() + body
        return keyring.encrypt(zlib.compress(signed, 6))

    @classmethod
    def opened(cls, keyring: Keyring, replica: str, data: bytes, marker: Marker | None = None) -> "MachineHead | None":
        """Read a head; None where it is damaged, foreign, or not signed by a machine of this remote.

        By the secret of an earlier epoch, which dropped machines have, only those are signed that the marker names.
        """
        opened = _inflated(keyring.decrypt(data))
        try:
            epoch, signed, body = (opened or b"").split(b"\n", 2)
            if not signed or signed.decode() != keyring.sign(body, int(epoch)):
                return None
            if marker and marker.heads and int(epoch) != marker.epoch and marker.heads.get(replica) != digest_of(data):
                return None
            head = msgspec.json.decode(body, type=cls)
            to_ms(head.ts)
        except (ValueError, msgspec.MsgspecError):
            return None
        is_right = head.namespace == keyring.namespace and head.replica == replica and all(map(day_in, head.segments))
        return head if is_right else None


class Listing(NamedTuple):
    """A remote as it was read: its files, marker and heads; `damaged` are the heads that cannot be used."""

    names: set[str]
    marker: Marker
    heads: dict[str, MachineHead]
    damaged: list[str]
    digests: Mapping[str, str]  # of heads

    def members(self, keyring: Keyring, state: SyncState) -> dict[str, str]:
        """Map the machines that are not dropped to the public halves of their keys, also one whose head is lost."""
        found = {name: seen.recipient for name, seen in state.machines.items() if seen.recipient}
        found |= {name: head.recipient for name, head in self.heads.items()}
        found[state.replica] = keyring.recipient
        return {name: recipient for name, recipient in found.items() if name not in self.marker.dropped}


@cache  # a sync asks of each name several times
def day_in(segment: str) -> str:
    """Read the day from the name of a segment; "" for every other name."""
    found = _NAME.fullmatch(segment)
    return day_of(f"{found['day']}.jsonl") if found else ""


def number_in(segment: str) -> int:
    """Read the number from the name of a segment."""
    found = _NAME.fullmatch(segment)
    return int(found["number"]) if found else 0


def pack_lines(keyring: Keyring, replica: str, day: str, lines: bytes, last: int) -> dict[str, bytes]:
    """Make the segments of some lines, by their names below the replica; numbers follow the `last` number."""
    packed: dict[str, bytes] = {}
    start = 0
    while start < len(lines):
        end = len(lines) if len(lines) - start <= _AT_ONCE else lines.rindex(b"\n", start, start + _AT_ONCE) + 1
        last += 1
        name = f"{day}/{last}-{os.urandom(4).hex()}.age"
        packed[name] = keyring.encrypt(zlib.compress(_first_line(keyring, replica, day) + lines[start:end], 6))
        start = end
    return packed


def open_lines(keyring: Keyring, replica: str, name: str, data: bytes, digest: str) -> bytes | None:
    """Read the lines of a segment; None where its digest, or what it holds, is not that of its head."""
    if digest_of(data) != digest:
        return None
    opened = _inflated(keyring.decrypt(data))
    first = _first_line(keyring, replica, day_in(name))
    return opened[len(first) :] if opened and opened.startswith(first) and opened.endswith(b"\n") else None


def digest_of(data: bytes) -> str:
    """Digest a segment as heads have it."""
    return sha256(data)[:_DIGEST]


def _first_line(keyring: Keyring, replica: str, day: str) -> bytes:
    return msgspec.json.encode([keyring.namespace, replica, day]) + b"\n"


def _inflated(data: bytes | None) -> bytes | None:
    if data is None:
        return None
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(data, _LARGEST)
    except zlib.error:
        return None
    return found if inflater.eof else None


# ------------------------------------------------------------------------------------------------ the whole remote


def look(remote: Remote, keyring: Keyring, state: SyncState, store: Store, *, renew: bool = False) -> Listing:
    """Read marker and heads of a remote, and take over the secret of a newer epoch.

    With `renew` it may be emptied or rolled back, as a relay may be emptied. Raises Offline, UntrustedRemote, or
    NotStored.
    """
    names = remote.names()
    read = dict(remote.read([name for name in names if name == MARKER or MachineHead.replica_in(name)]))
    marker = Marker.read(read.get(MARKER, b""))
    if marker and not _is_signed(marker, keyring) and _heads_in(read, keyring)[0]:
        marker = None  # damaged
    if remote.stream != state.stream:
        state.stream = remote.stream
        for seen in state.machines.values():  # how far their heads were in the stream before
            seen.sequence = 0
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
        keyring.save(store)
    if not marker.is_signed_by(keyring.secret):
        raise _unsigned(marker, keyring)
    heads, damaged = _heads_in(read, keyring, marker)
    state.dropped, state.heads = marker.dropped, marker.heads
    digests = {replica: digest_of(read[f"{replica}/head.age"]) for replica in heads}
    return _without_old_heads(Listing(names, marker, heads, damaged, digests), keyring, state, renew=renew)


def marker_files(found: Listing, keyring: Keyring, state: SyncState) -> dict[str, bytes]:
    """Write the marker of a remote that has lost it, and the keys that were lost with it, for all machines."""
    files = {MARKER: found.marker.signed(keyring)}
    if keyring.epoch > 1 and found.marker.key_name("earlier") not in found.names:
        files |= found.marker.keys_for(keyring, found.members(keyring, state))
    return files


def _is_signed(marker: Marker, keyring: Keyring) -> bool:
    """Return whether a marker is signed by any secret that is known here, or proven to it."""
    by_one = any(marker.is_signed_by(bytes.fromhex(secret)) for secret in keyring.secrets.values())
    return by_one or any(marker.is_proven_to(keyring, epoch) for epoch in keyring.secrets)


def _heads_in(
    read: Mapping[str, bytes], keyring: Keyring, marker: Marker | None = None
) -> tuple[dict[str, MachineHead], list[str]]:
    """Open the heads of this memory, of those that its marker lets count, and name those that cannot be used."""
    heads, damaged = {}, []
    for name, data in sorted(read.items()):
        if replica := MachineHead.replica_in(name):
            head = MachineHead.opened(keyring, replica, data, marker)
            if head is None:
                damaged.append(name)
            elif not marker or head.sequence <= marker.dropped.get(replica, head.sequence):
                heads[replica] = head
    return heads, damaged


def _unsigned(marker: Marker, keyring: Keyring) -> UntrustedRemote:
    """Make the error of a marker that is not signed by our secret, though it is of our epoch."""
    if _is_signed(marker, keyring):
        what = "has another key than this machine: two machines were dropped at once, and the other drop counts"
        hint = "`eventlog sync leave`, join with the code that was printed there, then drop again whom you dropped here"
        return UntrustedRemote(what, where=keyring.remote, hint=hint)
    return UntrustedRemote("has a marker that no machine of ours signed", where=keyring.remote, hint=_LEAVE)


def _again(keyring: Keyring) -> str:
    return f"if that is meant: `eventlog sync start {keyring.remote}`; nothing is deleted here"


def _is_behind(marker: Marker, keyring: Keyring) -> bool:
    """Return whether a machine that did not have our key yet has filled a relay again."""
    secret = bytes.fromhex(keyring.secrets.get(marker.epoch, ""))
    is_own = marker.namespace == keyring.namespace and marker.is_signed_by(secret)
    return marker.epoch < keyring.epoch and is_own


def _marker_again(
    names: set[str], read: Mapping[str, bytes], keyring: Keyring, state: SyncState, *, may_be_empty: bool
) -> Marker:
    """Make the marker of a remote that has lost it; raises UntrustedRemote where no head of this memory lies there."""
    if not names and not may_be_empty:
        raise UntrustedRemote("was emptied", where=keyring.remote, hint=_again(keyring))
    if names and not _heads_in(read, keyring)[0]:
        raise UntrustedRemote("is no memory of eventlog, or one of somebody else", where=keyring.remote, hint=_LEAVE)
    marker = Marker(keyring.namespace, keyring.epoch, state.dropped, heads=state.heads)
    marker.signed(keyring)
    return marker


def _take_secret(remote: Remote, names: set[str], marker: Marker, keyring: Keyring, replica: str) -> None:
    """Take over the secret of a newer epoch that another machine has left; raises UntrustedRemote."""
    if not marker.is_proven_to(keyring, keyring.epoch):
        raise UntrustedRemote("has a new key that no machine of ours made", where=keyring.remote, hint=_LEAVE)
    name = marker.key_name(replica)
    data = dict(remote.read([name])).get(name, b"") if name in names else b""
    secret = keyring.decrypt(data, keyring.machine) or (keyring.before and keyring.decrypt(data, keyring.before)) or b""
    if not marker.is_signed_by(secret):
        hint = "what it has stays here; with a new code it may join again: `eventlog sync leave` first"
        raise UntrustedRemote("this machine was dropped from it", where=keyring.remote, hint=hint)
    keyring.epoch = marker.epoch
    keyring.secrets |= marker.secrets_before(remote, secret)


def _without_old_heads(found: Listing, keyring: Keyring, state: SyncState, *, renew: bool) -> Listing:
    """Leave out heads that are older than they were; raises UntrustedRemote where their segments are gone, too."""
    expected = {name: (seen.sequence, seen.taken) for name, seen in state.machines.items()}
    if state.sequence:
        expected[state.replica] = state.sequence, state.segments()
    for replica, (sequence, taken) in expected.items():
        head = found.heads.get(replica)
        if head is None or head.sequence >= sequence:
            continue
        newer = [f"{replica}/{name}" for name in taken if name not in head.segments]
        if newer and found.names.isdisjoint(newer) and not renew:
            raise UntrustedRemote("was rolled back: it held more before", where=keyring.remote, hint=_again(keyring))
        del found.heads[replica]
    return found
