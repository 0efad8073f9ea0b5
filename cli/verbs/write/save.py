"""`eventlog fact`."""

import click

from eventlog.app.write.speaker import SpeakerOptions
from eventlog.cli import options
from eventlog.cli.options import NearChoice
from eventlog.cli.verbs.write.recording import record, with_stdin
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog fact 'The API listens on port 8443' --session $ID",
        "eventlog fact 'We chose RS256: two services verify' --category decision --session $ID",
        "eventlog fact 'Prefers pytest' --type O --key test-runner --session $ID",
        "git log -1 --format=%s | eventlog fact - --category decision",
    )
)
@click.argument("text")
@click.option(
    "--type",
    "memory_type",
    type=NearChoice(["W", "B", "O", "S"]),
    default="W",
    show_default=True,
    help="W world, B biographical, O opinion; S is a stage summary, and has nothing but its text.",
)
@click.option("--category", help="decision, lesson, preference, insight, or a word of yours.")
@click.option("--key", help="A later fact with the same key replaces this one.")
@click.option("--entity", "entities", multiple=True, help="What it is about; may be repeated.")
@click.option("--confidence", type=float, default=0.9, show_default=True, help="From 0 to 1.")
@click.option("--importance", type=int, default=3, show_default=True, help="From 1 to 5.")
@click.option(
    "--scope",
    type=NearChoice(["project", "user"]),
    help="What it is true of [default: user for O and B or without a project, else project].",
)
@options.speaker
@options.store
def fact_command(
    text: str,
    memory_type: str,
    category: str | None,
    key: str | None,
    entities: tuple[str, ...],
    confidence: float,
    importance: int,
    scope: str | None,
    speaker: SpeakerOptions,
    store: Store,
) -> None:
    """Save something worth knowing later; a TEXT of - is read from stdin.

    Prints one JSON line; the same fact again in the same conversation is skipped while it holds.
    """
    if memory_type == "S":
        record(store, speaker, {"type": "stage_summary", "summary": text})
        return
    fields = {
        "content": text,
        "memory_type": memory_type,
        "category": category,
        "key": key,
        "entities": list(entities),
        "confidence": confidence,
        "importance": importance,
        "scope": scope,
    }
    record(store, speaker, {"type": "fact", **with_stdin(fields, "content")})


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
def summary_command(
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
