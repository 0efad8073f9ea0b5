"""`eventlog settle`."""

import os
from contextlib import suppress

import click

from eventlog.app.build.finalize import FinalizeResult, finalize
from eventlog.cli import options
from eventlog.cli.output import count, say
from eventlog.cli.show.replay import tell_copies
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
    for done in finalize(store, lambda: options.open_store(store)):
        _tell(done)


def _tell(done: FinalizeResult) -> None:
    for event in done.drawn:
        say(f"drew a summary of {event.conversation_id}")
    tell_copies(done.replayed.copies)
    files = count(done.replayed.published.changes, "knowledge file")
    say(f"{files} changed, {count(len(done.replayed.applied.applied), 'section')} applied")


def _be_nice() -> None:
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
