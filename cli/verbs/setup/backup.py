"""Copy a store into one file, make a store of it, and free its disk: `eventlog backup`, `eventlog prune`."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote

import click

from eventlog.app.setup.backup import create_backup, prune, restore_backup
from eventlog.cli import EXIT_DAMAGED, options
from eventlog.cli.progress import phase
from eventlog.cli.terminal import Answer, confirm, count, emit, say, table
from eventlog.store import Store

_PATH = click.argument("path", type=click.Path(path_type=Path))


@options.group("eventlog backup create ~/backups", "eventlog backup restore eventlog.tar")
@options.store_of_verbs
def _backup_command(store: str | None) -> None:
    """Copy the store into one file, and make a store of such a file."""
    del store


@options.verb(
    "eventlog backup create ~/backups",
    "eventlog backup create eventlog.tar --json",
    of=_backup_command,
    brief="Copy the store into one tar.",
)
@_PATH
def _create(path: Path, store: Store) -> Answer:
    """Copy the log, the settings and what waits into one tar with digests, while agents go on writing.

    PATH is a new file, or a directory. Every event that was saved before is in it. Knowledge files and the cache are
    not: a replay makes them again. The file has all that the log says: keep it like the log.

    Where a file of the store cannot be read, all others are saved. It is named, and the exit code is 4.
    """
    with phase():
        file, manifest = create_backup(options.open_store(store), path)
    size = sum(file.bytes for file in manifest.files.values())

    def show() -> None:
        say(f"{file}: {count(len(manifest.files), 'file')}, {size:,} bytes")
        _show_missing(manifest.missing)
        say(f"restore: eventlog backup restore {quote(str(file))} --store DIR", whole=True)

    value = {"path": str(file), "files": len(manifest.files), "bytes": size, "missing": manifest.missing}
    status, code = ("incomplete", EXIT_DAMAGED) if manifest.missing else ("ok", 0)
    return Answer({"status": status, **value}, show, code)


def _show_missing(missing: Mapping[str, str]) -> None:
    for name, why in missing.items():
        say(f"not in it: {name}, which could not be read: {why}")


@options.verb(
    "eventlog backup restore eventlog.tar",
    "eventlog backup restore eventlog.tar --store ~/old",
    of=_backup_command,
    brief="Make a store of such a tar.",
)
@_PATH
def _restore(path: Path, store: Store) -> Answer:
    """Make a store of a backup: compare all digests, give it a name of its own, read every line, and rebuild.

    Refuses a store that has events. Exits with 4 if the log that was copied has damage, or files of it are missing.
    """
    with phase():
        done = restore_backup(options.open_store(store), path)
    damage = len(done.verified.damage)
    restored = {"events": done.verified.events, "replica": done.replica, "damaged": damage, "kept": done.existing}
    restored |= {"missing": done.manifest.missing}

    def show() -> None:
        backup = f"the backup of {done.manifest.created[:10]}"
        say(f"{count(done.verified.events, 'event')} of {backup} restored in {store.root}")
        say(f"this store is {done.replica}; it was {done.manifest.replica or 'without a name'}")
        for name in done.existing:
            say(f"{name} was there already, and stays")
        _show_missing(done.manifest.missing)
        if damage:
            say(f"{count(damage, 'damaged line')}: eventlog verify")

    return Answer({"status": "ok", **restored}, show, EXIT_DAMAGED if damage or done.manifest.missing else 0)


@options.verb("eventlog prune", "eventlog prune --yes")
def _prune_command(yes: bool, as_json: bool, store: Store) -> None:
    """Free the disk of what the next replay or search makes again: databases and indexes in the cache.

    Shows what, and how much, and asks. Never touches the log, your settings, knowledge files, or what is drawn from
    transcripts, which may be gone.
    """
    found = prune(store, dry_run=True)
    total = sum(found.values())
    if not as_json:
        table([(f"{size:,}", path) for path, size in found.items()], bytes=0, file=0)
        say(f"{count(len(found), 'file')}, {total:,} bytes, made again when needed; the log stays as it is")
    if not (found and confirm("Delete these files?", yes=yes)):
        return
    prune(store)
    if as_json:
        emit({"status": "ok", "files": found, "bytes": total}, pretty=True)
    else:
        say(f"{total:,} bytes are free again")
