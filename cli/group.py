"""The click command of `eventlog`: verbs by topic, each imported when called; usage errors in plain words."""

import re
import sys

import click

from eventlog.app.progress import default_reporter
from eventlog.cli import drop, progress
from eventlog.cli.command import STORE_HELP, GivenOnce
from eventlog.cli.verbs import VERBS, load

_HELP = """The memory of coding agents: an append-only log of events, and every knowledge file rebuilt from it.

`eventlog` alone shows where the project stands. Agents' hooks append events; `eventlog replay` rebuilds the files that
people and agents read; `eventlog query` and `eventlog why` show where every line comes from. The store is --store,
else $EVENTLOG_HOME, else ~/.eventlog.
"""

_ALSO_CALLED = {  # in other programs
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


class VerbGroup(GivenOnce, click.Group):
    """The group of all verbs; lists their names and summaries without importing them."""

    def __init__(self) -> None:
        names = {"help_option_names": ["-h", "--help"]}  # of every verb: contexts inherit them
        super().__init__(
            name="eventlog",
            help=_HELP,
            params=[click.Option(["--store"], metavar="DIR", help=STORE_HELP)],
            context_settings=names,
            invoke_without_command=True,
            callback=_print_brief,
        )
        click.version_option(package_name="agent-eventlog", prog_name="eventlog")(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List every verb, in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of a verb, None for an unknown verb."""
        del ctx
        return load(cmd_name) if cmd_name in VERBS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; raises UsageError with the nearest names."""
        name = args[0]
        if name in VERBS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from eventlog.app.naming.names import nearest

        near = _ALSO_CALLED.get(name.casefold()) or nearest(name, VERBS)
        hint = f"did you mean {' or '.join(near)}?" if near else "`eventlog --help` lists the verbs"
        raise click.UsageError(f"no verb {name!r}; {hint}", ctx)

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; click's exit code where the reader closes the pipe, 1, would mean a failed check."""
        default_reporter.set(progress.phase)
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            drop(sys.stdout, error)
            return 0

    @staticmethod
    def print_usage_error(error: click.ClickException) -> None:
        """Print a usage error, or the help of a group without a verb."""
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            error.show()
        else:
            from eventlog.cli.terminal import print_error

            print_error(*_reword_error(error))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs under the headings of their topics."""
        del ctx
        for topic in dict.fromkeys(verb.topic for verb in VERBS.values()):
            with formatter.section(topic):
                formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items() if verb.topic == topic])


@click.pass_context
def _print_brief(ctx: click.Context, store: str | None) -> int:
    """Print the brief, unless a verb follows."""
    if ctx.invoked_subcommand is not None:
        return 0
    from eventlog.cli.options import located
    from eventlog.cli.verbs.ask import brief

    return brief.show(located(store, ctx))


_REWORDED = (  # a message of click, and its replacement
    (re.compile(r"Path '(.*)' does not exist\."), r"no such file or directory: \1"),
    (re.compile(r"\S+ '(.*)' is a (file|directory)\."), r"\1 is a \2"),
    (re.compile(r"Got unexpected extra arguments? \((.*)\)"), r"unexpected argument: \1"),
    (re.compile(r"Option '(.*)' does not take a value\."), r"\1 takes no value"),
    (re.compile(r"Option '(.*)' requires an argument\."), r"\1 needs a value"),
    (re.compile(r"Missing command\."), "missing command"),
)


def _reword_error(error: click.ClickException) -> tuple[str, str]:
    """Word a usage error of click, and the remedy."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.MissingParameter):
        kind = "option" if isinstance(error.param, click.Option) else "argument"
        named, choices = _named(error), getattr(error.param and error.param.type, "choices", ())
        which = f", one of {', '.join(choices)}" if choices and named != "|".join(choices) else ""
        return f"missing {kind}: {named}{which}", _usage(context)
    if isinstance(error, click.NoSuchOption | click.NoSuchCommand):
        near = f"did you mean {' or '.join(error.possibilities)}?" if error.possibilities else ""
        if isinstance(error, click.NoSuchOption):
            is_text = " " in error.option_name
            remedy = "put -- before a text that begins with -" if is_text else near or _usage(context)
            return f"no option {error.option_name}", remedy
        known = context.command.list_commands(context) if context and isinstance(context.command, click.Group) else ()
        return f"no verb {error.command_name!r}", near or f"choose one of {', '.join(known)}"
    what, _, remedy = error.message.partition("; ")
    if isinstance(error, click.BadParameter):
        return f"{_named(error)}: {_reword(what)}", remedy
    usage = _usage(context)
    if what.startswith("Got unexpected") and "TEXT" in usage:
        usage = f"put quotes around a text of several words\n{usage}"
    return _reword(what), usage if what.endswith((")", ".")) else remedy


def _reword(message: str) -> str:
    for pattern, words in _REWORDED:
        if found := pattern.fullmatch(message):
            return found.expand(words)
    return message


def _named(error: click.BadParameter) -> str:
    """Return the long spelling of an option, or the metavar of an argument."""
    if error.param is None:
        return str(error.param_hint or "the command line")
    if isinstance(error.param, click.Option):
        return max(error.param.opts, key=len)
    assert error.ctx
    return error.param.make_metavar(error.ctx).strip("[]{}.")


def _usage(context: click.Context | None) -> str:
    if context is None:
        return ""
    pieces = " ".join(context.command.collect_usage_pieces(context))
    return f"{context.command_path} {pieces}\n{context.command_path} --help explains it"
