"""An agent takes back what was said: a retraction in its name; to reject something for good is a person's."""

from typing import Any

from eventlog.app.live_statements import Said
from eventlog.codec import from_fields
from eventlog.events import Event
from eventlog.log import EventLog


def withdraw(log: EventLog, said: Said, speaker: dict[str, Any], reason: str | None) -> list[Event]:
    """Withdraw one thing said: everything that says so, and what it had replaced, which would hold again.

    `speaker` has the fields that tell who withdraws it. All or nothing; raises NotStored.
    """
    goals = dict.fromkeys(event.id for event in (*said.events, *said.replaced))
    events = [from_fields({**speaker, "type": "retraction", "target": goal, "reason": reason}) for goal in goals]
    return [appended.event for appended in log.put(events)]
