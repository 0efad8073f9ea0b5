"""Copies of files that a person had edited: `MEMORY.md.edited-…`, read once, and swept of withdrawn texts.

A replay that replaces or removes an edited file sets a copy aside. Most copies contain edits that the replay could not
express as events; some were saved in the moment of the write, and no replay has read them.

Sweeping removes the lines that contain a withdrawn text, unless the file beside the copy says that as well: then
another event does. It removes a copy that has nothing left beyond the file, or beyond a newer copy.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from eventlog.app.build import publish
from eventlog.fast.sha import sha256
from eventlog.format.codec import json_of
from eventlog.format.errors import NotStored
from eventlog.format.events import PlanEntry
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import same_text, statement_of
from eventlog.log.event_log import EventLog
from eventlog.projections.views.markdown import stamped_at, unescaped
from eventlog.projections.views.memory import MEMORY
from eventlog.store import Store
from eventlog.store.files import FileStamp, file_stamp, read, remove, replace_file

_MARK = ".edited-"
_PUT_OFF = "later "  # before the path of a copy
_BULLETS = "-*+> "
_LONG = 12  # bytes of a statement to search for within lines: a shorter statement may occur by chance


class SetAside:
    """The copies of a store, and their stamps when they were last read."""

    def __init__(self, store: Store) -> None:
        self._root = Path(store.knowledge)
        self._list = store.cached("copies.json")
        paths = (str(path) for pattern in MEMORY.owns for path in self._root.glob(f"{pattern}{_MARK}*"))
        self._present = {path: file_stamp(path) for path in paths}
        self._read = (json_of(read(self._list), dict[str, FileStamp]) or {}) if self._present else {}

    def unread(self) -> dict[Path, bytes]:
        """Read the copies that have changed since they were read; leaves out those that cannot be read."""
        found = {}
        for path, stamp in sorted(self._present.items()):
            if self._read.get(_PUT_OFF + path) == stamp and not _file_of(Path(path)).exists():
                self.put_off(Path(path))
            elif self._read.get(path) != stamp and (data := read(path)) is not None:
                found[Path(path)] = data
        return found

    def put_off(self, copy: Path) -> None:
        """Read a copy again when its file is there: the log has no such project, or not any longer."""
        self._present[f"{_PUT_OFF}{copy}"] = self._present.pop(str(copy))

    def remember(self) -> None:
        """Store the stamps of the copies; where that fails, the next run reads them again."""
        if self._present != self._read:
            with suppress(NotStored):
                replace_file(self._list, msgspec.json.encode(self._present), durable=False)

    def original(self, copy: Path) -> str:
        """Return the path of the file behind a copy, relative to the knowledge directory."""
        return _file_of(copy).relative_to(self._root).as_posix()


def copies_in(store: Store) -> list[Path]:
    """List all copies by path; none if the directory cannot be read."""
    with suppress(OSError):
        return sorted(Path(store.knowledge).rglob(f"*.md{_MARK}*"))
    return []


def sweep_copies(log: EventLog, withdrawn: Retractions, new: Iterable[str] = ()) -> None:
    """Remove withdrawn texts from all copies, or only from those beside `new` copies if no withdrawal has changed.

    Raises NotStored.
    """
    root = Path(log.store.knowledge)
    targets = sorted([*withdrawn.events, *withdrawn.conversations, *withdrawn.statements])
    note, now = log.store.cached("swept"), sha256("\n".join(targets).encode("utf-8", "replace"))
    is_current = (read(note) or b"").decode("utf-8", "replace") == now
    copies = {copy for name in new for copy in _beside(root / name)} if is_current else copies_in(log.store)
    if copies:
        matches = _WithdrawnTexts(log, withdrawn).match
        for copy in sorted(copies, reverse=True):
            _sweep(copy, matches)
    if not is_current:
        with suppress(NotStored):  # without a cache, every run looks at all copies
            replace_file(note, now.encode(), durable=False)


class _WithdrawnTexts:
    """The withdrawn texts of a log, to be recognised in a line."""

    def __init__(self, log: EventLog, withdrawn: Retractions) -> None:
        from eventlog.app.write.rejections import worded  # most replays sweep nothing

        self._withdrawn = withdrawn
        texts = [decision.statement for decision in worded(log, withdrawn.decisions) if decision.statement]
        events = [entry.event for entry in log.find(withdrawn.events).values()]
        for conversation in sorted(withdrawn.conversations):
            events += [entry.event for entry in log.session_entries(conversation)]
        for event in events:
            for text in statements_of(event):
                texts += text.split("\n") if isinstance(event, PlanEntry) else [text]
        statements = (statement_of(_bare(text)) for text in texts)
        self._statements = {statement for statement in statements if any(map(str.isalnum, statement))}
        self._long = [statement for statement in self._statements if len(statement.encode()) >= _LONG]

    def match(self, line: str) -> bool:
        """Return whether a line contains any of them."""
        text = _bare(line)
        if statement_of(text) in self._statements or self._withdrawn.rejects(text):
            return True
        whole = same_text(unescaped(line))
        return any(statement in whole for statement in self._long)


def _sweep(copy: Path, matches: Callable[[str], bool]) -> None:
    data = publish.read(copy)
    if data is None:
        return
    lines, in_file = data.split(b"\n"), _lines(_file_of(copy))
    statements = {_statement(line) for line in in_file}
    newer = set[bytes]().union(*(_lines(other) for other in _beside(copy) if other.name > copy.name))
    remaining = [
        line for line in lines if _statement(line) in statements or not matches(line.decode("utf-8", "replace"))
    ]
    is_less = len(remaining) < len(lines)
    stands = newer | in_file if is_less else newer
    if (is_less or newer) and all(line in stands or not line.strip() or stamped_at(line) for line in remaining):
        remove(str(copy), must=True)
    elif is_less:
        replace_file(str(copy), b"\n".join(remaining))


def _file_of(copy: Path) -> Path:
    return copy.with_name(copy.name.partition(_MARK)[0])


def _beside(copy: Path) -> list[Path]:
    return sorted(copy.parent.glob(f"{_file_of(copy).name}{_MARK}*"))


def _lines(path: Path) -> set[bytes]:
    return set((publish.read(path) or b"").split(b"\n"))


def _statement(line: bytes) -> str:
    return statement_of(_bare(line.decode("utf-8", "replace")))


def _bare(line: str) -> str:
    """Strip from a line what a rendered file puts before a text: bullets, dates, kinds."""
    text = unescaped(line.strip()).lstrip(_BULLETS)
    while text.startswith("[") and "]" in text:
        text = text.partition("]")[2].lstrip()
    return text
