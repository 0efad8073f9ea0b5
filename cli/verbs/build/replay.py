"""Rebuild knowledge files: `eventlog replay`, `eventlog settle`."""

import os
from contextlib import nullcontext, suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from eventlog.app.build.finalize import FinalizeResult, finalize
from eventlog.app.build.rebuild import replay_elsewhere
from eventlog.app.progress import READING
from eventlog.cli import EXIT_DAMAGED, EXIT_FOUND, EXIT_NOT_WRITTEN, options
from eventlog.cli.progress import phase
from eventlog.cli.terminal import count, emit, print_error, say
from eventlog.cli.verbs.build.replay_report import print_damage, print_replay, replay_here, tell_copies
from eventlog.format.errors import NotStored
from eventlog.projections.catalog import ALL, chosen
from eventlog.store import Store

if TYPE_CHECKING:
    from eventlog.app.ask.history import Omission
    from eventlog.app.cluster.replay_stores import StoreReplay

_NICENESS = 10


def _omission(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> "Omission | None":
    """Parse --without: `session=ID`, `id=EVENT`, `agent=NAME`."""
    if not value or ctx.resilient_parsing:
        return None
    from eventlog.app.ask.history import Omission
    from eventlog.app.naming import names, references

    del param
    opened = options.open_store(ctx.params["store"])
    found: dict[str, set[str]] = {"session": set(), "id": set(), "agent": set()}
    for text in value:
        kind, _, name = text.partition("=")
        if kind not in found or not name:
            raise click.UsageError(f"--without {text}: give session=ID, id=EVENT or agent=NAME")
        if kind == "session":
            found[kind].add(options.session_of_scope(name, ctx))
        elif kind == "id":
            found[kind].add(references.event_meant(opened, name))
        else:
            found[kind].update(names.agents_meant(opened.log, [name]))
    return Omission(frozenset(found["session"]), frozenset(found["id"]), frozenset(found["agent"]))


@options.verb(
    "eventlog replay",
    "eventlog replay --check",
    "eventlog replay --out /tmp/then --as-of 2026-02-20",
    "eventlog replay --projection memory --json",
    "eventlog replay --without session=8d21c0 --without id=last",
    "eventlog replay --cluster local --out /tmp/team /home/*/.eventlog",
    "eventlog replay --out /tmp/team git@example.org:us/memory.git",
)
@click.option("--out", type=click.Path(file_okay=False), help="Write everything below this directory instead.")
@click.option("--as-of", type=options.TimeParam(end=True), help="Use only events up to this time; needs --out.")
@click.option(
    "--projection", "names", multiple=True, help=f"Write only these files: {', '.join(view.name for view in ALL)}."
)
@click.option("--full", is_flag=True, help="Rebuild the cache from every day, if all can be read.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and list the files that differ from the log.")
@click.option(
    "--without",
    multiple=True,
    metavar="session=ID|id=EVENT|agent=NAME",
    callback=_omission,
    help="Show each file without these events, and write nothing; may be repeated.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS|local[:N]",
    help="Replay many stores on a Dask cluster, or in N local processes; needs --out, and writes each below it.",
)
@click.argument("stores", nargs=-1, metavar="[REMOTE|STORE...]")
def _replay_command(
    out: str | None,
    as_of: str | None,
    names: tuple[str, ...],
    full: bool,
    check: bool,
    without: "Omission | None",
    cluster: str | None,
    stores: tuple[str, ...],
    as_json: bool,
    store: Store,
) -> int:
    """Rebuild the knowledge files from the log; write only those that change.

    The same events give the same bytes, whatever the files contained. Sets aside a file that a person has edited, and
    never overwrites it. Applies plan entries as `eventlog apply` does; with --out, writes to that directory only.

    With --cluster, STORE is a directory or an address that fsspec opens (s3://logs/ada); reads it only. REMOTE, one
    that this store has joined, gives the files of all that its machines have sent; with --cluster, workers fold days.
    """
    if stores or cluster:
        beyond = bool(as_of or without or full)
        return _replay_others(store, stores, cluster, out, names, beyond=beyond, check=check, as_json=as_json)
    if as_of and not out:
        raise click.UsageError("--as-of needs --out: the store has the current files")
    opened = options.open_store(store)
    if without and (out or check or names):
        raise click.UsageError("--without takes no --out, --check or --projection")
    if without:
        from eventlog.app.ask.history import changes, replay_at  # only --without compares two replays
        from eventlog.cli.show.changes import show_changes

        with phase("comparing two replays"):
            lost = changes(replay_at(opened), replay_at(opened, without=without))
        show_changes(lost, "no file would change", as_json=as_json)
        return 0
    if not out:
        return replay_here(store, names, anew=full, check=check, as_json=as_json)
    with phase(READING):
        views, until = chosen(names), as_of or "~"
        done = replay_elsewhere(opened, out, until, projections=views, anew=full, check=check)
    return print_replay(done, out, store, check=check, as_json=as_json)


def _replay_others(
    store: Store,
    addresses: tuple[str, ...],
    cluster: str | None,
    out: str | None,
    names: tuple[str, ...],
    *,
    beyond: bool,
    check: bool,
    as_json: bool,
) -> int:
    """Replay the remote of a store, here or on a cluster, or stores on a cluster; report each, return the exit code.

    Raises UsageError for what is `beyond` them.
    """
    from eventlog.app.cluster.replay_remote import joined_remote, replay_remote
    from eventlog.app.cluster.replay_stores import StorePlace, StoreReplay, connected, replay_stores_to, written

    opened = options.open_store(store) if len(addresses) == 1 else None
    is_remote = opened is not None and joined_remote(opened, addresses[0])
    if not (cluster or is_remote):
        what = f"{addresses[0]} is no remote of this store, and a store needs --cluster"
        raise click.UsageError(f"{what}; name one store with --store")
    if beyond or not out:
        what = "REMOTE needs --out, and takes only --cluster," if is_remote else "--cluster needs --out, and takes only"
        raise click.UsageError(f"{what} --projection, --check and --json")
    codes, reports = set(), []
    with phase("replaying stores") as progress, connected(cluster) if cluster else nullcontext() as client:
        if opened and is_remote:
            rendered = StoreReplay(StorePlace("team", out), replay_remote(opened, client, names, progress))
            found = iter([written(rendered, out, chosen(names), check=check)])
        else:
            found = replay_stores_to(out, addresses or (store.root,), client, names, check=check, progress=progress)
        for done in found:
            codes.add(_code_of(done, check=check))
            reports.append(_as_dict(done))
            if not as_json:
                _print_store(done, check=check)
    if as_json:
        reports.sort(key=itemgetter("name"))
        emit(reports[0] if is_remote else {"root": out, "stores": reports}, pretty=True)
    return next((code for code in (EXIT_NOT_WRITTEN, EXIT_DAMAGED, EXIT_FOUND) if code in codes), 0)


def _code_of(done: "StoreReplay", *, check: bool) -> int:
    if done.error:
        return EXIT_NOT_WRITTEN if isinstance(done.error, NotStored) else EXIT_DAMAGED
    return EXIT_FOUND if check and done.published and done.published.changes else 0


def _print_store(done: "StoreReplay", *, check: bool) -> None:
    if done.error:
        print_error(str(done.error), done.error.hint)
        return
    assert done.rendered
    assert done.published
    print_damage(done.rendered.damage, done.rendered.broken)
    for name in (*done.published.set_aside, *done.published.left):
        say(f"edited     {done.place.name}/{name}")
    word = ("differs" if done.published.changes == 1 else "differ") if check else "changed"
    read = f"{count(done.rendered.events, 'event')} of {count(done.rendered.days, 'day')}"
    files = f"{count(done.published.changes, 'file')} {word}, {done.published.unchanged:,} unchanged"
    say(f"{done.place.name}: {read}: {files}")


def _as_dict(done: "StoreReplay") -> dict[str, Any]:
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


@options.verb("eventlog settle", "eventlog settle --store /srv/memory")
def _settle_command(store: Store) -> None:
    """Finish ended sessions: write missing summaries from transcripts, then rebuild the knowledge files.

    Hooks start it in the background at the end of a session. Safe to run at any time; exits at once while another run
    is active.
    """
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    for done in finalize(store, lambda: options.open_store(store)):
        _print_settled(done)
    if os.path.exists(store.sync):  # noqa: PTH110 - its place may not be looked at
        from eventlog.app.sync.exchange import sync_in_background  # few stores sync

        sync_in_background(options.open_store(store))


def _print_settled(done: FinalizeResult) -> None:
    for event in done.drawn:
        say(f"wrote a summary of {event.conversation_id}")
    tell_copies(done.copies)
    files = count(done.published.changes, "knowledge file")
    say(f"{files} changed, {count(len(done.applied.applied), 'section')} applied")
