"""Mistakes on a command line in plain words: what was typed, what is near, and how the verb is called."""

import re

import click

from eventlog.cli.output import complain

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


def tell(error: click.ClickException) -> None:
    """Print what is wrong; of a group without a verb, its help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        complain(*in_plain_words(error))


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
