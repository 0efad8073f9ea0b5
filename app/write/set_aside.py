"""Copies of files that a person had edited, kept beside those: read once, and cleared of what is withdrawn.

A copy is `MEMORY.md.edited-…`, set aside when the file was written anew. Most have what a replay has read and could not
put into events; some were saved in the very moment of the write, and nobody has read them.

What is withdrawn leaves the copies, the person's text stays. A line goes that says what is withdrawn, unless the file
beside the copy says it, too: then somebody else does. A copy goes of which nothing is left that does not stand in the
file, and one that a newer copy has all of.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from eventlog.app.build.publish import read
from eventlog.fast.sha import sha256
from eventlog.format.errors import NotStored
from eventlog.format.events import PlanEntry
from eventlog.format.retractions import Retractions, statements_of
from eventlog.format.text import same_text, statement_of
from eventlog.log.event_log import EventLog
from eventlog.projections.views.markdown import as_said, stamped_at
from eventlog.projections.views.memory import MEMORY
from eventlog.store import Store
from eventlog.store.files import FileStamp, file_stamp, read_regular, remove, replace_file

_MARK = ".edited-"
_BULLETS = "-*+> "
_LONG = 12  # bytes of a statement that is looked for within lines: a shorter one may stand there by chance
_decoder = msgspec.json.Decoder(dict[str, FileStamp])


class SetAside:
    """The copies of a store as they are now, and as they were when they were read."""

    def __init__(self, store: Store) -> None:
        self._root = Path(store.knowledge)
        self._list = store.cached("copies.json")
        there = (str(path) for pattern in MEMORY.owns for path in self._root.glob(f"{pattern}{_MARK}*"))
        self._there = {path: file_stamp(path) for path in there}
        self._read = _remembered(self._list) if self._there else {}

    def unread(self) -> dict[Path, bytes]:
        """Read the copies that nobody has read; one that cannot be read is left alone."""
        found = {}
        for path in sorted(path for path, stamp in self._there.items() if self._read.get(path) != stamp):
            with suppress(OSError):
                found[Path(path)] = read_regular(path)
        return found

    def remember(self) -> None:
        """Note that all copies have been read; where that cannot be noted, they are read once more."""
        if self._there != self._read:
            with suppress(NotStored):
                replace_file(self._list, msgspec.json.encode(self._there), durable=False)

    def original(self, copy: Path) -> str:
        """Name the file a copy was made of, relative to the knowledge directory."""
        return copy.with_name(copy.name.partition(_MARK)[0]).relative_to(self._root).as_posix()


def _remembered(path: str) -> dict[str, FileStamp]:
    try:
        return _decoder.decode(read_regular(path))
    except (OSError, msgspec.MsgspecError):
        return {}


class Swept(Struct):
    """The copies that were changed, and those that are gone, as paths relative to the knowledge directory."""

    changed: list[str] = []
    removed: list[str] = []


def copies_in(store: Store) -> list[Path]:
    """List all copies, by path; none where the directory cannot be read."""
    with suppress(OSError):
        return sorted(Path(store.knowledge).rglob(f"*.md{_MARK}*"))
    return []


def sweep_copies(log: EventLog, withdrawn: Retractions, new: Iterable[str] = ()) -> Swept:
    """Take out of all copies what is withdrawn; where nothing was since the last time, of those beside `new` ones.

    Raises NotStored.
    """
    swept, root = Swept(), Path(log.store.knowledge)
    note, now = Path(log.store.cached("swept")), _digest(withdrawn)
    is_known = (read(note) or b"").decode("utf-8", "replace") == now
    copies = {one for name in new for one in _beside(root / name)} if is_known else copies_in(log.store)
    if copies:
        says = _Gone(log, withdrawn).says
        for copy in sorted(copies, reverse=True):
            _sweep(copy, says, swept, root)
    if not is_known:
        with suppress(NotStored):  # where there can be no cache, all are looked at every time
            replace_file(str(note), now.encode(), durable=False)
    return swept


class _Gone:
    """All that is withdrawn, to be recognised in a line."""

    def __init__(self, log: EventLog, withdrawn: Retractions) -> None:
        from eventlog.app.write.rejections import worded  # most replays sweep nothing

        self._withdrawn = withdrawn
        texts = [one.statement for one in worded(log, withdrawn.decisions) if one.statement]
        events = [entry.event for entry in log.find(withdrawn.events).values()]
        for conversation in sorted(withdrawn.conversations):
            events += [entry.event for entry in log.session_entries(conversation)]
        for event in events:
            for text in statements_of(event):
                texts += text.split("\n") if isinstance(event, PlanEntry) else [text]
        self._said = {said for text in texts if any(map(str.isalnum, said := statement_of(_bare(text))))}
        self._within = [said for said in self._said if len(said.encode()) >= _LONG]

    def says(self, line: str) -> bool:
        """Tell whether a line says anything of it."""
        said = _bare(line)
        if statement_of(said) in self._said or self._withdrawn.rejects(said):
            return True
        whole = same_text(as_said(line))
        return any(one in whole for one in self._within)


def _sweep(copy: Path, says: Callable[[str], bool], swept: Swept, root: Path) -> None:
    data = read(copy)
    if data is None:
        return
    lines, in_file, newer = data.split(b"\n"), _lines(_file_of(copy)), _in_newer(copy)
    left = [line for line in lines if line in in_file or not says(line.decode("utf-8", "replace"))]
    is_less = len(left) < len(lines)
    name = copy.relative_to(root).as_posix()
    if (is_less or newer) and _is_superseded(left, newer | in_file if is_less else newer):
        remove(str(copy))
        swept.removed.append(name)
    elif is_less:
        replace_file(str(copy), b"\n".join(left))
        swept.changed.append(name)


def _file_of(copy: Path) -> Path:
    return copy.with_name(copy.name.partition(_MARK)[0])


def _beside(copy: Path) -> list[Path]:
    return sorted(copy.parent.glob(f"{_file_of(copy).name}{_MARK}*"))


def _in_newer(copy: Path) -> set[bytes]:
    return {line for other in _beside(copy) if other.name > copy.name for line in _lines(other)}


def _lines(path: Path) -> set[bytes]:
    return set((read(path) or b"").split(b"\n"))


def _is_superseded(lines: Iterable[bytes], stands: Collection[bytes]) -> bool:
    return all(line in stands or not line.strip() or stamped_at(line) for line in lines)


def _bare(line: str) -> str:
    """Take from a line what a rendered file puts before a text: bullets, dates, kinds."""
    said = as_said(line.strip()).lstrip(_BULLETS)
    while said.startswith("[") and "]" in said:
        said = said.partition("]")[2].lstrip()
    return said


def _digest(withdrawn: Retractions) -> str:
    goals = sorted([*withdrawn.events, *withdrawn.conversations, *withdrawn.statements])
    return sha256("\n".join(goals).encode("utf-8", "replace"))
