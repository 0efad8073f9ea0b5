"""The entries that wait between log and knowledge bases, and the memory files as of now."""

from typing import NamedTuple

from msgspec import Struct

from eventlog.app.build.apply import apply
from eventlog.app.build.apply_result import ApplyResult, SectionChange
from eventlog.app.build.cache import open_for_reading
from eventlog.app.build.replay import replay
from eventlog.app.build.staging import StagedEntry
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress
from eventlog.app.write.rejections import worded
from eventlog.format.event_order import order
from eventlog.format.events import Rejected
from eventlog.format.retractions import Retractions
from eventlog.projections.current.withdrawals import decided_before
from eventlog.projections.views.markdown import unstamped
from eventlog.store import project_slug


class StatusReport(Struct, frozen=True):
    """The sections that wait, by why they do.

    `pending`: apply writes them. `idle`: pending deletions of what is not there. `drifted`: edited by a person, not yet
    recorded. `staged`: for a decision. `blocked`: files that cannot be written, and why.
    `rejected`: what a person does not want said, the newest last; it waits for nothing.
    """

    pending: list[SectionChange]
    idle: list[SectionChange]
    drifted: list[SectionChange]
    staged: list[StagedEntry]
    blocked: list[tuple[str, str]]
    rejected: list[Rejected] = []

    @property
    def anything_waits(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.pending or self.idle or self.drifted or self.staged or self.blocked)


def status(opened: OpenStore) -> StatusReport:
    """List what is pending, staged, blocked or edited by hand; writes nothing."""
    found: ApplyResult = apply(opened, dry_run=True)
    rejected = Retractions(decided_before(opened.log, open_for_reading(opened.store))).decisions
    waiting = found.applied, found.nothing, found.edited, found.staged, found.pending
    return StatusReport(*waiting, rejected=worded(opened.log, sorted(rejected, key=order)))


class KnownPage(NamedTuple):
    """A memory file, as a replay would write it now: of a project, or of the user (""); without its last line."""

    project: str
    path: str
    lines: list[str]


def known(
    opened: OpenStore, project: str, progress: Progress = lambda _done, _all: None
) -> tuple[KnownPage, KnownPage]:
    """Tell what is known of a project, given by its path, and of the user; a page without lines says nothing."""
    replayed = replay(opened.log, opened.settings, progress=progress)

    def page(name: str, path: str) -> KnownPage:
        document = replayed.document(path)
        return KnownPage(name, path, unstamped(document) if document else [])

    slug = project_slug(replayed.identities.of(project, opened.replica or None))
    return page(project, f"projects/{slug}/MEMORY.md"), page("", "MEMORY.md")
