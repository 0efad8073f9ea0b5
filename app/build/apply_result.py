"""The result of applying plan entries, as reports name it; a replay loads it also where nothing is applied."""

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from eventlog.app.build.staging import StagedEntry


class SectionChange(NamedTuple):
    """A section of a file, as reports name it."""

    file: str
    heading: str
    level: int
    event: str  # the entry, edit or withdrawal behind the change
    under: tuple[str, ...] = ()  # headings above it
    replaced: tuple[str, ...] = ()  # lines it had before and has no more

    @property
    def section(self) -> str:
        """Format it as `~/.config/agents/USER.md ## Interests`."""
        return f"{self.file} {'#' * self.level} {self.heading}"


class ApplyResult(Struct):
    """The changes to the knowledge bases, and the entries and files that wait."""

    applied: list[SectionChange] = []
    nothing: list[SectionChange] = []  # sections that were so already
    edited: list[SectionChange] = []  # by people, and now in the log
    staged: "list[StagedEntry]" = []  # everything that waits for a person, staged by this run or earlier
    pending: list[tuple[str, str]] = []  # files that could not be written, and why
    files: list[tuple[str, bytes, bytes]] = []  # those that changed: path, before, after
    stored: int = 0  # events this run has added to the log

    def as_fields(self) -> dict[str, object]:
        """List what changed and what waits, as JSON has it."""
        return {
            "applied": [change._asdict() for change in self.applied],
            "nothing": [change._asdict() for change in self.nothing],
            "edited": [change._asdict() for change in self.edited],
            "staged": [staged.as_fields() for staged in self.staged],
            "pending": [{"file": file, "reason": reason} for file, reason in self.pending],
            "files": [path for path, _, _ in self.files],
        }

    def absorb(self, other: "ApplyResult") -> None:
        """Add the result of another file."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
