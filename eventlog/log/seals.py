"""Seal the state of the log, and find the first line that is no longer what was sealed.

Day files grow at their end only, also by late events, so a file begins for ever with what was sealed of it. Erasing and
repair change sealed lines all the same: `rewrite` lists the lines it puts in and takes out in `rewritten.jsonl`, a file
that is sealed as well, and the next seal names them.

Cost         a file whose size is as it was sealed is not read. Of one that has grown, the sealed bytes are digested,
             and only the new lines are split and hashed: the edge of each Merkle tree lies in the cache, in bytes whose
             digest the last seal has. Without the cache, or with another, the edge is made of the chain.
Durability   what is sealed is synced first: no seal outlives what it names.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from eventlog.fast import fastjson, os
from eventlog.log import days
from eventlog.log.lines import Damage, DamageKind
from eventlog.log.seal_chain import (
    Chain,
    Seal,
    SealedFile,
    append_seal,
    digest_of,
    grow_tree,
    last_seal,
    leaf_of,
    read_chain,
    seal_in,
    sealed_leaves,
)
from eventlog.store import Store, day_of, is_own
from eventlog.store.dayfile import read_settled
from eventlog.store.files import file_stamp, not_stored, replace_file, sync_data

_MARK = len("f1d2d2f924e986ac86fdf7b36c94bcdf32beec15f1d2d2f924e986ac86fdf7b3")  # digits of an erased line's digest


class SealResult(NamedTuple):
    """The newest seal, the head of the chain, whether it was made now, and files that are not as they were sealed."""

    seal: Seal | None
    head: str
    is_new: bool = False
    differing: Sequence[Damage] = ()


class SealCheck(NamedTuple):
    """The newest seal and its head, the first difference of each file, and the seal whose head was noted."""

    seal: Seal | None
    head: str
    damage: Sequence[Damage] = ()
    noted: Seal | None = None


class _Row(Struct, array_like=True):
    """A file as the next seal goes on from it."""

    bytes: int
    lines: int
    sha256: str
    edge: list[str]  # of its Merkle tree


_Entry = tuple[SealedFile, _Row]
_rows_decoder = msgspec.json.Decoder(dict[str, _Row])


def seal(store: Store, ts: str, replica: str, *, thorough: bool = False, anew: bool = False) -> SealResult:
    """Append a seal of what the log has grown by; the caller holds off all that rewrites it. Raises NotStored or Busy.

    A file that does not begin with what was sealed is left out, and its first difference returned; `anew` seals
    everything as it is. Only a `thorough` look finds what was changed in a file that has not grown.
    """
    try:
        line, size = last_seal(store)
        newest, head = seal_in(line), digest_of(line) if line else ""
        found = {} if anew or not line else _cached_rows(store, newest) or read_chain(store)
        if isinstance(found, Chain) and (found.damage or not (thorough or _has_grown(store, found.files()))):
            return SealResult(found.newest, head, differing=found.damage)
        rows = _rows_of(found) if isinstance(found, Chain) else found
        entries, differing = _grown(store, rows, thorough=thorough)
        if not entries and not (anew and line):
            return SealResult(newest, head, differing=differing)
        number = newest.n if newest else len(read_chain(store).seals)
        new_seal = Seal(number + 1, ts, replica, head, digest_of(_encoded(rows)), entries, anew)
        head = append_seal(store, new_seal, size)
    except OSError as error:
        raise not_stored(error, store.seals) from error
    replace_file(store.cached("seals.json"), _encoded(rows), durable=False)
    return SealResult(new_seal, head, is_new=True, differing=differing)


def check_seals(store: Store, head: str = "") -> SealCheck:
    """Compare the log with its seals, and with the seal that has that head. Raises Busy where a writer holds a file."""
    chain = read_chain(store)
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
    return SealCheck(newest, chain.heads[-1] if chain.heads else "", damage, noted)


# ------------------------------------------------------------------------------------------- what has grown


def _grown(store: Store, rows: dict[str, _Row], *, thorough: bool) -> tuple[list[SealedFile], list[Damage]]:
    """Bring the rows to what the files are now, and return what a seal has to list; raises OSError or Busy."""
    entries: list[SealedFile] = []
    differing: list[Damage] = []
    for path in _files(store):
        name = os.path.basename(path)
        row = rows.get(name, _Row(0, 0, digest_of(b""), []))
        try:
            if os.stat(path).st_size == row.bytes and not thorough:
                continue
            data = read_settled(path)
        except OSError:  # it costs only itself, and the readers name it
            continue
        whole = memoryview(data)[: data.rfind(b"\n") + 1]
        is_as_sealed = len(whole) >= row.bytes and digest_of(whole[: row.bytes]) == row.sha256
        if len(whole) == row.bytes and (is_as_sealed or not thorough):
            continue
        if is_as_sealed:
            found: _Entry | Damage = _entry(name, whole, row, _leaves_of(_lines(whole[row.bytes :])))
        else:
            found = _changed(store, path, whole)
        if isinstance(found, Damage):
            differing.append(found)
            continue
        sync_data(path)
        entries.append(found[0])
        rows[name] = found[1]
    return entries, differing


def _changed(store: Store, path: str, whole: memoryview) -> _Entry | Damage:
    """List the lines of a file that were erased or moved, and those that are new; else name its first difference."""
    name, lines = os.path.basename(path), _lines(whole)
    sealed = sealed_leaves(read_chain(store).files().get(name, ()))
    found = _compare(sealed or (), lines, _Allowed(store, name))
    if sealed is None or isinstance(found, _Difference):
        return _named(path, found, sealed, lines, "before")
    leaves = _leaves_of(lines)
    entry, row = _entry(name, whole, _Row(0, 0, "", []), leaves)
    length = len(sealed) - sum(not leaf for _, leaf in found)
    entry.leaves, entry.changed = _base64(b"".join(leaves[length:])), found
    return entry, row


def _entry(name: str, whole: memoryview, row: _Row, new: Sequence[bytes]) -> _Entry:
    """Make what a seal lists of a file that has new lines, and what the next seal goes on from."""
    edge = [bytes.fromhex(part) for part in row.edge]
    root = grow_tree(edge, row.lines, new)
    digest, lines = digest_of(whole), row.lines + len(new)
    entry = SealedFile(name, len(whole), lines, digest, root, _base64(b"".join(new)))
    return entry, _Row(len(whole), lines, digest, [part.hex() for part in edge])


def _cached_rows(store: Store, newest: Seal | None) -> dict[str, _Row] | None:
    """Read from the cache what the newest seal goes on from; None where it has no such thing."""
    cached = days.read(store.cached("seals.json")) or b""
    return _rows_decoder.decode(cached) if newest and digest_of(cached) == newest.state else None


def _has_grown(store: Store, files: dict[str, list[SealedFile]]) -> bool:
    """Return whether any file has another size than it was sealed with; to look takes less than to build all trees."""
    sealed = {name: entries[-1].bytes for name, entries in files.items()}
    return any(file_stamp(path)[0] != sealed.get(os.path.basename(path)) for path in _files(store))


def _rows_of(chain: Chain) -> dict[str, _Row]:
    """Make of a whole chain what its newest seal goes on from."""
    rows = {}
    for name, files in chain.files().items():
        edge: list[bytes] = []
        grow_tree(edge, 0, sealed_leaves(files) or ())
        last = files[-1]
        rows[name] = _Row(last.bytes, last.lines, last.sha256, [part.hex() for part in edge])
    return rows


def _encoded(rows: dict[str, _Row]) -> bytes:
    return msgspec.json.encode(dict(sorted(rows.items())))


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
    lines, sealed = _lines(memoryview(data)[: data.rfind(b"\n") + 1]), sealed_leaves(entries)
    found = _compare(sealed or (), lines, _Allowed(store, entries[-1].name))
    if sealed is None or isinstance(found, _Difference):
        yield _named(path, found, sealed, lines, f"before {until}")


def _begins_as(path: str, sealed: SealedFile) -> bool:
    data = days.read(path) or b""
    return len(data) >= sealed.bytes and digest_of(memoryview(data)[: sealed.bytes]) == sealed.sha256


class _Difference(NamedTuple):
    """The place of a difference: the number of the sealed line, and how many lines of the file come before it."""

    sealed: int
    before: int


_Changes = list[tuple[int, str]]


class _Allowed:
    """Changes that are listed in `rewritten.jsonl`: the leaves of lines that were put in, and taken out."""

    def __init__(self, store: Store, name: str) -> None:
        self._is_own = is_own(name)
        self._put_in: set[str] = set()
        self._taken_out: set[str] = set()
        for line in (days.read(store.rewritten) or b"").splitlines():
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


def _compare(sealed: Sequence[bytes], lines: Sequence[bytes], allowed: _Allowed) -> _Changes | _Difference:
    """Follow the sealed lines through the file: return the changes that are listed, or the place of the first other."""
    now = _leaves_of(lines)
    changed: _Changes = []
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
            return _Difference(number, at)
    return changed


def _named(
    path: str, place: _Difference | _Changes, sealed: Sequence[bytes] | None, lines: Sequence[bytes], when: str
) -> Damage:
    """Name a difference: where it is in the file, and what has become of the line that was sealed."""
    if sealed is None or not isinstance(place, _Difference):
        return Damage(path, 0, 0, "altered", "not as it was sealed; its seals are damaged, so no line can be named")
    now, leaf = _leaves_of(lines[place.before :]), sealed[place.sealed - 1]
    kind: DamageKind = "altered"
    reason = f"not the line that was sealed {when}"
    if not now:
        kind = "missing"
        reason = f"the last {len(sealed) - place.sealed + 1:,} of {len(sealed):,} lines sealed {when} are gone"
    elif now[0] in set(sealed):
        kind = "swapped" if leaf in now else "missing"
        reason = f"line {place.sealed} of those sealed {when} {'comes later' if leaf in now else 'is gone'}"
    elif leaf in now:
        kind, reason = "inserted", f"not sealed; line {place.sealed} of those sealed {when} comes later"
    offset = sum(len(line) + 1 for line in lines[: place.before])
    return Damage(path, place.before + 1, offset, kind, reason)


def _texts(value: object) -> set[str]:
    return {text for text in value if isinstance(text, str)} if isinstance(value, list) else set()


def _files(store: Store) -> list[str]:
    """List the files that are sealed: the days, and the list of what was rewritten."""
    found = [file for day in days.list_days(store.log) for file in day.files]
    return [*found, store.rewritten] if os.path.isfile(store.rewritten) else found


def _lines(whole: memoryview) -> list[bytes]:
    return bytes(whole).split(b"\n")[:-1]


def _leaves_of(lines: Sequence[bytes]) -> list[bytes]:
    return [leaf_of(line) for line in lines]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
