"""Save facts and summaries: `eventlog fact`, `eventlog summary`."""

from typing import Any

import click

from eventlog.app.open_store import Machine
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.cli import options
from eventlog.cli.suggestions import NearChoice
from eventlog.cli.verbs.write.recording import is_switched_off, record, report, warn_of_clock, with_stdin
from eventlog.store import Store

_DEFAULTS = {"memory_type": "W", "confidence": 0.9, "importance": 3}


@options.verb(
    "eventlog fact 'The API listens on port 8443'",
    "eventlog fact 'We chose RS256: two services verify' --category decision --session $ID",
    "eventlog fact 'Prefers pytest' --type O --key test-runner",
    "eventlog fact 'The API listens on port 9443' --replaces MEMORY.md:5",
    "git log -1 --format=%s | eventlog fact - --category decision",
)
@click.argument("content", metavar="TEXT")
@click.option(
    "--type",
    "memory_type",
    type=NearChoice(["W", "B", "O", "S"]),
    default="W",
    show_default=True,
    help="W world, B biographical, O opinion; S saves a stage summary of the text.",
)
@click.option("--category", help="decision, lesson, preference, insight, or your own word.")
@click.option("--key", help="A later fact with the same key replaces this one.")
@click.option("--replaces", metavar="FILE:LINE|ID", help="Say it in the place of that line, below its heading.")
@click.option("--entity", "entities", multiple=True, help="Subject of the fact; may be repeated.")
@click.option("--confidence", type=options.Number(0, 1, float), default=0.9, show_default=True, help="From 0 to 1.")
@click.option("--importance", type=options.Number(1, 5), default=3, show_default=True, help="From 1 to 5.")
@click.option(
    "--scope",
    type=NearChoice(["project", "user"]),
    help="Scope of the fact [default: user for O and B or without a project, else project].",
)
@options.speaker
def _fact_command(replaces: str | None, speaker: SpeakerOptions, store: Store, **fields: Any) -> None:
    """Save a fact for later sessions; reads a TEXT of - from stdin.

    In a pipe, prints one JSON line. Skips a fact that its conversation has saved and not retracted.
    """
    is_stage = fields["memory_type"] == "S"
    if is_stage and replaces is not None:
        raise click.UsageError("a stage summary replaces no fact: give --type W, B or O")
    if is_stage:
        record(store, speaker, {"type": "stage_summary", "summary": fields["content"]})
    elif replaces is not None:
        _replace(store, speaker, replaces, with_stdin(fields, "content"))
    else:
        record(store, speaker, {"type": "fact", **with_stdin(fields, "content")})


def _replace(store: Store, speaker: SpeakerOptions, meant: str, fields: dict[str, Any]) -> None:
    """Append a fact in the place of a statement, and report it; what `fields` leave open is as it was there."""
    from eventlog.app.write.correct import correctable, put_in_place  # replays, which most facts need not

    machine = Machine.here()
    if is_switched_off(machine, speaker.project):
        return
    opened = options.open_store(store)
    chosen = {name: value for name, value in fields.items() if value not in (None, []) and value != _DEFAULTS.get(name)}
    found = correctable(opened, meant)
    report(put_in_place(opened, found, chosen, speaker_of(opened.log, speaker, machine)), "", store)
    warn_of_clock(opened.log)


@options.verb(
    "eventlog summary --topic 'JWT' --summary 'Moved auth from sessions to JWT'",
    "eventlog summary --stage --topic 'Design' --summary 'Compared three brokers'",
    "eventlog summary --topic 'JWT' --summary '…' --decision 'RS256' --todo 'refresh tokens'",
    "eventlog summary --topic 'JWT' --summary 'Tokens refresh' --done 'refresh tokens' --session $ID",
)
@click.option("--topic", required=True, help="Topic of the work, in a few words.")
@click.option("--summary", required=True, help="Summary of the work, in one or two sentences.")
@click.option("--decision", "decisions", multiple=True, help="A decision; may be repeated.")
@click.option("--todo", "todos", multiple=True, help="An open to-do; may be repeated.")
@click.option("--done", multiple=True, help="A to-do of an earlier summary that is done; may be repeated.")
@click.option("--stage", is_flag=True, help="Summarise the stage that just ended, not the whole session.")
@options.speaker
def _summary_command(stage: bool, speaker: SpeakerOptions, store: Store, **fields: Any) -> None:
    """Save a summary of the whole session, or of one stage of it.

    A later summary replaces the text and keeps earlier decisions; skips an identical one. The newest summary with
    to-dos replaces the open to-dos; --done closes one. Reads one text of - from stdin. In a pipe, prints one JSON line.
    """
    scope = "stage" if stage else "session"
    record(store, speaker, {"type": "stage_summary", "scope": scope, **with_stdin(fields, *fields)})
