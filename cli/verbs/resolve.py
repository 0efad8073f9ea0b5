"""`eventlog resolve`."""

import os
from collections.abc import Sequence

import click

from eventlog.app.resolve import Choice, decide, waiting
from eventlog.app.staging import StagedEntry, as_edited, path_of
from eventlog.app.storage import storage_named
from eventlog.cli import options
from eventlog.cli.options import OpenStore
from eventlog.cli.output import count, emit_pretty, say
from eventlog.cli.show_apply import file_of, section_of, show_diff, staged_as_dict, tell
from eventlog.errors import BadRequest, EventLogError
from eventlog.projections.bases import plan_file, sections
from eventlog.store import Store


@click.command(
    epilog=options.examples(
        "eventlog resolve",
        "eventlog resolve 019c7f6a --apply",
        "eventlog resolve 019c7f6a --discard",
        "eventlog resolve 20260221-083544-019c7f6a-….yaml --edit",
    )
)
@click.argument("name", metavar="[ID|FILE]", required=False, default="")
@options.one_of(
    "choice",
    ("--apply", "apply", "Write it, as it stands in the staged file."),
    ("--discard", "discard", "Never write it."),
    ("--edit", "edited", "Write what you make of it in $EDITOR."),
)
@options.as_json
@options.store
def command(name: str, choice: Choice | None, as_json: bool, store: Store) -> None:
    """Show staged plan entries against what their files say, and decide about one of them.

    ID may be the beginning of one, FILE is a name in `staging/`; neither is needed where one entry waits. Every
    decision is an event.
    """
    opened = options.open_store(store)
    found = waiting(opened.log, opened.settings, name)
    if choice is None:
        _show(found, opened, as_json=as_json)
        return
    staged = _the_one(found, name)
    content = _edited(staged, opened) if choice == "edited" else None
    decided = decide(opened.log, opened.settings, staged, choice, content)
    if as_json:
        emit_pretty({"status": "ok", "id": decided.event.id, "choice": decided.event.choice, "target": staged.entry.id})
    else:
        say(f"{decided.event.choice:<10} {section_of(staged)}  [{decided.event.id[:13]}]")
        tell(decided.applied)


def _the_one(found: Sequence[StagedEntry], name: str) -> StagedEntry:
    if len(found) == 1:
        return found[0]
    if not found and not name:
        raise BadRequest("nothing waits")
    if not found:
        raise BadRequest(f"nothing staged is called {name!r}", hint="`eventlog resolve` lists what waits")
    names = "\n".join(f"{one.entry.id}  {section_of(one)}" for one in found)
    raise BadRequest(f"{len(found)} entries wait; say which one", hint=names)


def _show(found: Sequence[StagedEntry], opened: OpenStore, *, as_json: bool) -> None:
    if as_json:
        emit_pretty([staged_as_dict(one) | {"content": one.entry.content} for one in found])
        return
    for one in found:
        say(f"{one.entry.id}  {section_of(one)}")
        say(f"  {one.reason}")
        _diff(one, opened)
    say(f"{count(len(found), 'entry waits', 'entries wait')}" if found else "nothing waits")


def _diff(staged: StagedEntry, opened: OpenStore) -> None:
    key = staged.entry.key
    try:
        declared = as_edited(path_of(opened.log.store, staged), staged.entry)
        target = storage_named(staged.entry, opened.settings.knowledge_bases)
        data = (target.read() if target else None) or b""
    except EventLogError as error:
        say(f"  {error}")
        return
    operation, content = plan_file.change_of(declared)
    wanted = "" if operation == "delete" else f"{'#' * key.level} {key.heading}\n\n{sections.canonical(content)}\n"
    page = sections.Page(data)
    found = page.candidates(key.heading, key.level, key.under)
    for there in [_as_it_is(page, section, whole=operation == "delete") for section in found] or [""]:
        show_diff(file_of(staged), there.encode(), wanted.encode())


def _as_it_is(page: sections.Page, section: sections.Section, *, whole: bool) -> str:
    below = f"\n{page.source_below(section)}\n" if whole and section.end < section.last else ""
    return f"{'#' * section.level} {section.source}\n\n{page.text(section)}\n{below}"


def _edited(staged: StagedEntry, opened: OpenStore) -> str:
    """What the person makes of the text in their editor; raises BadRequest where they leave it without saving."""
    before = as_edited(path_of(opened.log.store, staged), staged.entry).content or ""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    after = click.edit(before, editor=editor, extension=".md", require_save=True)
    if after is None:
        raise BadRequest("the editor was left without saving", hint="nothing was decided")
    return after
