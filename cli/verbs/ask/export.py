"""Print the log or the memory for other programs and people: `eventlog export`."""

import click

from eventlog.app.ask.export import FORMS
from eventlog.app.ask.query import why_empty
from eventlog.cli import options
from eventlog.cli.suggestions import NearChoice
from eventlog.cli.terminal import emit_line, print_error
from eventlog.store import Store


@options.verb(
    "eventlog export > log.jsonl",
    "eventlog export --format markdown --since 30d > memory.md",
    "eventlog export --format cloudevents | head",
)
@click.option(
    "--format",
    "form",
    type=NearChoice([*FORMS]),
    default="jsonl",
    show_default=True,
    help="jsonl is the log byte for byte; markdown what is known and what sessions came to.",
)
def _export_command(form: str, since: str | None, store: Store) -> None:
    """Print the whole log, or what is known, to be piped into a file.

    `eventlog import eventlog FILE` reads jsonl again, with what you have forgotten, resolved and undone. cloudevents is
    CloudEvents 1.0 as JSON, otlp log records of OpenTelemetry, atif a trajectory per conversation. Every project is in
    it, and withdrawn words are, but in markdown: keep it like the log.
    """
    opened, line = options.open_store(store), None
    for line in FORMS[form](opened, since or ""):
        emit_line(line)
    if line is None:
        print_error(*why_empty(opened.log, "event", {"since": since}))
