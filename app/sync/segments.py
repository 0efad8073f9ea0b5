"""Files of a remote, and how each is checked before it is used.

Marker    `eventlog-sync.json`: which memory this is, its epoch, signed by the secret; without it a place is foreign.
Head      `<replica>/head.age`, replaced by its machine only: which segments count, with their digests; signed.
Keys      `keys/<epoch>/<replica>.age`: the secret of an epoch, by machine; `earlier.age`: older secrets.

Names tell replica and day, nothing else. What is not as its head says is not used.
"""

import re
import zlib
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import Struct

from eventlog.app.sync.keyring import Keyring, signature
from eventlog.app.write.erasing.foreign_redactions import ForeignRedaction
from eventlog.fast import os
from eventlog.fast.sha import sha256
from eventlog.store import day_of, is_replica_name

MARKER = "eventlog-sync.json"
_LARGEST = 64 << 20  # bytes of a segment's lines
_AT_ONCE = 8 << 20  # bytes of lines from which on another segment begins
_DIGEST = 32  # hexadecimal digits
_NAME = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)/(?P<number>\d{1,12})-[0-9a-f]{8}\.age")


class Marker(Struct):
    """The identity of a remote; `dropped` has the machines that were dropped, with the last head that counts."""

    namespace: str
    epoch: int = 1
    dropped: dict[str, int] = {}
    check: str = ""
    format: int = 1

    def signed(self, secret: bytes) -> bytes:
        """Write the marker, signed by the secret of its epoch."""
        self.check = signature(secret, self._body())
        return msgspec.json.encode(self)

    def is_signed_by(self, secret: bytes) -> bool:
        """Return whether the secret is that of this remote and epoch."""
        return bool(self.check) and signature(secret, self._body()) == self.check

    def _body(self) -> bytes:
        return msgspec.json.encode(["marker", self.format, self.namespace, self.epoch, self.dropped], order="sorted")


class MachineHead(Struct):
    """The state of a machine as it was when it last published.

    `segments` maps `<day>/<number>-<random>.age` to digests, `received` replicas to the number of the last segment
    taken from each; `bad` names segments of others that were not what their heads say.
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


class Listing(NamedTuple):
    """A remote as it was read: its files, marker and heads; `damaged` are the heads that cannot be used."""

    names: set[str]
    marker: Marker
    heads: dict[str, MachineHead]
    damaged: list[str]


def head_name(replica: str) -> str:
    """Name the head of a machine."""
    return f"{replica}/head.age"


def key_name(epoch: int, replica: str) -> str:
    """Name the file that hands a machine the secret of an epoch."""
    return f"keys/{epoch}/{replica}.age"


def replica_of_head(name: str) -> str:
    """Read the machine from the name of a head; "" for every other name."""
    replica, slash, rest = name.partition("/")
    return replica if slash and rest == "head.age" and is_machine(replica) else ""


def is_machine(name: str) -> bool:
    """Return whether a name may be that of a machine, and of its directory and day files."""
    return is_replica_name(name) and "." not in name


@cache  # a sync asks of each name several times
def day_in(segment: str) -> str:
    """Read the day from the name of a segment; "" for every other name."""
    found = _NAME.fullmatch(segment)
    return day_of(f"{found['day']}.jsonl") if found else ""


def number_in(segment: str) -> int:
    """Read the number from the name of a segment."""
    found = _NAME.fullmatch(segment)
    return int(found["number"]) if found else 0


def pack_head(keyring: Keyring, head: MachineHead) -> bytes:
    """Sign and encrypt a head."""
    body = msgspec.json.encode(head)
    signed = f"{keyring.epoch}\n{keyring.sign(body)}\n".encode() + body
    return keyring.encrypt(zlib.compress(signed, 6))


def open_head(keyring: Keyring, replica: str, data: bytes) -> MachineHead | None:
    """Read a head; None where it is damaged, foreign, or not signed by a machine of this remote."""
    opened = _inflated(keyring.decrypt(data))
    try:
        epoch, signed, body = (opened or b"").split(b"\n", 2)
        if not signed or signed.decode() != keyring.sign(body, int(epoch)):
            return None
        head = msgspec.json.decode(body, type=MachineHead)
    except (ValueError, msgspec.MsgspecError):
        return None
    is_right = head.namespace == keyring.namespace and head.replica == replica and all(map(day_in, head.segments))
    return head if is_right else None


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


def read_marker(data: bytes) -> Marker | None:
    """Read the marker of a remote; None where it is damaged, or of a later format."""
    try:
        marker = msgspec.json.decode(data, type=Marker)
    except msgspec.MsgspecError:
        return None
    return marker if marker.format == 1 else None


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
