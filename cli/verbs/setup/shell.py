"""Complete words in a shell and explain verbs: `eventlog completion`, `eventlog help`."""

from importlib.resources import files

import click
from click.shell_completion import get_completion_class

from eventlog.app.naming.names import did_you_mean
from eventlog.app.open_store import Machine
from eventlog.app.setup.user_setup import install_completion
from eventlog.cli import options
from eventlog.cli.suggestions import NearChoice
from eventlog.cli.terminal import say, show_page
from eventlog.cli.verbs import VERBS

_SHELLS = ("bash", "zsh", "fish")


@options.verb(
    "eventlog completion bash --install", 'eval "$(eventlog completion zsh)"', "eventlog completion fish | source"
)
@click.argument("shell", type=NearChoice(_SHELLS))
@click.option("--install", is_flag=True, help="Install it where the shell finds it; edits none of your files.")
def _completion_command(shell: str, install: bool) -> None:
    """Print the completion script of a shell, or install it."""
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
    script = found(root, {}, "eventlog", "_EVENTLOG_COMPLETE")
    return script.source_template % script.source_vars()


_PAGES = files("eventlog") / "docs"


@options.verb("eventlog help", "eventlog help query", "eventlog help sync start", "eventlog help time")
@click.argument("words", metavar="[VERB|TOPIC]", nargs=-1)
def _help_command(words: tuple[str, ...]) -> None:
    """Explain a verb, or show a page of the documentation; without either, list all of them."""
    root, name = click.get_current_context().find_root(), " ".join(words)
    is_verb, is_topic = not words or words[0] in VERBS, name in _topics()
    if not (is_verb or is_topic):
        raise click.UsageError(f"no verb or topic {name!r}; {did_you_mean(name, [*_topics(), *VERBS])}")
    if is_verb:
        root.command.main([*words, "--help"], "eventlog", standalone_mode=False)
    if is_topic:
        show_page((_PAGES / f"{name}.md").read_text(encoding="utf-8"))
    if not words:
        say("")
        say(f"Topics: {', '.join(_topics())}")


def _topics() -> list[str]:
    names = (page.name.removesuffix(".md") for page in _PAGES.iterdir() if page.name.endswith(".md"))
    return sorted(name for name in names if name != "index")
