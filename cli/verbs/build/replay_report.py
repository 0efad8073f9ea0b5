"""Replay into the store and report it, without importing click."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import structs

from eventlog.app.build.codex_export import ExportResult
from eventlog.app.build.publish import PublishResult
from eventlog.app.build.rebuild import RebuildResult, replay_store
from eventlog.app.open_store import Machine, open_store
from eventlog.cli import EXIT_FOUND, EXIT_NOT_WRITTEN
from eventlog.cli.show import changes
from eventlog.cli.show.events import describe
from eventlog.cli.terminal import count, emit, say
from eventlog.format.codec import to_fields
from eventlog.format.events import Retraction
from eventlog.log.lines import Damage
from eventlog.projections.catalog import chosen, installed
from eventlog.projections.engine.replay import ReplayResult
from eventlog.store import Store
from eventlog.store.replica import mark_reported


def replay_here(
    store: Store, names: Sequence[str] = (), *, anew: bool = False, check: bool = False, as_json: bool = False
) -> int:
    """Replay a store into its files, report it, and return the exit code."""
    opened = open_store(store, Machine.here())
    done = replay_store(opened, projections=chosen(names), anew=anew, check=check)
    code = print_replay(done, store.knowledge, store, check=check, as_json=as_json)
    if done.copied_from and not check:
        mark_reported(store)
    return code


def print_replay(done: RebuildResult, root: str, store: Store, *, check: bool, as_json: bool) -> int:
    """Report a replay, and return the exit code."""

    def short(full_id: str) -> str:
        from eventlog.app.naming.references import ShortIds  # most replays name no event

        return ShortIds(store).of(full_id)

    _print_report(done, root, short, check=check, as_json=as_json)
    if done.applied.pending:
        return EXIT_NOT_WRITTEN
    return EXIT_FOUND if check and (done.published.changes or done.applied.files) else 0


_LISTED = 8  # files of one directory; places of damage


def _print_report(done: RebuildResult, root: str, short: Callable[[str], str], *, check: bool, as_json: bool) -> None:
    """Print the changes of a replay; with `check`, the changes it would make."""
    if as_json:
        emit(
            {
                "root": root,
                "events": done.replayed.events,
                "days": done.replayed.days,
                "days_folded": done.replayed.days_folded,
                **structs.asdict(done.published),
                "damage": done.replayed.damage,
                "broken_projections": _broken(done.replayed),
                "codex_memory": done.copies,
                "knowledge_bases": done.applied.as_fields(),
                "by_hand": [to_fields(event) for event in done.edits],
                "copied_from": done.copied_from or None,
            },
            pretty=True,
        )
        return
    if done.copied_from:
        named = "a replay gives it its own name" if check else "it has its own name now"
        say(f"{'named':<10} this store is a copy of that of {done.copied_from}: {named}")
    for event in done.edits:
        target = event.target if isinstance(event, Retraction) else None
        words = describe(event).replace(target, short(target)) if target else describe(event)
        say(f"{'by hand':<10} {event.type} {words}")
    changes.print_applied(done.applied, short, dry_run=check)
    tell_copies(done.copies)
    _print_files(done.replayed, done.published, root, check=check)


def tell_copies(copies: ExportResult) -> None:
    """Print the changed copies for Codex."""
    for word, names in (("copied", copies.written), ("uncopied", copies.removed), ("foreign", copies.left)):
        for name in names:
            say(f"{word:<10} codex_memory: {name}")


def print_damage(found: Sequence[Damage], broken: Mapping[str, str]) -> None:
    """Report the first damage, of different lines with the same id only their number; and projections that failed."""
    named = [damage for damage in found if damage.kind != "conflict"]
    for damage in named[:_LISTED]:
        say(f"damaged    {damage.place} {damage.kind}: {damage.reason}")
    if len(named) > _LISTED:
        say(f"damaged    {len(named) - _LISTED:,} more: eventlog verify")
    if conflicts := len(found) - len(named):
        say(f"damaged    {count(conflicts, 'conflict')}: eventlog verify")
    for name, reason in broken.items():
        say(f"broken     projection {name}, of another package: {reason}")


def _print_files(replayed: ReplayResult, published: PublishResult, root: str, *, check: bool) -> None:
    print_damage(replayed.damage, _broken(replayed))
    for word, names in (
        ("differs" if check else "wrote", published.written),
        ("stale" if check else "removed", published.removed),
        ("set aside", published.set_aside),
        ("left", published.left),
    ):
        for name in _in_short(names):
            say(f"{word:<10} {name}")
    read = f"{count(replayed.events, 'event')} of {count(replayed.days, 'day')} ({replayed.days_folded:,} recomputed)"
    word = ("differs" if published.changes == 1 else "differ") if check else "changed"
    say(f"{read}: {count(published.changes, 'file')} {word}, {published.unchanged:,} unchanged in {root}")


def _in_short(names: list[str]) -> Iterator[str]:
    """Yield every file, but only the number of a directory's many files."""
    for folder, group in groupby(sorted(names, key=_folder), key=_folder):
        files = list(group)
        if len(files) > _LISTED:
            yield f"{folder}/: {len(files):,} files"
        else:
            yield from files


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _broken(replayed: ReplayResult) -> dict[str, str]:
    return {**installed().broken, **replayed.broken}
