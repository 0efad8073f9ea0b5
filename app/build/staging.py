"""`staging/`: the entries that wait for a person, one YAML file each, in the format they can be declared in.

The log has the entries; these files are there to be read and edited. One a person has edited is never written over,
and what they made of it is what `eventlog resolve --apply` applies.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.format.error_text import of_system
from eventlog.format.errors import BadRequest, NotStored
from eventlog.format.events import PlanEntry
from eventlog.format.statement_marks import is_stand_in, says_the_same
from eventlog.projections.bases import plan_file
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.store import Store, conversation_name
from eventlog.store.files import not_stored, replace_file


class StagedEntry(NamedTuple):
    """An entry that waits, why, and the file it is meant for."""

    entry: PlanEntry
    reason: str
    target_file: str

    @property
    def name(self) -> str:
        """`20260221-083544-<id>.yaml`: when it was declared.

        An id that another program has put into the log may be any text; it leads nowhere else.
        """
        ts = self.entry.ts
        return f"{ts[:10].replace('-', '')}-{ts[11:19].replace(':', '')}-{conversation_name(self.entry.id)}.yaml"

    @property
    def file(self) -> str:
        """The file it is meant for, as it was declared where it is no knowledge base."""
        return self.target_file or self.entry.key.path or self.entry.key.url or ""

    @property
    def section(self) -> str:
        """`~/.config/agents/USER.md ## Interests`."""
        return f"{self.file} {'#' * self.entry.key.level} {self.entry.key.heading}"

    @property
    def text(self) -> str:
        """The file's content as it is first written."""
        return self.saying(self.entry.content)

    def saying(self, content: str | None) -> str:
        """The file with another text for the section."""
        return plan_file.dump(
            PlanFile(
                version="1.0.0",
                source=self.entry.conversation_id,
                entries=[replace(_declared(self.entry), content=content)],
                error=self.reason,
                target_file=self.target_file,
            )
        )


def path_of(store: Store, staged: StagedEntry) -> Path:
    """Name the file of a staged entry."""
    return Path(store.staging) / staged.name


def stage(
    store: Store, waiting: Iterable[StagedEntry], known: Iterable[PlanEntry], *, dry_run: bool = False
) -> tuple[list[str], list[str]]:
    """Make the directory hold exactly these; names of the files written, and of those removed. Raises NotStored.

    Files of `known` entries that no longer wait go, unless a person has edited them.
    """
    wanted = {staged.name: staged for staged in waiting}
    entries = {StagedEntry(entry, "", "").name: entry for entry in known}
    there = {path.name: path for path in Path(store.staging).glob("*.yaml")}
    written = [name for name in wanted if name not in there]
    removed = [name for name, path in there.items() if name not in wanted and _is_as_declared(path, entries.get(name))]
    if not dry_run:
        for name in written:
            replace_file(str(path_of(store, wanted[name])), wanted[name].text.encode())
        for name in removed:
            unstage(there[name])
    return sorted(written), sorted(removed)


def keep(store: Store, staged: StagedEntry, content: str) -> None:
    """Put what a person made of an entry into its file, where it cannot be applied yet; raises NotStored."""
    replace_file(str(path_of(store, staged)), staged.saying(content).encode())


def unstage(path: Path) -> None:
    """Remove a file whose entry has been decided about; raises NotStored."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise not_stored(error, str(path)) from error


def as_edited(path: Path, entry: PlanEntry) -> PlannedChange:
    """Read the entry as its staged file has it now, as it was declared where there is no file.

    Raises BadRequest where the file cannot be understood, naming the line.
    """
    if not path.is_file():
        return _declared(entry)
    loaded = plan_file.parse(_read(path))
    if loaded.mistakes:
        first = loaded.mistakes[0]
        raise BadRequest(str(first), where=f"{path}:{first.line}", hint="correct the file, or delete it")
    found: list[PlannedChange] = loaded.value.entries
    if len(found) != 1 or (found[0].key, found[0].operation) != (entry.key, entry.operation):
        raise BadRequest("a staged file holds its one entry; only its content may change", where=str(path))
    return found[0]


def _is_as_declared(path: Path, entry: PlanEntry | None) -> bool:
    """Compare a file with its entry; with one that is withdrawn, by what is kept of its text."""
    try:
        there = as_edited(path, entry) if entry else None
    except BadRequest:
        return False
    if not there or not entry:
        return False
    text = entry.content or ""
    return there == _declared(entry) or (is_stand_in(text) and says_the_same(text, there.content or ""))


def _declared(entry: PlanEntry) -> PlannedChange:
    return PlannedChange(key=entry.key, operation=entry.operation, content=entry.content, meta=entry.meta)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotStored(f"cannot be read: {of_system(error)[0]}", where=str(path)) from error
