"""The click group: verbs by topic, each imported only when it is called."""

import os
import re
import sys

import click

from eventlog.app.progress import watch_with
from eventlog.cli import progress
from eventlog.cli.verbs import VERBS, load

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

    def __init__(self) -> None:
        names = {"help_option_names": ["-h", "--help"]}  # of every verb: contexts inherit them
        super().__init__(
            name="eventlog",
            help=_HELP,
            params=[_store_option()],
            context_settings=names,
            invoke_without_command=True,
            callback=_print_brief,
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List every verb, in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of a verb, None where there is no such verb."""
        del ctx
        return load(cmd_name) if cmd_name in VERBS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; raises UsageError with what may be meant."""
        name = args[0]
        if name in VERBS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from eventlog.app.naming.names import nearest

        near = _ALSO_CALLED.get(name.casefold()) or nearest(name, VERBS)
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
        for topic in dict.fromkeys(verb.topic for verb in VERBS.values()):
            with formatter.section(topic):
                formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items() if verb.topic == topic])


def leave_quietly() -> int:
    """Leave when the reader went away (`eventlog query | head`): no error, and no traceback at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def command_line() -> VerbGroup:
    """Make the command line, one click command."""
    command: VerbGroup = click.version_option(package_name="agent-eventlog", prog_name="eventlog")(VerbGroup())
    return command


@click.pass_context
def _print_brief(ctx: click.Context, store: str | None) -> int:
    """Print the brief where there is no verb."""
    if ctx.invoked_subcommand is not None:
        return 0
    from eventlog.cli.options import located
    from eventlog.cli.verbs.ask import brief

    return brief.show(located(store))


def _store_option() -> click.Option:
    return click.Option(
        ["--store"], metavar="DIR", help="Directory of the store [default: $EVENTLOG_HOME, else ~/.eventlog]."
    )


_SAID = (  # of click, and what we say; the first that fits
    (re.compile(r"'(.*)' is not a valid integer(?: range)?\."), r"'\1' is no whole number"),
    (re.compile(r"'(.*)' is not a valid float(?: range)?\."), r"'\1' is no number"),
    (re.compile(r"(.*) is not in the range (\S+)<=x<=(\S+)\."), r"\1 is not between \2 and \3"),
    (re.compile(r"(.*) is not in the range x>=(\S+)\."), r"\1 is less than \2"),
    (re.compile(r"Path '(.*)' does not exist\."), r"there is no such place: \1"),
    (re.compile(r"\S+ '(.*)' is a (file|directory)\."), r"\1 is a \2"),
    (re.compile(r"Got unexpected extra arguments? \((.*)\)"), r"more than is asked for: \1"),
    (re.compile(r"Option '(.*)' does not take a value\."), r"\1 takes no value"),
    (re.compile(r"Option '(.*)' requires an argument\."), r"\1 needs a value"),
    (re.compile(r"Missing command\."), "say what to do"),
)


def print_usage_error(error: click.ClickException) -> None:
    """Print what is wrong; of a group without a verb, its help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        from eventlog.cli.terminal import print_error

        print_error(*in_plain_words(error))


def in_plain_words(error: click.ClickException) -> tuple[str, str]:
    """Tell what is wrong, and what to do about it."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.MissingParameter):
        return f"{_named(error)} is missing", _usage(context)
    if isinstance(error, click.NoSuchOption):
        near = f"did you mean {' or '.join(error.possibilities)}?" if error.possibilities else _usage(context)
        return f"no option {error.option_name}", near
    if isinstance(error, click.NoSuchCommand):
        near = f"did you mean {' or '.join(error.possibilities)}?" if error.possibilities else _usage(context)
        return f"no verb {error.command_name!r}", near
    if isinstance(error, click.BadParameter):
        return f"{_named(error)}: {_ours(error.message)}", ""
    return _ours(error.message), _usage(context) if error.message.endswith((")", ".")) else ""


def _ours(message: str) -> str:
    for pattern, words in _SAID:
        if found := pattern.fullmatch(message):
            return found.expand(words)
    return message


def _named(error: click.BadParameter) -> str:
    """Name an option by its long spelling, an argument as the help does."""
    if error.param is None:
        return str(error.param_hint or "the command line")
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    assert error.ctx
    return error.param.make_metavar(error.ctx).strip("[].")


def _usage(context: click.Context | None) -> str:
    """Show how the verb is called."""
    if context is None:
        return ""
    pieces = " ".join(context.command.collect_usage_pieces(context))
    return f"{context.command_path} {pieces}\n{context.command_path} --help explains it"
