"""Which lines belong to a conversation: derived from the log, disposable, caught up when it is read.

Appending never pays for it. `cache/conversations.index` lists, for day files that have not changed since, every
conversation and the offsets of its lines; files that are new or have grown are scanned, and folded in once there is
more than a little of them.

Format       first line: JSON `{"version", "size" of the rest, "files": [[name, size, mtime_ns, inode], …]}`; then,
             sorted by bytes, one line per conversation: its id as a JSON string, TAB,
             `file:offset,offset;file:offset` (file by position).
Lookup       bisection over the mapped file: what it costs does not grow with the log.
Durability   none: temp file + rename, no sync. A damaged or foreign file is ignored and rebuilt.
"""

import mmap
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import orjson

from eventlog import days
from eventlog.days import Entry
from eventlog.errors import NotStored
from eventlog.files import replace_file
from eventlog.wire import BOM

_VERSION = 1
_SCAN_AT_MOST = 4 << 20  # bytes of changed files to scan per read before they are folded into the index

Position = tuple[str, int]
_Owners = dict[str, dict[str, list[int]]]  # conversation -> file name -> offsets


class _Owner(msgspec.Struct):
    conversation_id: str


class _Head(msgspec.Struct):
    version: int
    size: int
    files: list[tuple[str, int, int, int]]


_UNREADABLE = (OSError, ValueError, LookupError, TypeError, msgspec.MsgspecError)
_owner = msgspec.json.Decoder(_Owner)
_head = msgspec.json.Decoder(_Head)


class ConversationIndex:
    """The index of one store's log."""

    def __init__(self, log_dir: str, cache_dir: str) -> None:
        self._log = Path(log_dir)
        self._path = Path(cache_dir) / "conversations.index"

    def entries(self, conversation_id: str) -> list[Entry]:
        """The conversation's readable lines, each event once, ordered by `(ts, id)`."""
        found: dict[str, Entry] = {}
        for file, offset in self.positions(conversation_id):
            entry = days.entry_at(file, offset)
            if entry is None or entry.event.conversation_id != conversation_id:
                continue
            other = found.setdefault(entry.event.id, entry)
            found[entry.event.id] = min(entry, other, key=lambda either: either.line)
        return sorted(found.values(), key=lambda entry: (entry.event.ts, entry.event.id))

    def positions(self, conversation_id: str) -> list[Position]:
        """File and byte offset of each of the conversation's lines."""
        files = {entry[0]: entry for entry in self._files_now()}
        head, positions = self._look_up(conversation_id)
        changed = [name for name, stamp in files.items() if stamp not in head]
        if sum(files[name][1] for name in changed) > _SCAN_AT_MOST and self.catch_up():
            _, positions = self._look_up(conversation_id)
            changed = []
        fresh = [(name, offset) for name, offset in positions if name in files and name not in changed]
        for name in changed:
            fresh += [(name, offset) for offset in _scan(self._log / name).get(conversation_id, ())]
        return [(str(self._log / name), offset) for name, offset in sorted(fresh)]

    def catch_up(self) -> bool:
        """Fold every changed file into the index; False where the cache cannot be written."""
        files = self._files_now()
        owners, known = self._read_all()
        changed = {stamp[0] for stamp in files if stamp not in known}
        keep = {stamp[0] for stamp in files} - changed
        for by_file in owners.values():
            for name in [name for name in by_file if name not in keep]:
                del by_file[name]
        for name in changed:
            for conversation, offsets in _scan(self._log / name).items():
                owners.setdefault(conversation, {})[name] = offsets
        return self._write(files, owners)

    def _files_now(self) -> list[tuple[str, int, int, int]]:
        names = [Path(file) for day in days.list_days(str(self._log)) for file in day.files]
        return [(path.name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for path in names for stat in (path.stat(),)]

    def _look_up(self, conversation_id: str) -> tuple[set[tuple[str, int, int, int]], list[tuple[str, int]]]:
        try:
            with self._path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                head, start = _read_head(data)
                line = _bisect(data, start, orjson.dumps(conversation_id) + b"\t")
                return set(head.files), _parse_positions(line, head) if line else []
        except _UNREADABLE:
            return set(), []

    def _read_all(self) -> tuple[_Owners, set[tuple[str, int, int, int]]]:
        try:
            data = self._path.read_bytes()
            head, start = _read_head(data)
            owners: _Owners = {}
            for line in data[start:].splitlines():
                conversation, _, _ = line.partition(b"\t")
                by_file = owners.setdefault(orjson.loads(conversation), {})
                for name, offset in _parse_positions(line, head):
                    by_file.setdefault(name, []).append(offset)
        except _UNREADABLE:
            return {}, set()
        return owners, set(head.files)

    def _write(self, files: list[tuple[str, int, int, int]], owners: _Owners) -> bool:
        number = {stamp[0]: position for position, stamp in enumerate(files)}
        lines = sorted(_line(conversation, by_file, number) for conversation, by_file in owners.items() if by_file)
        body = b"".join(lines)
        head = orjson.dumps({"version": _VERSION, "size": len(body), "files": files})
        try:
            replace_file(str(self._path), head + b"\n" + body, durable=False)
        except NotStored:
            return False
        return True


def _line(conversation: str, by_file: dict[str, list[int]], number: dict[str, int]) -> bytes:
    places = ";".join(f"{number[name]}:{','.join(map(str, offsets))}" for name, offsets in sorted(by_file.items()))
    return orjson.dumps(conversation) + b"\t" + places.encode() + b"\n"


def _parse_positions(line: bytes, head: _Head) -> list[tuple[str, int]]:
    """Raises ValueError where the line is not one of ours."""
    found = []
    for place in line.partition(b"\t")[2].split(b";"):
        number, _, offsets = place.partition(b":")
        name = head.files[int(number)][0]
        found += [(name, int(offset)) for offset in offsets.split(b",")]
    return found


def _read_head(data: Any) -> tuple[_Head, int]:
    end = data.find(b"\n")
    head = _head.decode(data[:end])
    if head.version != _VERSION or len(data) != end + 1 + head.size or data[-1:] != b"\n":
        raise ValueError("an index of another version, or a part of one")
    return head, end + 1


def _bisect(data: mmap.mmap, low: int, key: bytes) -> bytes | None:
    """The line that starts with `key`, among sorted lines from offset `low` to the end."""
    high = len(data)
    while low < high:
        middle = data.rfind(b"\n", 0, (low + high) // 2) + 1
        middle = max(middle, low)
        end = data.find(b"\n", middle)
        line = data[middle:end]
        if line.startswith(key):
            return line
        if line < key:
            low = end + 1
        else:
            high = middle
    return None


def _scan(path: Path) -> dict[str, list[int]]:
    """Conversation -> offsets of its lines, in the order of the file."""
    owners: dict[str, list[int]] = {}
    data = path.read_bytes()
    offset = len(BOM) if data.startswith(BOM) else 0
    for line in data[offset:].split(b"\n"):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            owners.setdefault(_owner.decode(line).conversation_id, []).append(offset)
        offset += len(line) + 1
    return owners
