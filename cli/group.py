"""The click group: verbs by topic, each imported only when it is called."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from eventlog.app.progress import watch_with
from eventlog.cli import progress

if TYPE_CHECKING:
    from eventlog.cli.main import Verb

_HELP = """The memory of coding agents: an append-only log of events, and every knowledge file rebuilt from it.

`eventlog` alone tells where you stand. Agents' hooks append events; `eventlog replay` rebuilds the files people and
agents read; `eventlog query` and `eventlog why` tell where every line comes from. The store is --store, else
$EVENTLOG_HOME, else ~/.eventlog.
"""

_ALSO_CALLED = {  # elsewhere
    "version": ["--version"],
    "list": ["sessions", "query"],
    "ls": ["sessions", "query"],
    "log": ["query", "sessions"],
    "events": ["query"],
    "grep": ["query --grep"],
    "find": ["search"],
    "blame": ["why"],
    "rebuild": ["replay"],
    "add": ["fact"],
    "note": ["fact"],
    "remember": ["fact"],
    "save": ["fact", "summary"],
    "check": ["verify", "doctor"],
    "setup": ["install"],
    "settings": ["config"],
}


class VerbGroup(click.Group):
    """A group that knows the names and one-line helps of its verbs without importing them."""

    def __init__(self, verbs: "Mapping[str, Verb]", load: Callable[[str], object]) -> None:
        names = {"help_option_names": ["-h", "--help"]}  # of every verb: contexts inherit them
        super().__init__(
            name="eventlog",
            help=_HELP,
            params=[_store_option()],
            context_settings=names,
            invoke_without_command=True,
            callback=_alone,
        )
        self._verbs = verbs
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List every verb, in the order of the table."""
        del ctx
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of a verb, None where there is no such verb."""
        del ctx
        command = self._load(cmd_name) if cmd_name in self._verbs else None
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; raises UsageError with what may be meant."""
        name = args[0]
        if name in self._verbs or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from eventlog.app.naming.nearest import nearest

        near = _ALSO_CALLED.get(name.casefold()) or nearest(name, self._verbs)
        asked = f"did you mean {' or '.join(near)}?" if near else "`eventlog --help` lists the verbs"
        raise click.UsageError(f"no verb {name!r}; {asked}", ctx)

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; click itself would end with 1 when the reader goes away, which is a check's answer."""
        watch_with(progress.phases)
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return leave_quietly()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs under the headings of their topics."""
        del ctx
        for topic in dict.fromkeys(verb.group for verb in self._verbs.values()):
            with formatter.section(topic):
                formatter.write_dl([(name, verb.help) for name, verb in self._verbs.items() if verb.group == topic])


def leave_quietly() -> int:
    """Leave when the reader went away (`eventlog query | head`): no error, and no traceback at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def group(verbs: "Mapping[str, Verb]", load: Callable[[str], object]) -> VerbGroup:
    """Make the command line, one click command."""
    command: VerbGroup = click.version_option(package_name="agent-eventlog", prog_name="eventlog")(
        VerbGroup(verbs, load)
    )
    return command


@click.pass_context
def _alone(ctx: click.Context, store: str | None) -> int:
    """Print the brief where there is no verb."""
    if ctx.invoked_subcommand is not None:
        return 0
    from eventlog.cli.options import located
    from eventlog.cli.show import brief

    return brief.show(located(store))


def _store_option() -> click.Option:
    return click.Option(
        ["--store"], metavar="DIR", help="Directory of the store [default: $EVENTLOG_HOME, else ~/.eventlog]."
    )
