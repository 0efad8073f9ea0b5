"""`eventlog recall`: what `eventlog search` finds; with --explain, what a prompt is told and why not more."""

import click

from eventlog.app.naming.references import session_named
from eventlog.app.search.explain import explain
from eventlog.cli import options
from eventlog.cli.progress import phases
from eventlog.cli.show_explain import show_explanation
from eventlog.cli.shown import Shown
from eventlog.cli.verbs import search
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog recall stripe webhook twice",
        'eventlog recall --explain "how do we verify stripe webhooks?"',
        'eventlog recall --explain "how do we verify stripe webhooks?" --session last --json',
    )
)
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@click.option(
    "--explain", "explains", is_flag=True, help="QUERY is a prompt: would a hook tell something with it, and why not?"
)
@click.option("--session", metavar="ID|last", help="With --explain: a conversation, which is told nothing twice.")
@options.here
@click.option("--all-projects", "everywhere", is_flag=True, help="Search every project.")
@options.types
@options.since
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.  [default: 10]")
@options.as_json
@options.store
def command(
    words: tuple[str, ...],
    explains: bool,
    session: str | None,
    project: str | None,
    everywhere: bool,
    types: tuple[str, ...],
    since: str | None,
    limit: int | None,
    as_json: bool,
    store: Store,
) -> None:
    """Search what is known, as `eventlog search` does; with --explain, tell what a prompt is told with it, and why.

    --explain asks what a hook asks: the words the prompt is about, the weight they need, and each candidate with its
    own weight and what becomes of it: told, too little weight, no line left, said already by one above, told before in
    this session, withdrawn, or of another project (elsewhere).
    """
    if not explains:
        if session is not None:
            raise click.UsageError("--session goes with --explain")
        search.answer(store, words, project, everywhere, types, since, limit, as_json=as_json)
        return
    if everywhere or types or since or limit:
        raise click.UsageError("--explain asks as a hook does: it takes no --all-projects, --type, --since or --limit")
    opened = options.open_store(store)
    with phases() as phase:
        phase("looking through what is known")
        found = explain(opened, " ".join(words), project or "", session_named(opened.log, session) if session else "")
    show_explanation(found, Shown(store), as_json=as_json)
