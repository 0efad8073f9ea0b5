"""Put a world into a store, through the log's own door."""

from pathlib import Path

from bench.memory.world import Haystack, Recording, World
from eventlog import EventLog


def build(world: World, store: Path) -> Haystack:
    """Append every recording, withdrawals last: they need the ids of what they withdraw."""
    log = EventLog(store, fsync=False)
    said = [recording for recording in world.recordings if not recording.withdraws]
    events = log.append_many(recording.fields for recording in said)
    owners = {event.id: recording.unit for event, recording in zip(events, said, strict=True) if recording.unit}
    ids = {unit: event_id for event_id, unit in owners.items()}
    log.append_many(_aimed(recording, ids) for recording in world.recordings if recording.withdraws)
    return Haystack(world.units, store, owners)


def _aimed(recording: Recording, ids: dict[str, str]) -> dict[str, object]:
    return {**recording.fields, "target": ids[recording.withdraws]}
