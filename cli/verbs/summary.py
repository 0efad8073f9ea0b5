"""`eventlog summary`."""

import click

from eventlog.app.write.speaker import SpeakerOptions
from eventlog.cli import options
from eventlog.cli.recording import record, with_stdin
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog summary --topic 'JWT' --summary 'Moved auth from sessions to JWT' --session $ID",
        "eventlog summary --stage --topic 'Design' --summary 'Compared three brokers' --session $ID",
        "eventlog summary --topic 'JWT' --summary '…' --decision 'RS256' --todo 'refresh tokens' --session $ID",
        "eventlog summary --topic 'JWT' --summary 'Tokens refresh' --done 'refresh tokens' --session $ID",
    )
)
@click.option("--topic", required=True, help="What it was about, in a few words.")
@click.option("--summary", required=True, help="What was done, in one or two sentences.")
@click.option("--decision", "decisions", multiple=True, help="A decision that was made; may be repeated.")
@click.option("--todo", "todos", multiple=True, help="Something left open; may be repeated.")
@click.option("--done", multiple=True, help="A to-do of an earlier save that is done; may be repeated.")
@click.option("--stage", is_flag=True, help="Of the stage that just ended, not of the whole session.")
@options.speaker
@options.store
def command(
    topic: str,
    summary: str,
    decisions: tuple[str, ...],
    todos: tuple[str, ...],
    done: tuple[str, ...],
    stage: bool,
    speaker: SpeakerOptions,
    store: Store,
) -> None:
    """Save what was done, in the whole session or in one stage of it.

    Saving again revises the summary and keeps what was decided before; exactly the same again is skipped. To-dos are
    those of the newest save that names any, until they are done. One of the texts may be -: it is read from stdin.
    Prints one JSON line.
    """
    fields = {
        "scope": "stage" if stage else "session",
        "topic": topic,
        "summary": summary,
        "decisions": list(decisions),
        "todos": list(todos),
        "done": list(done),
    }
    texts = with_stdin(fields, "topic", "summary", "decisions", "todos", "done")
    record(store, speaker, {"type": "stage_summary", **texts})
