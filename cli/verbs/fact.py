"""`eventlog fact`."""

import click

from eventlog.app.write.speaker import SpeakerOptions
from eventlog.cli import options
from eventlog.cli.choices import NearChoice
from eventlog.cli.recording import record, with_stdin
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
def command(
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
