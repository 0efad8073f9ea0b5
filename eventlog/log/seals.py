"""Seal the state of the log, and find the first line that is no longer what was sealed.

Day files grow at their end only, also by late events, so a file begins for ever with what was sealed of it. Erasing and
repair change sealed lines all the same: `rewrite` lists the lines it puts in and takes out in `rewritten.jsonl`, a file
that is sealed as well, and the next seal names them.

Chain        `seals.jsonl`: each seal has the digest of the line before it, and of itself. It lists the files that have
             grown since the one before; of all others an earlier seal has the state. So the last seal of a file says
             how far it was sealed, and all of them together which lines it had.
Cost         a file whose size is as it was sealed is not read. Of one that has grown, the sealed bytes are digested,
             and only the new lines are split and hashed: the edge of each Merkle tree lies in the cache, in bytes whose
             digest the last seal has. Without the cache, or with another, the edge is made of the chain.
Durability   what is sealed is synced first: no seal outlives what it names.
"""

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec import Struct

from eventlog.fast import fastjson, os
from eventlog.format.errors import NotStored
from eventlog.log import days
from eventlog.log.lines import Damage, DamageKind
from eventlog.store import Store, day_of, is_own
from eventlog.store.dayfile import read_settled
from eventlog.store.files import (
    append_bounded,
    file_stamp,
    not_stored,
    read,
    read_regular,
    replace_file,
    sync_dir,
    sync_file,
)

_LEAF = 16  # bytes of a digest that stand for a line
_TAIL = 1 << 16  # bytes in which the last seal is looked for
_CHECK = b',"check":"'
_MARK = 64  # digits of the digest of a line that was erased


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


class SealResult(NamedTuple):
    """The newest seal and its head, the first difference of each file, whether it was made now, or the seal noted."""

    seal: Seal | None
    head: str
    damage: Sequence[Damage] = ()
    is_new: bool = False
    noted: Seal | None = None


class _Row(Struct, array_like=True):
    """A file as the next seal goes on from it."""

    bytes: int
    lines: int
    sha256: str
    edge: list[str]  # of its Merkle tree


_Entry = tuple[SealedFile, _Row]
_rows_decoder = msgspec.json.Decoder(dict[str, _Row])
_decoder = msgspec.json.Decoder(Seal)


class Chain(Struct):
    """The seals, line by line, the digest of each line, and the first thing that is wrong with them."""

    seals: list[Seal | None] = []
    heads: list[str] = []
    damage: list[Damage] = []

    @classmethod
    def read(cls, store: Store) -> "Chain":
        """Read all seals; find the first that is damaged, missing or another than the next was chained to."""
        try:
            data = read_regular(store.seals)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            return cls(damage=[Damage.of_file(store.seals, os.strerror(error.errno or 0))])
        chain, offset, expected, before = cls(), 0, 1, ""
        lines = data.split(b"\n")[:-1]
        del data
        for number, line in enumerate(lines, 1):
            seal = _seal_in(line)
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
            before = sha256(line).hexdigest()
            offset += len(line) + 1
            chain.seals.append(seal)
            chain.heads.append(before)
        del chain.damage[1:]
        return chain

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


def seal(store: Store, ts: str, replica: str, *, thorough: bool = False, anew: bool = False) -> SealResult:
    """Append a seal of what the log has grown by; the caller holds off all that rewrites it. Raises NotStored or Busy.

    A file that does not begin with what was sealed is left out, and its first difference returned; `anew` seals
    everything as it is. Only a `thorough` look finds what was changed in a file that has not grown.
    """
    try:
        newest, head, size = last_seal(store)
        found = {} if anew or not head else _cached_rows(store, newest) or Chain.read(store)
        if isinstance(found, Chain) and (found.damage or not (thorough or _has_grown(store, found.files()))):
            return SealResult(found.newest, head, found.damage)
        rows = _rows_of(found) if isinstance(found, Chain) else found
        entries, differing = _grown(store, rows, thorough=thorough)
        if not entries and not (anew and head):
            return SealResult(newest, head, differing)
        number = newest.n if newest else len(Chain.read(store).seals)
        state = msgspec.json.encode(dict(sorted(rows.items())))
        new_seal = Seal(number + 1, ts, replica, head, sha256(state).hexdigest(), entries, anew)
        head = _append(store, new_seal, size)
    except OSError as error:
        raise not_stored(error, store.seals) from error
    with suppress(NotStored):  # it is stored; the next one reads the chain
        replace_file(store.cached("seals.json"), state, durable=False)
    return SealResult(new_seal, head, differing, is_new=True)


def check_seals(store: Store, head: str = "") -> SealResult:
    """Compare the log with its seals, and with the seal that has that head. Raises Busy where a writer holds a file."""
    chain = Chain.read(store)
    damage, noted = list(chain.damage), None
    if head and head.lower() not in chain.heads:
        reason = f"no seal has the head {head}: the chain was cut back, or is another"
        damage.append(Damage(store.seals, 0, 0, "missing", reason))
    elif head:
        number = chain.heads.index(head.lower()) + 1
        noted = chain.seals[number - 1]
        if noted and any(later and later.anew for later in chain.seals[number:]):  # that accepted what had changed
            damage += _differences(store, chain.files(number), noted)
    if newest := chain.newest:
        found = {difference.file for difference in damage}
        damage += (
            difference for difference in _differences(store, chain.files(), newest) if difference.file not in found
        )
    return SealResult(newest, chain.heads[-1] if chain.heads else "", damage, noted=noted)


# ------------------------------------------------------------------------------------------- the chain


def last_seal(store: Store) -> tuple[Seal | None, str, int]:
    """Read the seal in the last whole line of the chain, its head, and its length as far as that; raises OSError."""
    length = _TAIL
    while True:
        try:
            end = read_regular(store.seals, start=-length)
        except FileNotFoundError:
            return None, "", 0
        size = os.stat(store.seals).st_size
        whole = end[: end.rfind(b"\n") + 1]
        start = whole.rfind(b"\n", 0, -1) + 1
        if start or len(end) == size:
            line = whole[start:-1]
            return _seal_in(line), sha256(line).hexdigest() if line else "", size - len(end) + len(whole)
        length *= 16


def _seal_in(line: bytes) -> Seal | None:
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


def _append(store: Store, seal: Seal, size: int) -> str:
    """Append a seal to the chain, which is whole as far as that size, and return the new head; raises OSError."""
    body = msgspec.json.encode(seal)
    line = body[:-1] + _CHECK + sha256(body).hexdigest().encode() + b'"}'
    is_first = not os.path.exists(store.seals)
    if not is_first and os.stat(store.seals).st_size > size:
        os.truncate(store.seals, size)  # its writer died in the middle of a seal
    append_bounded(store.seals, line)
    sync_file(store.seals, with_name=False)
    if is_first:
        sync_dir(store.root)
    return sha256(line).hexdigest()


def _sealed_leaves(files: Iterable[SealedFile]) -> list[bytes] | None:
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
        node, remaining = leaf, number
        while remaining & 1:
            node = sha256(b"\x01" + edge.pop() + node).digest()
            remaining >>= 1
        edge.append(node)
    root = edge[-1] if edge else sha256().digest()
    for part in reversed(edge[:-1]):
        root = sha256(b"\x01" + part + root).digest()
    return root.hex()


# ------------------------------------------------------------------------------------------- what has grown


def _grown(store: Store, rows: dict[str, _Row], *, thorough: bool) -> tuple[list[SealedFile], list[Damage]]:
    """Bring the rows to what the files are now, and return what a seal has to list; raises OSError or Busy."""
    entries: list[SealedFile] = []
    differing: list[Damage] = []
    for path in _files(store):
        name = os.path.basename(path)
        row = rows.get(name, _Row(0, 0, sha256(b"").hexdigest(), []))
        try:
            if os.stat(path).st_size == row.bytes and not thorough:
                continue
            data = read_settled(path)
        except OSError:  # it costs only itself, and the readers name it
            continue
        whole = memoryview(data)[: data.rfind(b"\n") + 1]
        is_as_sealed = len(whole) >= row.bytes and sha256(whole[: row.bytes]).hexdigest() == row.sha256
        if len(whole) == row.bytes and (is_as_sealed or not thorough):
            continue
        if is_as_sealed:
            found: _Entry | Damage = _entry(name, whole, row, list(map(leaf_of, _lines(whole[row.bytes :]))))
        else:
            found = _changed(store, path, whole)
        if isinstance(found, Damage):
            differing.append(found)
            continue
        sync_file(path, with_name=False)
        entries.append(found[0])
        rows[name] = found[1]
    return entries, differing


def _changed(store: Store, path: str, whole: memoryview) -> _Entry | Damage:
    """List the lines of a file that were erased or moved, and those that are new; else name its first difference."""
    name, lines = os.path.basename(path), _lines(whole)
    files = Chain.read(store).files().get(name, [])
    found = _followed(store, path, files, lines, "before")
    if isinstance(found, Damage):
        return found
    leaves = list(map(leaf_of, lines))
    entry, row = _entry(name, whole, _Row(0, 0, "", []), leaves)
    length = sum(file.lines for file in files[-1:]) - sum(not leaf for _, leaf in found)
    entry.leaves, entry.changed = _base64(b"".join(leaves[length:])), found
    return entry, row


def _entry(name: str, whole: memoryview, row: _Row, new: Sequence[bytes]) -> _Entry:
    """Make what a seal lists of a file that has new lines, and what the next seal goes on from."""
    edge = [bytes.fromhex(part) for part in row.edge]
    root = grow_tree(edge, row.lines, new)
    digest, lines = sha256(whole).hexdigest(), row.lines + len(new)
    entry = SealedFile(name, len(whole), lines, digest, root, _base64(b"".join(new)))
    return entry, _Row(len(whole), lines, digest, [part.hex() for part in edge])


def _cached_rows(store: Store, newest: Seal | None) -> dict[str, _Row] | None:
    """Read from the cache what the newest seal goes on from; None where it has no such thing."""
    cached = read(store.cached("seals.json")) or b""
    return _rows_decoder.decode(cached) if newest and sha256(cached).hexdigest() == newest.state else None


def _has_grown(store: Store, files: dict[str, list[SealedFile]]) -> bool:
    """Return whether any file has another size than it was sealed with; to look takes less than to build all trees."""
    sealed = {name: entries[-1].bytes for name, entries in files.items()}
    return any(file_stamp(path)[0] != sealed.get(os.path.basename(path)) for path in _files(store))


def _rows_of(chain: Chain) -> dict[str, _Row]:
    """Make of a whole chain what its newest seal goes on from."""
    rows = {}
    for name, files in chain.files().items():
        edge: list[bytes] = []
        grow_tree(edge, 0, _sealed_leaves(files) or ())
        last = files[-1]
        rows[name] = _Row(last.bytes, last.lines, last.sha256, [part.hex() for part in edge])
    return rows


# ------------------------------------------------------------------------------------------- what differs


def _differences(store: Store, files: dict[str, list[SealedFile]], newest: Seal) -> Iterator[Damage]:
    """Yield the first difference of each file; raises Busy."""
    paths = {os.path.basename(path): path for path in _files(store)}
    for name, entries in sorted(files.items()):
        path = f"{store.log}/{name}" if day_of(name) else store.rewritten
        if name in paths:
            yield from _difference(store, path, entries, newest.ts)
        elif not os.path.lexists(path):  # the readers name what is there and cannot be read
            others = (other for name_of, other in paths.items() if name_of not in files)
            renamed = next((other for other in others if _begins_as(other, entries[-1])), "")
            reason = f"the file is gone; {entries[-1].lines:,} lines of it were sealed before {newest.ts}"
            yield Damage(path, 0, 0, "missing", f"{reason}; they are in {renamed}" if renamed else reason)


def _difference(store: Store, path: str, entries: list[SealedFile], until: str) -> Iterator[Damage]:
    if _begins_as(path, entries[-1]):
        return
    try:
        data = read_settled(path)
    except OSError:  # named by the readers
        return
    lines = _lines(memoryview(data)[: data.rfind(b"\n") + 1])
    found = _followed(store, path, entries, lines, f"before {until}")
    yield from [found] if isinstance(found, Damage) else []


def _begins_as(path: str, sealed: SealedFile) -> bool:
    data = read(path) or b""
    return len(data) >= sealed.bytes and sha256(memoryview(data)[: sealed.bytes]).hexdigest() == sealed.sha256


class _Allowed:
    """Changes that are listed in `rewritten.jsonl`: the leaves of lines that were put in, and taken out."""

    def __init__(self, store: Store, name: str) -> None:
        self._is_own = is_own(name)
        self._put_in: set[str] = set()
        self._taken_out: set[str] = set()
        for line in (read(store.rewritten) or b"").splitlines():
            listed = fastjson.object_in(line)
            if listed.get("file") == name:
                self._put_in |= _texts(listed.get("in"))
                self._taken_out |= _texts(listed.get("out"))

    def takes_out(self, leaf: bytes) -> bool:
        """Return whether a sealed line may be gone."""
        return _base64(leaf) in self._taken_out

    def puts_in(self, line: bytes) -> bool:
        """Return whether a line may take the place of another; in another machine's file, a redacted line may."""
        if _base64(leaf_of(line)) in self._put_in:
            return True
        mark = None if self._is_own or b'"redacted":"' not in line else fastjson.object_in(line).get("redacted")
        return isinstance(mark, str) and len(mark) == _MARK


def _followed(
    store: Store, path: str, files: Sequence[SealedFile], lines: Sequence[bytes], when: str
) -> list[tuple[int, str]] | Damage:
    """Follow the sealed lines through the file: return the changes that are listed, or the first other difference."""
    sealed = _sealed_leaves(files)
    if sealed is None:
        return Damage(path, 0, 0, "altered", "not as it was sealed; its seals are damaged, so no line can be named")
    now, allowed = list(map(leaf_of, lines)), _Allowed(store, os.path.basename(path))
    changed: list[tuple[int, str]] = []
    at = 0
    for number, leaf in enumerate(sealed, 1):
        if at < len(now) and now[at] == leaf:
            at += 1
        elif allowed.takes_out(leaf):
            changed.append((number, ""))
        elif at < len(now) and allowed.puts_in(lines[at]):
            changed.append((number, _base64(now[at])))
            at += 1
        else:
            kind, reason = _named(sealed, number, now[at:], when)
            return Damage(path, at + 1, sum(len(line) + 1 for line in lines[:at]), kind, reason)
    return changed


def _named(sealed: Sequence[bytes], number: int, now: Sequence[bytes], when: str) -> tuple[DamageKind, str]:
    """Name what has become of the sealed line of that number, by the lines from where it should be."""
    leaf = sealed[number - 1]
    if not now:
        return "missing", f"the last {len(sealed) - number + 1:,} of {len(sealed):,} lines sealed {when} are gone"
    line = f"line {number} of those sealed {when}"
    if leaf in now:
        later = f"{line} comes later"
        return ("swapped", later) if now[0] in sealed else ("inserted", f"not sealed; {later}")
    if now[0] in sealed:
        return "missing", f"{line} is gone"
    return "altered", f"not the line that was sealed {when}"


def _texts(value: object) -> set[str]:
    return {text for text in value if isinstance(text, str)} if isinstance(value, list) else set()


def _files(store: Store) -> list[str]:
    """List the files that are sealed: the days, and the list of what was rewritten."""
    found = [file for day in days.list_days(store.log) for file in day.files]
    return [*found, store.rewritten] if os.path.isfile(store.rewritten) else found


def _lines(whole: memoryview) -> list[bytes]:
    return bytes(whole).split(b"\n")[:-1]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
