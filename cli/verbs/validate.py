"""`eventlog validate`."""

import sys
from pathlib import Path

import click

from eventlog.app.machine import Machine
from eventlog.app.write.plan import check_plan
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.output import count, emit_pretty, say
from eventlog.format.error_text import of_system
from eventlog.format.errors import BadRequest
from eventlog.projections.bases import plan_file
from eventlog.projects.root import project_root
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog validate plan.yaml", "eventlog validate --schema", "eventlog validate - < plan.yaml"
    )
)
@click.argument("file", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the format.")
@options.as_json
@options.store
def command(file: str | None, schema: bool, as_json: bool, store: Store) -> int:
    """Check a file of plan entries: every mistake at once, with its line. Exits with 1 where there is one."""
    if schema == bool(file):
        raise click.UsageError("give either FILE or --schema")
    if schema:
        emit_pretty(plan_file.schema())
        return 0
    name, text = read_plan(str(file))
    found = check_plan(text, options.open_store(store).settings, project_root(str(Path.cwd())), Machine.here())
    if as_json:
        mistakes = [mistake._asdict() for mistake in found.mistakes]
        emit_pretty({"file": name, "entries": found.entries, "mistakes": mistakes})
    else:
        for mistake in found.mistakes:
            say(f"{name}:{mistake.line}: {mistake}")
        say(f"{count(found.entries, 'entry', 'entries')}, {count(len(found.mistakes), 'mistake')}")
    return EXIT_FOUND if found.mistakes else 0


def read_plan(file: str) -> tuple[str, str]:
    """The name of the file, for messages, and its text; `-` is stdin. Raises BadRequest."""
    name = "stdin" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return name, data.decode("utf-8-sig")
    except OSError as error:
        raise BadRequest(f"cannot be read: {of_system(error)[0]}", where=name) from error
    except UnicodeDecodeError as error:
        raise BadRequest("is not UTF-8", where=name, hint=f"see byte {error.start}") from error
