"""`staging/`: the entries that wait for a person, a YAML file for each, in the exchange format of plan entries.

The log has the entries; the files are for reading and editing. No run overwrites a file that a person has edited, and
`eventlog resolve --apply` applies the edited text.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from eventlog.format.errors import BadRequest, NotStored, system_reason
from eventlog.format.events import PlanEntry
from eventlog.format.marks import is_stand_in, says_the_same
from eventlog.projections.bases.plan_file import PlanFile, PlannedChange
from eventlog.secrets.redacted import Redactions
from eventlog.store import Store, conversation_name
from eventlog.store.files import remove, replace_file


class StagedEntry(NamedTuple):
    """An entry that waits, the reason, and the file it is for."""

    entry: PlanEntry
    reason: str
    target_file: str

    @property
    def name(self) -> str:
        """Name the staged file by the time of the entry: `20260221-083544-<id>.yaml`."""
        # other programs may append events with any text as id: `conversation_name` keeps it inside the directory
        ts = self.entry.ts
        return f"{ts[:10].replace('-', '')}-{ts[11:19].replace(':', '')}-{conversation_name(self.entry.id)}.yaml"

    @property
    def file(self) -> str:
        """Return the file it is for, as declared where that is no knowledge base."""
        return self.target_file or self.entry.key.path or self.entry.key.url or ""

    @property
    def section(self) -> str:
        """Format the section as `~/.config/agents/USER.md ## Interests`."""
        return f"{self.file} {'#' * self.entry.key.level} {self.entry.key.heading}"

    def as_fields(self) -> dict[str, object]:
        """List the entry, its section and the reason, as JSON has them."""
        key = self.entry.key
        section = {"file": self.file, "heading": key.heading, "level": key.level, "under": key.under}
        return {"id": self.entry.id, **section, "reason": self.reason, "staged_as": self.name}

    def path(self, store: Store) -> Path:
        """Return the path of the staged file."""
        return Path(store.staging) / self.name

    def read(self, store: Store) -> PlannedChange:
        """Read the entry from its staged file, or as declared if that is absent; raises BadRequest naming the line."""
        path, entry = self.path(store), self.entry
        if not path.is_file():
            return _declared(entry)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise NotStored(f"cannot be read: {system_reason(error)[0]}", where=str(path)) from error
        loaded = PlanFile.parse(text)
        if loaded.mistakes:
            first = loaded.mistakes[0]
            raise BadRequest(str(first), where=f"{path}:{first.line}", hint="correct the file, or delete it")
        found: list[PlannedChange] = loaded.value.entries
        if len(found) != 1 or (found[0].key, found[0].operation) != (entry.key, entry.operation):
            raise BadRequest("a staged file holds its one entry; only its content may change", where=str(path))
        return found[0]

    def write(self, store: Store, content: str | None) -> None:
        """Write the staged file with this text for the section, nothing erased in it; raises NotStored."""
        redactions = Redactions.of(store)
        whole = PlanFile(
            version="1.0.0",
            source=self.entry.conversation_id,
            entries=[replace(_declared(self.entry), content=content)],
            error=str(redactions.clean(self.reason)) if redactions else self.reason,  # it has lines of a person's file
            target_file=self.target_file,
        )
        replace_file(str(self.path(store)), whole.dump().encode())


def stage(
    store: Store, waiting: Iterable[StagedEntry], all_entries: Iterable[PlanEntry], *, dry_run: bool = False
) -> None:
    """Bring the directory to the entries that wait; raises NotStored.

    Removes the files of known entries that no longer wait, unless a person has edited them.
    """
    wanted = {staged.name: staged for staged in waiting}
    known = {staged.name: staged for staged in (StagedEntry(entry, "", "") for entry in all_entries)}
    present = {path.name: path for path in Path(store.staging).glob("*.yaml")}
    written = [name for name in wanted if name not in present]
    gone = present.keys() & known.keys() - wanted.keys()
    removed = [name for name in gone if _is_unedited(store, known[name])]
    if not dry_run:
        for name in written:
            wanted[name].write(store, wanted[name].entry.content)
        for name in removed:
            remove(str(present[name]), must=True)


def _is_unedited(store: Store, staged: StagedEntry) -> bool:
    """Compare a staged file with its entry; of a withdrawn entry, with the digest that stands in for its text."""
    try:
        change = staged.read(store)
    except BadRequest:
        return False
    text = staged.entry.content or ""
    return change == _declared(staged.entry) or (is_stand_in(text) and says_the_same(text, change.content or ""))


def _declared(entry: PlanEntry) -> PlannedChange:
    return PlannedChange(key=entry.key, operation=entry.operation, content=entry.content, meta=entry.meta)
