"""Find secrets, kinds and places only: `eventlog scan`."""

from collections.abc import Sequence
from pathlib import Path

import click

from eventlog.app.ask.scan import FoundSecret, scan
from eventlog.app.write.erasing.redact import redact, redactable
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.progress import phase
from eventlog.cli.terminal import abbreviate_home, confirm, count, emit, say
from eventlog.format.errors import BadRequest
from eventlog.format.text import one_line
from eventlog.store import Store


@options.verb(
    "eventlog scan", "eventlog scan notes/ .env --json", "eventlog scan --transcripts", "eventlog scan --redact"
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--transcripts", "is_hosts", is_flag=True, help="Search what the hosts have written down themselves.")
@click.option("--redact", "erases", is_flag=True, help="Offer to erase what is found in the store.")
def _scan_command(paths: tuple[Path, ...], is_hosts: bool, erases: bool, yes: bool, as_json: bool, store: Store) -> int:
    """Search the store, files or transcripts for secrets; print their kinds and places, never a value.

    Without PATH it searches the log, the knowledge files and the knowledge bases. Knows the kinds that hooks remove
    before they write, so it finds what was written by hand, or before a kind was known. Exits with 1 if it finds any.
    """
    if erases and (paths or is_hosts):
        raise click.UsageError("--redact is for the store: it takes neither PATH nor --transcripts")
    if missing := next((path for path in paths if not path.exists()), None):
        raise BadRequest("no such file or directory", where=str(missing))
    opened = options.open_store(store)
    with phase():
        found, files = scan(opened, paths, transcripts=is_hosts)
    if as_json:
        emit(
            [
                {"file": secret.file, "line": secret.line, "kind": secret.kind, "event": secret.event}
                for secret in found
            ],
            pretty=True,
        )
    else:
        _report(found, files, is_elsewhere=bool(paths or is_hosts))
    if found and erases:
        texts = sorted({secret.text for secret in found})
        if confirm(f"Erase {count(len(texts), 'secret')} for good?", yes=yes):
            done = redact(opened, redactable(opened, texts=texts))
            say(f"erased from {count(len(done.events), 'event')} and {count(len(done.files), 'file')}")
    return EXIT_FOUND if found else 0


def _report(found: Sequence[FoundSecret], files: int, *, is_elsewhere: bool) -> None:
    for secret in found:
        event = f"  event {secret.event}" if secret.event else ""
        say(f"{one_line(abbreviate_home(secret.file))}:{secret.line}  {secret.kind}{event}")
    say(f"{count(len(found), 'secret')} in {count(len({hit.file for hit in found}), 'file')} of {files:,} searched")
    if found:
        other = "`eventlog scan` looks for secrets in the store"
        say(f"change them now; {other if is_elsewhere else '`eventlog scan --redact` erases them from the store'}")
