"""Plan changes of knowledge bases: `eventlog plan`, `eventlog validate`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from eventlog.app.open_store import Machine
from eventlog.app.write.plan import checked, declare, entry_of, parse_plan
from eventlog.app.write.speaker import SpeakerOptions, speaker_of
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.terminal import count, emit, is_terminal, say
from eventlog.cli.verbs.write.recording import is_switched_off, read_text, report_plans, warn_of_clock, with_stdin
from eventlog.format.codec import to_fields
from eventlog.format.events import Event
from eventlog.projections.bases.plan_file import PlanFile, every_mistake
from eventlog.projects.root import project_root
from eventlog.store import Store

_OF_AN_ENTRY = ("path", "url", "heading", "under", "content", "operation")


@options.verb(
    "eventlog plan --path user --heading 'Interests' --content '- AI agents' --reason 'said so'",
    "eventlog plan --path AGENTS.md --heading 'Build' --level 3 --delete",
    "eventlog plan --path AGENTS.md --under Legacy --heading 'Commands' --level 3 --content '- make'",
    "eventlog plan --file plan.yaml --dry-run",
    "eventlog plan --file - --session $ID < plan.yaml",
)
@click.option("--path", help="Knowledge base: its name (user), its path (~/…), or a path in the project.")
@click.option("--url", help="Address of a knowledge base with a `url`.")
@click.option("--heading", help="Heading of the section.")
@click.option("--under", multiple=True, metavar="HEADING", help="Heading above it, outermost first; repeatable.")
@click.option("--level", type=options.Number(1, 6), default=2, show_default=True, help="Level of the heading, 1 to 6.")
@click.option("--content", help="Text of the section, - for stdin; creates a missing section.")
@options.exclusive_flags(
    "operation",
    ("--clear", "clear", "Empty the section, keep its heading."),
    ("--delete", "delete", "Remove the section and its subsections."),
)
@click.option("--reason", help="Reason of the change.")
@click.option("--confidence", type=options.Number(0, 1, float), help="Confidence from 0 to 1 [default: 0.9].")
@click.option("--file", metavar="YAML", help="Entries in the exchange format; - reads stdin.")
@click.option("--dry-run", is_flag=True, help="Check, and print the events; store nothing.")
@options.speaker
def _plan_command(file: str | None, dry_run: bool, speaker: SpeakerOptions, store: Store, **flags: Any) -> None:
    """Plan a change of one section of a knowledge base, or of several with --file.

    Appends the entry to the log at once; `eventlog apply`, `eventlog replay` or the end of the session writes it into
    its file. In a pipe, prints one JSON line per entry; stores none if one has a mistake. Skips and reports entries
    that a person has rejected.
    """
    operation, has_content = flags["operation"], flags["content"] is not None
    if file and any(flags[name] for name in _OF_AN_ENTRY):
        raise click.UsageError("--file takes no options of a single entry")
    if operation and has_content:
        raise click.UsageError(f"--{operation} takes no --content")
    if not file and not (flags["heading"] and (flags["path"] or flags["url"]) and (operation or has_content)):
        raise click.UsageError("give --file, or --path (or --url), --heading and one of --content, --clear, --delete")
    if file:
        declared = parse_plan(*read_text(file))
    else:
        given = with_stdin(flags, "content", "reason").items()
        entry = entry_of({name: value for name, value in given if value not in (None, [])})
        declared = PlanFile(version="1.0.0", entries=[entry])
    log, machine = options.open_log(store), Machine.here()
    named = speaker if speaker.session is not None else speaker._replace(session=declared.source)
    events = checked(store, declared, speaker_of(log, named, machine, writes=not dry_run), machine)
    if dry_run:
        _report_checked(events)
        return
    if is_switched_off(machine, speaker.project):
        return
    report_plans(declare(log, events), store)
    warn_of_clock(log)


@options.verb("eventlog validate plan.yaml", "eventlog validate --schema", "eventlog validate - < plan.yaml")
@click.argument("file", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the format.")
def _validate_command(file: str | None, schema: bool, as_json: bool, store: Store) -> int:
    """Check a file of plan entries: print every mistake with its line. Exits with 1 if it has any."""
    if schema == bool(file):
        raise click.UsageError("give either FILE or --schema")
    if schema:
        emit(PlanFile.schema(), pretty=True)
        return 0
    name, text = read_text(str(file))
    loaded, bases = PlanFile.parse(text), options.open_store(store).settings.knowledge_bases
    entries = sum(key.startswith("entries[") and key.endswith("]") for key in loaded.lines)
    mistakes = every_mistake(loaded, bases, project_root(str(Path.cwd())), Machine.here().home)
    if as_json:
        found = [mistake._asdict() for mistake in mistakes]
        emit({"file": name, "entries": entries, "mistakes": found}, pretty=True)
    else:
        for mistake in mistakes:
            say(f"{name}:{mistake.line}: {mistake}")
        say(f"{count(entries, 'entry', 'entries')}, {count(len(mistakes), 'mistake')}")
    return EXIT_FOUND if mistakes else 0


def _report_checked(events: Sequence[Event]) -> None:
    for event in events:
        if is_terminal():
            from eventlog.cli.show.events import gist

            say(f"would plan  {gist(event)}")
        else:
            emit({"status": "dry-run", "event": to_fields(event)})
