"""`eventlog show`."""

import click

from eventlog.app.ask.story import story
from eventlog.app.ask.what_if import document_meant, replay_at
from eventlog.app.naming.file_lines import is_file_line
from eventlog.app.naming.references import resolve
from eventlog.app.open_store import OpenStore
from eventlog.cli import options, suggestions
from eventlog.cli.output import emit, emit_bytes, is_terminal, show_lines
from eventlog.cli.show.display import Shown
from eventlog.cli.show.story import show_event, show_story
from eventlog.cli.show.wrap_markdown import prose_lines
from eventlog.format.errors import BadRequest
from eventlog.projections.views.markdown import unstamped
from eventlog.store import Store

_FILES = (".md", ".jsonl")


@click.command(
    epilog=options.examples("eventlog show last", "eventlog show 8d21c0", "eventlog show MEMORY.md --as-of 2026-02-20")
)
@click.argument("name", metavar="SESSION|EVENT|FILE", shell_complete=suggestions.sessions)
@click.option("--as-of", type=options.TimeParam(end=True), help="The file as the log had it then, that day included.")
@options.as_json
@options.store
def command(name: str, as_of: str | None, as_json: bool, store: Store) -> None:
    """Show one session, one event, or a knowledge file as it was.

    A session is one story: what it was, and each thing it said once. A file is told from the log, whatever lies there.
    """
    opened = options.open_store(store)
    if as_of or (name.endswith(_FILES) and not is_file_line(name)):
        _show_file(opened, name, as_of or "~", as_json=as_json)
        return
    meant = resolve(opened, name)
    if meant.kind == "session":
        show_story(story(opened, meant.id), Shown(store), as_json=as_json)
    else:
        show_event(opened.log.find([meant.id])[meant.id].event, Shown(store), as_json=as_json)


def _show_file(opened: OpenStore, name: str, as_of: str, *, as_json: bool) -> None:
    then, now = replay_at(opened, as_of), replay_at(opened)
    path = document_meant(opened, name, now, then)
    document = then.document(path)
    if document is None:
        raise BadRequest(f"there was no {path} yet", hint=f"eventlog diff --from 1970-01-01 {path} shows when it came")
    if as_json:
        emit({"path": path, "as_of": as_of, "lines": [line.text for line in document.lines]})
    elif is_terminal():
        show_lines(prose_lines(unstamped(document)))
    else:
        emit_bytes(document.data.removesuffix(b"\n"))
