"""How the knowledge files changed between two times, or would have been without some events."""

from eventlog.app.ask.what_if import Omission, TextChange, by_path, changes, document_meant, replay_at
from eventlog.app.open_store import OpenStore
from eventlog.projections.engine.day_states import EVERYTHING


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
