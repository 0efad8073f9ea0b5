"""What became of knowledge bases, for people and for programs."""

import sys
from difflib import unified_diff

import click

from eventlog.app.apply import ApplyResult, SectionChange
from eventlog.app.staging import StagedEntry
from eventlog.cli.output import count, say
from eventlog.text import cut, harmless

_SHOWN, _CHARS = 3, 60
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def tell(done: ApplyResult, *, dry_run: bool = False) -> None:
    """A line for every section; diffs on a terminal, and for a dry run."""
    words = {"edited": done.edited, "would apply" if dry_run else "applied": done.applied}
    for word, sections in (words | {"nothing to delete": done.nothing}).items():
        for one in sections:
            say(f"{word:<10} {place(one)}  [{one.event[:13]}]")
            _tell_replaced(one, dry_run=dry_run)
    for staged in done.staged:
        say(f"{'staged':<10} {section_of(staged)}  [{staged.entry.id[:13]}] {staged.reason}")
    for file, reason in done.pending:
        say(f"{'pending':<10} {file}: {reason}")
    if dry_run or sys.stdout.isatty():
        for path, before, after in done.files:
            show_diff(path, before, after)


def _tell_replaced(one: SectionChange, *, dry_run: bool) -> None:
    """What text made way, and how to take that back."""
    if one.replaced:
        lines = "; ".join(cut(line.strip(), _CHARS) for line in one.replaced[:_SHOWN])
        more = f"; and {len(one.replaced) - _SHOWN} more" if len(one.replaced) > _SHOWN else ""
        say(f"{'':<10} {'would replace' if dry_run else 'replaced'} {count(len(one.replaced), 'line')}: {lines}{more}")
    if one.replaced and not dry_run:
        say(f"{'':<10} take it back: eventlog append retraction --session human target={one.event}")


def show_diff(path: str, before: bytes, after: bytes) -> None:
    """A unified diff, coloured on a terminal."""
    old, new = (data.decode(errors="replace").splitlines() for data in (before, after))
    for line in unified_diff(old, new, path, path, lineterm=""):
        click.secho(harmless(line), fg=_COLOURS.get(line[:1]))


def as_dict(done: ApplyResult) -> dict[str, object]:
    """The same as JSON."""
    return {
        "applied": [one._asdict() for one in done.applied],
        "nothing": [one._asdict() for one in done.nothing],
        "edited": [one._asdict() for one in done.edited],
        "staged": [staged_as_dict(one) for one in done.staged],
        "pending": [{"file": file, "reason": reason} for file, reason in done.pending],
        "files": [path for path, _, _ in done.files],
    }


def staged_as_dict(one: StagedEntry) -> dict[str, object]:
    """A staged entry: what it wants, why it waits."""
    key = one.entry.key
    return {
        "id": one.entry.id,
        "file": file_of(one),
        "heading": key.heading,
        "level": key.level,
        "under": key.under,
        "reason": one.reason,
        "staged_as": one.name,
    }


def place(one: SectionChange) -> str:
    """`~/.config/agents/USER.md ## Interests`."""
    return f"{one.file} {'#' * one.level} {one.heading}"


def section_of(one: StagedEntry) -> str:
    """The same, of an entry that waits."""
    key = one.entry.key
    return f"{file_of(one)} {'#' * key.level} {key.heading}"


def file_of(one: StagedEntry) -> str:
    """The file it is meant for, as it was declared where it is no knowledge base."""
    return one.target_file or one.entry.key.path or one.entry.key.url or ""
