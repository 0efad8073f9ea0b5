"""Replay many stores on a cluster, or what a team has sent to its remote, and report each when it is done."""

from collections.abc import Sequence
from contextlib import nullcontext
from operator import itemgetter
from typing import Any

from msgspec import structs

from eventlog.app.cluster.connect import connected
from eventlog.app.cluster.replay_remote import replay_remote_to
from eventlog.app.cluster.replay_stores import StoreReplay, replay_stores_to
from eventlog.app.open_store import OpenStore
from eventlog.cli import EXIT_DAMAGED, EXIT_FOUND, EXIT_NOT_WRITTEN
from eventlog.cli.progress import phases
from eventlog.cli.terminal import count, emit_pretty, print_error, say
from eventlog.cli.verbs.build.replay_report import print_damage
from eventlog.format.errors import NotStored

_REPLAYING = "replaying stores"


def replay_on_cluster(
    address: str, stores: Sequence[str], out: str, names: Sequence[str], *, check: bool, as_json: bool
) -> int:
    """Replay stores, report each, and return the exit code."""
    codes = set()
    reports: list[dict[str, Any]] = []
    with phases() as phase, connected(address) as client:
        for done in replay_stores_to(out, stores, client, names, check=check, progress=phase(_REPLAYING)):
            codes.add(_exit_code(done, check=check))
            if as_json:
                reports.append(_as_dict(done))
            else:
                _print_store(done, check=check)
    if as_json:
        reports.sort(key=itemgetter("name"))
        emit_pretty({"root": out, "stores": reports})
    return next((code for code in (EXIT_NOT_WRITTEN, EXIT_DAMAGED, EXIT_FOUND) if code in codes), 0)


def replay_of_team(
    opened: OpenStore, cluster: str | None, out: str, names: Sequence[str], *, check: bool, as_json: bool
) -> int:
    """Replay the remote of a store, here or on a cluster; report, and return the exit code."""
    with phases() as phase, connected(cluster) if cluster else nullcontext() as client:
        done = replay_remote_to(out, opened, client, names, check=check, progress=phase(_REPLAYING))
    if as_json:
        emit_pretty(_as_dict(done))
    else:
        _print_store(done, check=check)
    return _exit_code(done, check=check)


def _exit_code(done: StoreReplay, *, check: bool) -> int:
    if done.error:
        return EXIT_NOT_WRITTEN if isinstance(done.error, NotStored) else EXIT_DAMAGED
    return EXIT_FOUND if check and done.published and done.published.changes else 0


def _print_store(done: StoreReplay, *, check: bool) -> None:
    if done.error:
        print_error(str(done.error), done.error.hint)
        return
    assert done.rendered
    assert done.published
    print_damage(done.rendered.damage)
    for name, reason in done.rendered.broken.items():
        say(f"broken     projection {name}, of another package: {reason}")
    for name in (*done.published.set_aside, *done.published.left):
        say(f"edited     {done.place.name}/{name}")
    word = ("differs" if done.published.changes == 1 else "differ") if check else "changed"
    read = f"{count(done.rendered.events, 'event')} of {count(done.rendered.days, 'day')}"
    files = f"{count(done.published.changes, 'file')} {word}, {done.published.unchanged:,} unchanged"
    say(f"{done.place.name}: {read}: {files}")


def _as_dict(done: StoreReplay) -> dict[str, Any]:
    fields: dict[str, Any] = {"store": done.place.address, "name": done.place.name}
    if done.rendered and done.published:
        fields |= {
            "events": done.rendered.events,
            "days": done.rendered.days,
            **structs.asdict(done.published),
            "damage": done.rendered.damage,
            "broken_projections": done.rendered.broken,
        }
    return fields | {"error": str(done.error) if done.error else None}
