"""A replay into the store, and what is told of it: by the verb, and without click where nothing else is asked."""

from collections.abc import Sequence

from eventlog.app.build.rebuild import RebuildResult, replay_store
from eventlog.app.machine import Machine
from eventlog.app.naming.short_ids import ShortIds
from eventlog.app.open_store import open_store
from eventlog.cli import EXIT_FOUND, EXIT_NOT_WRITTEN
from eventlog.cli.progress import phases
from eventlog.cli.show.replay import report
from eventlog.projections.catalog import chosen
from eventlog.store import Store
from eventlog.store.replica import mark_told


def replay_here(
    store: Store, names: Sequence[str] = (), *, anew: bool = False, check: bool = False, as_json: bool = False
) -> int:
    """Replay a store into its files, tell of it, and return the exit code."""
    opened = open_store(store, Machine.here())
    with phases() as phase:
        done = replay_store(opened, projections=chosen(names), anew=anew, check=check, phases=phase)
    code = tell(done, store.knowledge, store, check=check, as_json=as_json)
    if done.copied_from and not check:
        mark_told(store)
    return code


def tell(done: RebuildResult, root: str, store: Store, *, check: bool, as_json: bool) -> int:
    """Tell what a replay did, and return the exit code."""
    report(done, root, lambda full_id: ShortIds(store).of(full_id), check=check, as_json=as_json)
    if done.applied.pending:
        return EXIT_NOT_WRITTEN
    return EXIT_FOUND if check and (done.published.changes or done.applied.files) else 0
