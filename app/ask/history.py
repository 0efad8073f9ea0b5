"""Documents as of a time, without some events, and how they changed since; every question about another time asks here.

Pure over the log: reads no file of people's, and writes only what the cache keeps.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from eventlog.app.build.replay import replay
from eventlog.app.build.storage import base_targets
from eventlog.app.naming.names import did_you_mean, with_project_named
from eventlog.app.open_store import OpenStore
from eventlog.format.errors import BadRequest
from eventlog.format.events import Event
from eventlog.projections.base import Document, Projection
from eventlog.projections.catalog import installed
from eventlog.projections.engine.day_states import EVERYTHING
from eventlog.projections.engine.replay import ReplayResult
from eventlog.projections.views.markdown import unstamped
from eventlog.projects.root import in_full


class Omission(NamedTuple):
    """Events to leave out: of whole conversations, single ones, and of some agents; by full ids and names."""

    sessions: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()

    def keeps(self, event: Event) -> bool:
        """Tell whether an event is not left out."""
        is_named = event.id in self.events or event.conversation_id in self.sessions
        return not (is_named or event.agent in self.agents)


NOTHING = Omission()


class TextChange(NamedTuple):
    """A document that differs; None where there is none. Lines are without the stamp."""

    path: str
    before: list[str] | None
    after: list[str] | None


def replay_at(
    opened: OpenStore,
    until: str = EVERYTHING,
    without: Omission = NOTHING,
    projections: Sequence[Projection] | None = None,
) -> ReplayResult:
    """Replay the events up to a time without some of them; all projections there are, unless some are named."""
    return replay(
        opened.log,
        opened.settings,
        projections=installed().projections if projections is None else projections,
        until=until,
        keep=None if without == NOTHING else without.keeps,
        save=False,
    )


def by_path(replayed: ReplayResult) -> dict[str, Document]:
    """Key the documents of a replay by their paths."""
    return {document.path: document for document in replayed.documents}


def changes(before: Mapping[str, Document], after: Mapping[str, Document]) -> list[TextChange]:
    """List the documents that say something else, whatever their stamps say."""
    found = (
        TextChange(path, text_of(before.get(path)), text_of(after.get(path))) for path in sorted({*before, *after})
    )
    return [change for change in found if change.before != change.after]


def text_of(document: Document | None) -> list[str] | None:
    """Take the lines of a document without its stamp and the empty line above that."""
    return None if document is None else unstamped(document)


def document_meant(opened: OpenStore, said: str, *replays: ReplayResult) -> str:
    """Find which document of these replays is meant by a path, the end of one, a knowledge base or its file.

    Raises BadRequest.
    """
    known = sorted({path for replayed in replays for path in replayed.paths})
    if said in known:
        return said
    file = Path(in_full(said, opened.machine.home)).resolve()
    for place, _, target in (base for replayed in replays for base in base_targets(opened, replayed.knowledge)):
        if target.identity == str(file) or said in (place.base, target.shown, PurePath(target.shown).name):
            return place.document
    if len(named := with_project_named(said, known)) == 1:
        return named[0]
    fitting = [path for path in known if file.parts[-len(PurePath(path).parts) :] == PurePath(path).parts]
    if not fitting:
        raise BadRequest(f"the log renders no file {said!r}", hint=did_you_mean(said, known))
    return max(fitting, key=lambda path: len(PurePath(path).parts))


def diff(opened: OpenStore, since: str, until: str = EVERYTHING, file: str | None = None) -> list[TextChange]:
    """Compare every document, or one, as of two times; raises BadRequest where the file means none."""
    before, after = replay_at(opened, since), replay_at(opened, until)
    found = changes(by_path(before), by_path(after))
    if file is None:
        return found
    path = document_meant(opened, file, after, before)
    return [change for change in found if change.path == path]


def losses(opened: OpenStore, without: Omission) -> list[TextChange]:
    """Compare every document with what it would be had some events never happened."""
    return changes(by_path(replay_at(opened)), by_path(replay_at(opened, without=without)))
