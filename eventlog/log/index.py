"""The lines of each conversation: derived from the log, disposable, caught up when it is read.

Appending never pays for it. `cache/conversations.index` lists, for day files that have not changed since, every
conversation and the offsets of its lines, and every project with a line of it; files that are new or have grown are
scanned, and folded in once there is more than a little of them.

Format       see eventlog/store/index_lookup.py, which reads it.
Unreadable   a day file that cannot be read is left out, and asked again the next time.
Durability   none: temp file + rename, no sync. A damaged or foreign file is ignored and rebuilt.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

import msgspec

from eventlog.fast import fastjson
from eventlog.fast.fastjson import BOM
from eventlog.format.errors import NotStored
from eventlog.format.ids import day_in_id
from eventlog.format.timestamps import order
from eventlog.log import days
from eventlog.log.lines import LogLine
from eventlog.store import index_lookup
from eventlog.store.files import open_regular, read_regular, replace_file
from eventlog.store.index_lookup import FileStamp, lines_with, name_in, size_in

_SCAN_AT_MOST = 4 << 20  # bytes of changed files to scan per read before they are folded into the index
_LITTLE = 256 << 10  # bytes to scan per read even where the index knows less than half of the log

Position = tuple[str, int]  # path of a day file, offset of a line
_Known = tuple[FileStamp, int, list[int]]  # a day file, up to which size the index knows it, offsets of lines there
_Scanned = tuple[dict[str, list[int]], dict[str, int]]  # offsets of conversations, and of the first of each project
_Owners = dict[bytes, dict[str, bytes]]  # key of a conversation or project -> file name -> offsets, as they are written
_FEW = 8  # conversations that are looked up one by one
_OF_PLACES = b"0123456789,:;"


class _Owner(msgspec.Struct):
    conversation_id: str
    project: object = None


_owner = msgspec.json.Decoder(_Owner)


class ConversationIndex:
    """The index of a store's log."""

    def __init__(self, log_dir: str, path: str) -> None:
        self._log = log_dir
        self._path = path

    def entries(self, conversation_id: str) -> list[LogLine]:
        """Read the conversation's readable lines, each event once, ordered by `(ts, id)`."""
        return _read(conversation_id, self.positions(conversation_id))

    def entries_of(self, conversations: Collection[str]) -> dict[str, list[LogLine]]:
        """Read the lines of these conversations, as `entries` does: of many, the day files are looked at once."""
        if len(conversations) <= _FEW:
            return {conversation: self.entries(conversation) for conversation in conversations}
        found = {name: _read(name, positions) for name, positions in self._every() if name in conversations}
        return {conversation: found.get(conversation, []) for conversation in conversations}

    def every(self, since: str) -> Iterator[list[LogLine]]:
        """Read the lines of all conversations of that day or later, in the order of `conversations`, as `entries` does.

        The day files are looked at once, not for each conversation.
        """
        return (_read(name, positions) for name, positions in self._every(since))

    def _every(self, since: str = "") -> Iterator[tuple[str, list[Position]]]:
        """Locate the lines of all conversations of that day or later."""
        known, scanned = self._scan_rest()
        rest: dict[str, list[Position]] = {}
        for name, (conversations, _) in scanned.items():
            for conversation, offsets in conversations.items():
                rest.setdefault(conversation, []).extend((f"{self._log}/{name}", offset) for offset in offsets)
        for conversation, places in self._listed(b"", with_places=True):
            listed = [(f"{self._log}/{name}", at) for name in places for at in places[name] if at < known.get(name, 0)]
            if max(places) >= since or conversation in rest:
                yield conversation, sorted(listed + rest.pop(conversation, []))
        for conversation, positions in rest.items():
            yield conversation, sorted(positions)

    def positions(self, conversation_id: str) -> list[Position]:
        """Locate each of the conversation's lines: file and byte offset."""
        found: list[Position] = []
        for stamp, known, offsets in self._look_up(conversation_id):
            path = f"{self._log}/{name_in(stamp)}"
            found += [(path, offset) for offset in offsets]
            if known < size_in(stamp):
                with suppress(OSError):
                    found += [(path, offset) for offset in _search(path, conversation_id, known)]
        return sorted(found)

    def conversations(self) -> list[str]:
        """List every conversation, those of changed files last."""
        _, scanned = self._scan_rest()
        found = dict.fromkeys(name for name, _ in self._listed(b""))
        for conversations, _ in scanned.values():
            found |= dict.fromkeys(conversations)
        return list(found)

    def projects(self) -> list[str]:
        """List every project, in the order of their first lines."""
        known, scanned = self._scan_rest()
        firsts = [((name, at), of) for name, (_, projects) in scanned.items() for of, at in projects.items()]
        for of, places in self._listed(index_lookup.PROJECT, with_places=True):
            firsts += [((name, at[0]), of) for name, at in places.items() if at[0] < known.get(name, 0)]
        return list(dict.fromkeys(project for _, project in sorted(firsts)))

    def _scan_rest(self) -> tuple[dict[str, int], dict[str, _Scanned]]:
        """Return up to which sizes the index knows the files, by name, and what is in the rest of them."""
        known: dict[str, int] = {}
        scanned: dict[str, _Scanned] = {}
        for stamp, size, _ in self._look_up(""):
            name = name_in(stamp)
            known[name] = size
            if size < size_in(stamp):
                with suppress(OSError):
                    scanned[name] = _scan(f"{self._log}/{name}", size)
        return known, scanned

    def _listed(self, kind: bytes, *, with_places: bool = False) -> Iterator[tuple[str, dict[str, list[int]]]]:
        """Yield the names of a kind in the index, and, if they are wanted, the offsets of their lines."""
        with suppress(*index_lookup.DAMAGED), os.fdopen(open_regular(self._path), "rb") as opened:
            files, _ = index_lookup.read_head(opened)
            for line in opened:
                if line.startswith(kind + b'"'):
                    name = str(fastjson.loads(line[len(kind) : line.index(b"\t")]))
                    yield name, index_lookup.offsets_in(line, files) if with_places else {}

    def _look_up(self, conversation_id: str) -> list[_Known]:
        """Look a conversation up, in an index that lacks little of the log where it can be written."""
        found = self._known(conversation_id)
        return self._known(conversation_id) if _is_much(found) and self.catch_up() else found

    def _known(self, conversation_id: str) -> list[_Known]:
        covered, offsets = index_lookup.look_up(self._path, conversation_id)
        files = index_lookup.stamps_of(self._log)
        return [(stamp, *index_lookup.known_part(self._log, covered, offsets, stamp)) for stamp in files]

    def catch_up(self) -> bool:
        """Fold every changed file into the index; False where the cache cannot be written."""
        files = index_lookup.stamps_of(self._log)
        if files and index_lookup.look_up(self._path, "")[0] == set(files):
            return True
        owners, covered = self._read_all()
        changed = {name_in(stamp) for stamp in files if stamp not in covered}
        keep = set(map(name_in, files)) - changed
        for by_file in owners.values():
            for name in [name for name in by_file if name not in keep]:
                del by_file[name]
        for name in changed:
            try:
                found, projects = _scan(f"{self._log}/{name}")
            except OSError:
                files = [stamp for stamp in files if name_in(stamp) != name]
                continue
            for conversation, offsets in found.items():
                owners.setdefault(index_lookup.key_of(conversation), {})[name] = ",".join(map(str, offsets)).encode()
            for project, offset in projects.items():
                owners.setdefault(index_lookup.key_of(project, index_lookup.PROJECT), {})[name] = b"%d" % offset
        return self._write(files, owners)

    def _read_all(self) -> tuple[_Owners, set[FileStamp]]:
        try:
            with os.fdopen(open_regular(self._path), "rb") as opened:
                files, _ = index_lookup.read_head(opened)
                names = list(map(name_in, files))
                owners = {line[: line.index(b"\t") + 1]: _places(line, names) for line in opened}
        except index_lookup.DAMAGED:
            return {}, set()
        return owners, set(files)

    def _write(self, files: list[FileStamp], owners: _Owners) -> bool:
        number = {name_in(stamp): position for position, stamp in enumerate(files)}
        lines = sorted(_line(key, by_file, number) for key, by_file in owners.items() if by_file)
        body = b"".join(lines)
        import orjson  # only who folds needs it

        head = orjson.dumps({"version": index_lookup.VERSION, "size": len(body), "files": files})
        try:
            replace_file(self._path, head + b"\n" + body, durable=False)
        except NotStored:
            return False
        return True


def _read(conversation_id: str, positions: Iterable[Position]) -> list[LogLine]:
    """Read the lines of a conversation at these positions, in their order, as `ConversationIndex.entries` has them."""
    found: list[LogLine] = []
    for file, places in groupby(positions, key=itemgetter(0)):
        with suppress(OSError):
            found += days.entries_at(file, [offset for _, offset in places])
    own = (entry for entry in found if entry.event.conversation_id == conversation_id)
    return sorted(days.each_once(own, _claim), key=lambda entry: order(entry.event))


def _is_much(files: Iterable[_Known]) -> bool:
    """Return whether to fold what is not known: writing the index again is as much work as it is long."""
    sizes = [(size_in(stamp), known) for stamp, known, _ in files]
    unknown, whole = sum(size - known for size, known in sizes), sum(size for size, _ in sizes)
    return unknown > min(_SCAN_AT_MOST, max(_LITTLE, whole // 2))


def _claim(entry: LogLine) -> tuple[bool, str, tuple[bool, bytes]]:
    """Order lines with one id; the first counts: that of the day the id names, of the earlier day, as `days.claim`."""
    day = entry.event.ts[:10]
    return day != day_in_id(entry.event.id), day, days.claim(entry)


def _places(line: bytes, names: list[str]) -> dict[str, bytes]:
    """Split a line by its files; raises an error of `DAMAGED` where another program wrote it.

    Their offsets stay text: most go into the next index as they are, and a long log has a million of them.
    """
    text = line[line.index(b"\t") + 1 : -1]
    if text.translate(None, _OF_PLACES):
        raise ValueError("no offsets")
    places = (place.partition(b":") for place in text.split(b";"))
    return {names[int(number)]: offsets for number, _, offsets in places}


def _line(key: bytes, by_file: dict[str, bytes], number: dict[str, int]) -> bytes:
    return key + b";".join(b"%d:%b" % (number[name], offsets) for name, offsets in sorted(by_file.items())) + b"\n"


def _search(path: str, conversation_id: str, start: int) -> list[int]:
    """Find the offsets of a conversation's lines, in the order of the file: decode only lines that can hold its id."""
    data = read_regular(path, start=start)
    found = []
    for begin, end in lines_with(data, index_lookup.marks(conversation_id)):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if _owner.decode(data[begin:end]).conversation_id == conversation_id:
                found.append(start + begin)
    return sorted(found)


def _scan(path: str, start: int = 0) -> _Scanned:
    """Map conversations to the offsets of their lines, in the order of the file, and projects to that of the first."""
    owners: dict[str, list[int]] = {}
    projects: dict[str, int] = {}
    data = read_regular(path, start=start)
    first = len(BOM) if data.startswith(BOM) else 0
    offset = start + first
    for line in data[first:].split(b"\n"):
        begin, offset = offset, offset + len(line) + 1
        try:  # not `suppress`, which takes as long as to decode a line
            owner = _owner.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        owners.setdefault(owner.conversation_id, []).append(begin)
        if isinstance(owner.project, str) and owner.project not in projects:
            projects[owner.project] = begin
    return owners, projects
