"""A replay of many stores on a cluster, as it is told: store by store, as each is done."""

from collections.abc import Sequence

from eventlog.app.cluster.connect import connected
from eventlog.app.cluster.replay_stores import StoreReplay, replay_stores_to
from eventlog.cli.main import EXIT_DAMAGED, EXIT_FOUND, EXIT_NOT_WRITTEN
from eventlog.cli.output import complain, count, emit_pretty, say
from eventlog.cli.progress import phases
from eventlog.errors import NotStored

_REPLAYING = "replaying stores"


def replay_on_cluster(
    address: str, stores: Sequence[str], out: str, names: Sequence[str], *, check: bool, as_json: bool
) -> int:
    """Replay stores, tell of each, and return the exit code."""
    found = []
    with phases() as phase, connected(address) as client:
        for done in replay_stores_to(out, stores, client, names, check=check, progress=phase(_REPLAYING)):
            found.append(done)
            if not as_json:
                _tell(done, check=check)
    if as_json:
        emit_pretty({"root": out, "stores": [_as_dict(done) for done in sorted(found, key=lambda one: one.place)]})
    return _exit_code(found, check=check)


def _exit_code(found: Sequence[StoreReplay], *, check: bool) -> int:
    errors = [done.error for done in found if done.error]
    if any(isinstance(error, NotStored) for error in errors):
        return EXIT_NOT_WRITTEN
    if errors:
        return EXIT_DAMAGED
    differ = any(done.published and done.published.changes for done in found)
    return EXIT_FOUND if check and differ else 0


def _tell(done: StoreReplay, *, check: bool) -> None:
    if done.error:
        complain(str(done.error), done.error.hint)
        return
    assert done.rendered
    assert done.published
    for damage in done.rendered.damage:
        say(f"damaged    {damage.place} {damage.kind}: {damage.reason}")
    for name, reason in done.rendered.broken.items():
        say(f"broken     projection {name}, of another package: {reason}")
    for name in (*done.published.set_aside, *done.published.left):
        say(f"edited     {done.place.name}/{name}")
    word = ("differs" if done.published.changes == 1 else "differ") if check else "changed"
    read = f"{count(done.rendered.events, 'event')} of {count(done.rendered.days, 'day')}"
    files = f"{count(done.published.changes, 'file')} {word}, {done.published.unchanged:,} unchanged"
    say(f"{done.place.name}: {read}: {files}")


def _as_dict(done: StoreReplay) -> dict[str, object]:
    told: dict[str, object] = {"store": done.place.address, "name": done.place.name}
    if done.rendered and done.published:
        told |= {
            "events": done.rendered.events,
            "days": done.rendered.days,
            "written": done.published.written,
            "removed": done.published.removed,
            "set_aside": done.published.set_aside,
            "left": done.published.left,
            "unchanged": done.published.unchanged,
            "damage": done.rendered.damage,
            "broken_projections": done.rendered.broken,
        }
    return told | {"error": str(done.error) if done.error else None}
