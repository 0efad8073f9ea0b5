"""Share what every command has: the refusal of an option given twice, and the words for the store."""

import click

STORE_HELP = "Directory of the store [default: $EVENTLOG_HOME, else ~/.eventlog]."


class GivenOnce(click.Command):
    """A command that refuses an option given twice where one value alone would count."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; raises UsageError."""
        _, _, given = self.make_parser(ctx).parse_args(args=[*args])
        for param in given if not ctx.resilient_parsing else ():
            if isinstance(param, click.Option) and not (param.multiple or param.is_flag) and given.count(param) > 1:
                raise click.UsageError(f"{max(param.opts, key=len)} is given twice; give it once", ctx)
        return super().parse_args(ctx, args)
