"""The same memory on all machines: `eventlog sync`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from shlex import quote

import click

from eventlog.app.sync.leaving import LeavingCounts, exclude_projects, preview
from eventlog.app.sync.membership import drop_machine, join_sync, leave_sync, start_sync
from eventlog.app.sync.sync_status import MachineStatus, sync_status
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import Answer, confirm, count, emit, fit, prints_nowhere, say
from eventlog.cli.verbs.setup.sync_report import blocked_lines, exchanged
from eventlog.format.errors import NotStored, Offline, UntrustedRemote
from eventlog.format.text import one_line
from eventlog.store import Store

_ROOM = 76
_REMOTE = click.argument("remote", metavar="REMOTE")


@options.group(
    "eventlog sync start git@example.org:me/memory.git",
    "eventlog sync join git@example.org:me/memory.git CODE",
    "eventlog sync --dry-run",
    "eventlog sync status",
    invoke_without_command=True,
)
@click.option("--dry-run", is_flag=True, help="Show what would leave this machine, and change nothing.")
@click.option("--compact", is_flag=True, help="Unite the segments of each day; frees room in the remote.")
@options.shared("as_json")
@options.store_of_verbs
@click.pass_context
def _sync_command(ctx: click.Context, dry_run: bool, compact: bool, as_json: bool, store: str | None) -> int:
    """Exchange with your other machines: send what is new here, take in what is new there, and rebuild.

    A remote is a git repository, a directory (dir:PATH) that a sync program or a stick carries, or a stream of NATS
    (nats://HOST/STREAM). What leaves is encrypted for your machines only. `sync start` begins, `sync join` adds a
    machine. Calls of hosts, texts of conversations and receipts stay here. With `sync: {auto: true}` in config.yaml it
    runs after each session. Exits with 0 also offline, with 1 if the remote is refused, or lines stay because they look
    like secrets.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    opened = options.open_store(options.located(store, ctx))
    if dry_run:
        return _previewed(preview(opened), Display(opened.store)).print(as_json=as_json)
    return exchanged(opened, compact=compact).print(as_json=as_json)


@options.verb(
    "eventlog sync start git@example.org:me/memory.git",
    "eventlog sync start dir:~/Dropbox/memory --dry-run",
    "eventlog sync start nats://relay.example.org/MEMORY",
    of=_sync_command,
    brief="Begin: make an empty place the remote of this store.",
)
@_REMOTE
@click.option("--dry-run", is_flag=True, help="Show what would leave this machine, and change nothing.")
def _start(remote: str, dry_run: bool, as_json: bool, store: Store) -> int:
    """Make an empty git repository, directory or stream the remote of this store, and send what may leave.

    A stream is nats://HOST[:PORT][,HOST…]/STREAM[?monitor=PORT], of servers that sync always; it is created where it is
    missing. NATS_CREDS, NATS_NKEY, or NATS_USER and NATS_PASSWORD say how to log in. It needs the extra [nats].

    A remote of this store that was emptied, rolled back, or lost its marker is taken as it is: the key stays, and
    everything is sent again.

    Prints the line for the other machine. Its code is the key of your memory: who has it, and the remote, can read
    everything. It is shown once; with it an empty machine gets everything back, also when this one is lost.
    """
    opened = options.open_store(store)
    if dry_run:
        return _previewed(preview(opened), Display(opened.store)).print(as_json=as_json)
    with _within_reach():
        started = start_sync(opened, remote)
    if as_json:
        emit({"status": "ok", "remote": started.remote, "code": started.code}, pretty=True)
    else:
        say(f"on the other machine: eventlog sync join {quote(started.remote)} {started.code}", whole=True)
        say(f"recovery code: {started.code}")
        say("Write it down: it is shown once, and it alone opens the remote when all your machines are lost.")
    if prints_nowhere():  # before anything is sent: until then the same command prints the same code
        hint = "type the same command again, with its output to a terminal or a file"
        raise NotStored("the code was not shown: nothing reads the output, and nothing was sent", hint=hint)
    done = exchanged(opened)
    return done.code if as_json else done.print(as_json=False)


@options.verb(
    "eventlog sync join git@example.org:me/memory.git CODE",
    "eventlog sync join git@example.org:me/memory.git  # asks for the code",
    of=_sync_command,
    brief="Add this machine, or restore an empty one.",
)
@_REMOTE
@click.argument("code", metavar="[CODE]", required=False)
def _join(remote: str, code: str | None, store: Store) -> Answer:
    """Add this machine to a memory by the code that `eventlog sync start` printed; what is here is sent as well.

    A wrong code is refused before anything is written. On an empty machine everything comes back. Without CODE it is
    asked for, or read from a pipe: neither the shell's history nor other users of this machine (`ps`) see it then.
    """

    def asked() -> str:
        return str(click.prompt("Code", err=True)) if sys.stdin.isatty() else sys.stdin.readline()

    opened = options.open_store(store)
    with _within_reach():
        join_sync(opened, remote, code or asked)
    return exchanged(opened)


@contextmanager
def _within_reach() -> Iterator[None]:
    """Refuse a remote that is out of reach when the store begins with it; raises UntrustedRemote."""
    try:
        yield
    except Offline as error:
        hint = "nothing was written; try again when it can be reached"
        raise UntrustedRemote(error.what, where=error.where, hint=hint) from error


@options.verb(
    "eventlog sync status",
    "eventlog sync status --json",
    of=_sync_command,
    brief="Show the machines, what waits, and the key.",
)
def _status(store: Store) -> Answer:
    """Show your machines as the last exchange saw them, what waits to leave, and the name of the key.

    Machines that show the same key share one memory. Exits with 1 if lines stay because they look like secrets.
    """
    from eventlog.cli.show.display import Display  # an exchange shows no time

    opened = options.open_store(store)
    found = sync_status(opened)

    def show() -> None:
        if found is None:
            say("this store does not sync: eventlog sync start REMOTE")
            return
        ago = Display(store, opened.machine.now()).ago
        say(f"remote   {one_line(found.remote)}")
        say(f"key      {found.key}")
        say(f"here     {found.machine}, last exchange {ago(found.exchanged) if found.exchanged else 'never'}")
        say(f"waiting  {count(found.waiting, 'event')} and {count(found.marks, 'mark')}")
        for machine in found.machines:
            say(f"machine  {_machine_line(machine, ago(machine.last_seen))}")
        for name in found.damaged:
            say(f"damaged  {one_line(name)}: left out until its machine writes it again")
        if found.exclude:
            say(f"home     {', '.join(map(one_line, found.exclude))}")
        if found.blocked:
            say(f"blocked  {count(found.blocked, 'line')} that look like secrets: eventlog scan")

    return Answer(found or {"remote": None}, show, EXIT_FOUND if found and found.blocked else 0)


@options.verb(
    "eventlog sync projects --exclude client-x",
    "eventlog sync projects",
    of=_sync_command,
    brief="Choose projects of which nothing leaves.",
)
@click.option("--exclude", "excluded", multiple=True, metavar="NAME|DIR", help="Keep this project at home; repeatable.")
@click.pass_context
def _projects(ctx: click.Context, excluded: tuple[str, ...], store: Store) -> int:
    """List the projects that stay at home, or add to them, in config.yaml: nothing of them leaves, not even a count.

    What has left already is removed from the remote at the next sync; machines that have it keep it.
    """
    paths = [options.project_meant(ctx, click.Option(["--exclude"]), project) or project for project in excluded]
    for path in exclude_projects(options.open_store(store), paths) or ["no project is excluded"]:
        say(one_line(path))
    return 0


@options.verb(
    "eventlog sync drop laptop", of=_sync_command, brief="Drop a machine: it reads nothing that is written from now on."
)
@click.argument("machine", metavar="MACHINE")
def _drop(machine: str, yes: bool, as_json: bool, store: Store) -> int:
    """Drop a machine that is lost or sold: make a new key, and hand it to all other machines.

    The others go on by themselves. The old code joins no more; a new one is printed, once. What the machine has taken
    it still has, and it may read what lies in the remote from before: take away its access there, too.
    """

    def asked(replica: str) -> bool:
        return confirm(f"Drop {one_line(replica)}?", yes=yes)

    done = drop_machine(options.open_store(store), machine, asked)
    if done is None:
        return 0
    if as_json:
        emit({"status": "ok", "machine": done.machine, "code": done.code, "others": done.others}, pretty=True)
        return 0
    say(f"recovery code, from now on: {done.code}")  # first: who reads one line reads this
    say(f"{one_line(done.machine)} is dropped: it reads nothing that is written from now on")
    say("what it has taken, it still has; if it may still log in to the remote, take that away, too")
    return 0


@options.verb("eventlog sync leave", of=_sync_command, brief="Stop syncing here; no event is deleted anywhere.")
def _leave(yes: bool, store: Store) -> int:
    """Stop syncing this store: publish a last time, then remove its key. No event is deleted, here or there."""
    question = "Leave, and remove the key from this machine?"
    is_published = leave_sync(options.open_store(store), lambda: confirm(question, yes=yes))
    if is_published is None:
        return 0
    say("left; every event stays here, and to join again takes the code")
    if not is_published:
        say("the remote was not reached: the other machines do not know yet")
    return 0


# ------------------------------------------------------------------------------------------------ what is printed


def _previewed(counts: LeavingCounts, display: Display) -> Answer:
    """Make the answer that previews what would leave."""
    rows = [{"type": kind, "project": project, "events": n} for (kind, project), n in sorted(counts.events.items())]
    blocked = {event: list(kinds) for event, kinds in counts.blocked.items()}
    value = {"status": "dry-run", "events": rows, "marks": counts.marks, "home": counts.home, "blocked": blocked}
    return Answer(value, lambda: _print_preview(counts, display), EXIT_FOUND if counts.blocked else 0)


def _print_preview(counts: LeavingCounts, display: Display) -> None:
    say(f"{count(counts.total, 'event')} would leave, and {count(counts.marks, 'mark')} of events that stay here")
    for (kind, project), number in sorted(counts.events.items(), key=lambda pair: (pair[0][1], pair[0][0])):
        say(f"{number:>7,}  {kind}  {one_line(project) or '-'}")
    from eventlog.cli.show.events import describe, kind_of  # of all verbs of a sync, only previews show events

    if counts.newest:
        say("the newest:")
    for event in counts.newest:
        say(fit(f"  {display.when(event.ts)}  {kind_of(event)}  {one_line(describe(event))}", _ROOM))
    if counts.blocked:
        for line in blocked_lines(counts, len(counts.blocked)):
            say(line)


def _machine_line(machine: MachineStatus, last_seen: str) -> str:
    parts = [f"{machine.name}, last seen {last_seen}"]
    if machine.lacks:
        parts.append(f"lacks {count(machine.lacks, 'segment')} of this one")
    if machine.missing:
        parts.append(f"{count(machine.missing, 'segment')} of it not here")
    if machine.unconfirmed:
        parts.append(f"has not confirmed {count(machine.unconfirmed, 'redaction')}")
    if machine.dropped or machine.left:
        parts.append("dropped" if machine.dropped else "has left")
    return " · ".join(parts)
