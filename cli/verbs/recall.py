"""`eventlog recall`: what `eventlog search` finds; with --explain, what a prompt is told and why not more."""

from collections.abc import Iterator

import click

from eventlog.app.naming.references import session_named
from eventlog.app.search.explain import Candidate, Explanation, explain
from eventlog.cli import options
from eventlog.cli.output import beside, clean, count, emit_pretty, marked, show_lines, styled
from eventlog.cli.progress import phases
from eventlog.cli.show.display import Shown
from eventlog.cli.verbs import search
from eventlog.format.text import cut, project_name
from eventlog.store import Store

_CHARS = 300
_SILENCES = {
    "off": "silent: recall is off (recall: {prompt: false})",
    "about nothing": "silent: the prompt has only words of every day's work",
    "nothing known": "silent: nothing known here or about you shares a word with the prompt",
    "below the gate": "silent: what was found shares too little with the prompt",
    "nothing new": "silent: the session knows it already",
    "elsewhere": "silent: it is known of another project",
    "withdrawn": "silent: it was withdrawn",
}


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
    _show_explanation(found, Shown(store), as_json=as_json)


def _show_explanation(found: Explanation, shown: Shown, *, as_json: bool) -> None:
    """Print whether something is told, the words that count and the weight that is needed, then every candidate."""
    if as_json:
        emit_pretty({**found._asdict(), "candidates": [one._asdict() for one in found.candidates]})
        return
    show_lines(_lines(found, shown))


def _lines(found: Explanation, shown: Shown) -> Iterator[str]:
    told = f"speaks: {count(len(found.told), 'line')} of at most {found.lines}"
    yield styled(_SILENCES[found.silence] if found.silence else told, bold=True)
    if found.words:
        yield from beside("about  ", clean(", ".join(found.words)))
        yield f"need   {found.need:.1f}"
    for one in found.candidates:
        yield from _line(one, shown)


def _line(one: Candidate, shown: Shown) -> Iterator[str]:
    place = f" ({project_name(one.project)})" if one.verdict == "elsewhere" and one.project else ""
    mark = marked("✓" if one.verdict == "told" else "·")
    yield from beside(f"{mark} {one.score:4.1f}  {shown.id(one.id)}  {one.verdict}{place}  ", cut(one.text, _CHARS))
