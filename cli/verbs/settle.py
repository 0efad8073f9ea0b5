"""`eventlog settle`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from eventlog import files
from eventlog.app.codex_export import export
from eventlog.app.finalize import any_left, finalize
from eventlog.app.rebuild import rebuild
from eventlog.cli import options
from eventlog.cli.output import say
from eventlog.cli.show_replay import tell_copies
from eventlog.hooks import background, error_log
from eventlog.settings import cached
from eventlog.store import Store

_NICENESS = 10


@click.command(epilog=options.examples("eventlog settle", "eventlog settle --store /srv/memory"))
@options.store
def command(store: Store) -> None:
    """See to what ended sessions left: summaries from transcripts where none was saved, then a replay.

    Hooks start it by themselves at the end of a session, in the background; it is safe to run at any time, and does
    nothing while another one is at work.
    """
    _be_nice()
    while _settle_once(store) and any_left(options.open_log(store)):
        pass


def _settle_once(store: Store) -> bool:
    """Whether it was our turn; one at a time per store."""
    with _our_turn(store) as ours:
        if ours:
            try:
                _settle(store)
            except Exception as error:
                error_log.note(store, error, b"")  # started by a hook, there is no one to read stderr
                raise
        return ours


def _settle(store: Store) -> None:
    cached.settings(store)  # hooks without site-packages cannot read config.yaml by themselves
    opened = options.open_store(store)
    for event in finalize(opened.log, opened.settings):
        say(f"drew a summary of {event.conversation_id}")
    with files.lock(f"{store.cache}/replay.lock"):
        done = rebuild(opened.log, opened.settings)
    tell_copies(export(store, opened.settings, str(Path.home()), os.environ.get("CODEX_HOME", "")))
    opened.log.index.catch_up()
    say(f"{done.published.changes:,} knowledge files changed, {len(done.applied.applied):,} sections applied")


@contextmanager
def _our_turn(store: Store) -> Iterator[bool]:
    from filelock import FileLock, Timeout

    files.make_dirs(store.cache)
    try:
        with FileLock(f"{store.cache}/{background.LOCK}", timeout=0, mode=0o600):
            Path(store.cache, background.STARTING).unlink(missing_ok=True)  # from here on, who comes waits for us
            yield True
    except Timeout:
        yield False


def _be_nice() -> None:
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
