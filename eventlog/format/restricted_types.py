"""Types of events that are not for everyone to append: they tell of a person's decision, or of a file."""

from eventlog.format.errors import InvalidEvent
from eventlog.format.events import Event

COMES_FROM = {
    "entry_resolved": "`eventlog resolve`",
    "entry_applied": "`eventlog apply`",
    "knowledge_edited": "an edit of the file, which `eventlog apply` records",
    "project_joined": "`eventlog project join`",
    "project_seen": "`eventlog replay`, which looks at the repositories",
    "rejected": "`eventlog forget`",
    "restored": "`eventlog undo`",
}


def refuse_reserved(event: Event) -> Event:
    """Return the event if it is free to append; raises InvalidEvent."""
    if verb := COMES_FROM.get(event.type):
        what = f"{event.type} is not for append: it tells of a person's decision, or of a file"
        raise InvalidEvent(what, where="type", hint=f"it comes from {verb}")
    return event
