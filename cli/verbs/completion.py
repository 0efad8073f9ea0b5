"""`eventlog completion`."""

import click
from click.shell_completion import get_completion_class

from eventlog.app.machine import Machine
from eventlog.app.setup.completion import install_completion
from eventlog.cli import options
from eventlog.cli.choices import NearChoice
from eventlog.cli.output import say

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog=options.examples(
        "eventlog completion bash --install", 'eval "$(eventlog completion zsh)"', "eventlog completion fish | source"
    )
)
@click.argument("shell", type=NearChoice(_SHELLS))
@click.option("--install", is_flag=True, help="Put it where the shell finds it by itself; no file of yours is edited.")
def command(shell: str, install: bool) -> None:
    """Print the completion of a shell, or install it: verbs, options, and the projects and ids of your log."""
    script = _script(shell)
    if not install:
        click.echo(script)
        return
    place = install_completion(shell, script, Machine.here())
    say(f"installed  {place.path}")
    if place.remark:
        say(f"           {place.remark}")
    say("           start a new shell to use it")


def _script(shell: str) -> str:
    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    assert found
    made = found(root, {}, "eventlog", "_EVENTLOG_COMPLETE")
    return made.source_template % made.source_vars()
