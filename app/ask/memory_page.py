"""The memory of the user, and of one project, as the log has it now."""

from typing import NamedTuple

from eventlog.app.build.replay import replay
from eventlog.app.open_store import OpenStore
from eventlog.app.progress import Progress
from eventlog.projections.views.markdown import unstamped
from eventlog.store import project_slug


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

    slug = project_slug(replayed.identities.of(project, opened.replica))
    return page(project, f"projects/{slug}/MEMORY.md"), page("", "MEMORY.md")
