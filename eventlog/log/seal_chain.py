"""The chain of seals, `seals.jsonl`: its lines, how they are read and appended, and what they have of each file.

Each seal has the digest of the line before it, and of itself. A seal lists the files that have grown since the one
before; of all others an earlier seal has the state. So the last seal of a file says how far it was sealed, and all of
them together which lines it had.
"""

import base64
from collections.abc import Iterable
from functools import partial
from hashlib import sha256

import msgspec
from msgspec import Struct

from eventlog.fast import os
from eventlog.log.lines import Damage
from eventlog.store import Store
from eventlog.store.files import append_bounded, read_end, read_regular, sync_data, sync_dir

_LEAF = 16  # bytes of a digest that stand for a line
_TAIL = 1 << 16  # bytes in which the last seal is looked for
_ENDLESS = 1 << 62
_CHECK = b',"check":"'


class SealedFile(Struct, omit_defaults=True):
    """A file as a seal has it: a day of `log/`, or `rewritten.jsonl`."""

    name: str
    bytes: int  # as far as its last whole line
    lines: int
    sha256: str  # of these bytes
    root: str  # of the Merkle tree over the leaves of all these lines, as in RFC 6962
    leaves: str = ""  # of the lines that are new since it was listed before: base64 of 16 bytes each
    changed: list[tuple[int, str]] = []  # lines, as it was listed before, with their leaves now; "" for one taken out


class Seal(Struct, omit_defaults=True):
    """A line of `seals.jsonl`. The head of the chain is the SHA-256 of its last line."""

    n: int
    ts: str
    replica: str  # the name of the store at that time
    prev: str  # SHA-256 of the line before
    state: str  # SHA-256 of what the next seal goes on from
    days: list[SealedFile]  # those that have grown since the seal before, or were changed
    anew: bool = False  # a person accepted the log as it was: it is compared with nothing before
    check: str = ""  # SHA-256 of the line without this field


class Chain(Struct):
    """The seals, line by line, the digest of each line, and the first thing that is wrong with them."""

    seals: list[Seal | None] = []
    heads: list[str] = []
    damage: list[Damage] = []

    @property
    def newest(self) -> Seal | None:
        """The last seal that is whole."""
        return next((seal for seal in reversed(self.seals) if seal), None)

    def files(self, until: int | None = None) -> dict[str, list[SealedFile]]:
        """List what the seals up to a line have of each file, since the last that accepted the log as it was."""
        found: dict[str, list[SealedFile]] = {}
        for seal in filter(None, self.seals[:until]):
            if seal.anew:
                found = {}
            for file in seal.days:
                found.setdefault(file.name, []).append(file)
        return found


_decoder = msgspec.json.Decoder(Seal)


def read_chain(store: Store) -> Chain:
    """Read all seals; find the first that is damaged, missing or another than the next was chained to."""
    try:
        data = read_regular(store.seals)
    except FileNotFoundError:
        return Chain()
    except OSError as error:
        return Chain(damage=[Damage.of_file(store.seals, os.strerror(error.errno or 0))])
    chain, offset, expected, before = Chain(), 0, 1, ""
    lines = data.split(b"\n")[:-1]
    del data
    for number, line in enumerate(lines, 1):
        seal = seal_in(line)
        place = partial(Damage, store.seals, number, offset)
        if seal and seal.anew:
            chain.damage.clear()
        if seal is None:
            chain.damage.append(place("altered", "this seal is not what was written"))
        elif seal.n != expected:
            chain.damage.append(place("missing", f"seal {seal.n} is where seal {expected} should be"))
        elif seal.prev != before:
            chain.damage.append(place("altered", "it was chained to another seal than the one before it"))
        expected = seal.n + 1 if seal else expected + 1
        before = digest_of(line)
        offset += len(line) + 1
        chain.seals.append(seal)
        chain.heads.append(before)
    del chain.damage[1:]
    return chain


def last_seal(store: Store) -> tuple[bytes, int]:
    """Read the last whole line of the chain, and how long the chain is as far as it; raises OSError."""
    most = _TAIL
    while True:
        try:
            end = read_end(store.seals, most)
        except FileNotFoundError:
            return b"", 0
        size = os.stat(store.seals).st_size
        whole = end[: end.rfind(b"\n") + 1]
        start = whole.rfind(b"\n", 0, -1) + 1
        if start or len(end) == size:
            return whole[start:-1], size - len(end) + len(whole)
        most *= 16


def seal_in(line: bytes) -> Seal | None:
    """Decode a line of the chain; None where it is not what was written."""
    at = line.rfind(_CHECK)
    body = sha256(memoryview(line)[:at])  # the first seal of a long log has millions of bytes: they are not copied
    body.update(b"}")
    if at < 0 or line[at + len(_CHECK) :] != f'{body.hexdigest()}"}}'.encode():
        return None
    try:
        return _decoder.decode(line)
    except msgspec.MsgspecError:
        return None


def append_seal(store: Store, seal: Seal, size: int) -> str:
    """Append a seal to the chain, which is whole as far as that size, and return the new head; raises OSError."""
    body = msgspec.json.encode(seal)
    line = body[:-1] + _CHECK + digest_of(body).encode() + b'"}'
    is_first = not os.path.exists(store.seals)
    if not is_first and os.stat(store.seals).st_size > size:
        os.truncate(store.seals, size)  # its writer died in the middle of a seal
    append_bounded(store.seals, line, _ENDLESS)
    sync_data(store.seals)
    if is_first:
        sync_dir(store.root)
    return digest_of(line)


def sealed_leaves(files: Iterable[SealedFile]) -> list[bytes] | None:
    """Collect the leaves of a file from its seals; None where a seal is missing."""
    leaves: list[bytes] = []
    for file in files:
        for number, leaf in reversed(file.changed):
            leaves[number - 1 : number] = [base64.b64decode(leaf)] if leaf else []
        new = base64.b64decode(file.leaves)
        leaves += [new[start : start + _LEAF] for start in range(0, len(new), _LEAF)]
        if len(leaves) != file.lines:
            return None
    return leaves


def leaf_of(line: bytes) -> bytes:
    """Digest a line, without its newline, for a Merkle tree."""
    return sha256(b"\0" + line).digest()[:_LEAF]


def grow_tree(edge: list[bytes], count: int, leaves: Iterable[bytes]) -> str:
    """Add leaves to the edge of a tree of so many, the roots of its perfect parts, and return its root."""
    for number, leaf in enumerate(leaves, count):
        node, left = leaf, number
        while left & 1:
            node = sha256(b"\x01" + edge.pop() + node).digest()
            left >>= 1
        edge.append(node)
    root = edge[-1] if edge else sha256().digest()
    for part in reversed(edge[:-1]):
        root = sha256(b"\x01" + part + root).digest()
    return root.hex()


def digest_of(data: bytes | memoryview) -> str:
    """Digest bytes with SHA-256."""
    return sha256(data).hexdigest()
