"""`eventlog help`."""

from importlib.resources import files

import click

from eventlog.app.naming.nearest import did_you_mean
from eventlog.cli import options
from eventlog.cli.output import say

_PAGES = files("eventlog.cli") / "topics"


@click.command(epilog=options.examples("eventlog help", "eventlog help query", "eventlog help time"))
@click.argument("topic", metavar="[VERB|TOPIC]", required=False)
def command(topic: str | None) -> None:
    """Explain a verb, or one of the topics: format, guarantees, hosts, names, time."""
    root = click.get_current_context().find_root()
    verbs = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
    if topic is None:
        click.echo(root.command.get_help(root))
    elif topic in verbs:
        click.echo(_help_of(topic, root))
    elif topic in _topics():
        for line in [*(_PAGES / f"{topic}.txt").read_text(encoding="utf-8").splitlines(), *_table(topic)]:
            say(line)
    else:
        raise click.UsageError(f"no verb or topic {topic!r}; {did_you_mean(topic, [*_topics(), *verbs])}")


def _topics() -> list[str]:
    return sorted(page.name.removesuffix(".txt") for page in _PAGES.iterdir() if page.name.endswith(".txt"))


def _table(topic: str) -> list[str]:
    if topic != "hosts":
        return []
    from eventlog.hosts.profile import profiles

    return [f"  {host.agent:<9}{host.name:<20}~/{host.home}/{host.hooks.user_file}" for host in profiles().values()]


def _help_of(verb: str, root: click.Context) -> str:
    assert isinstance(root.command, click.Group)
    found = root.command.get_command(root, verb)
    assert found
    return found.get_help(click.Context(found, info_name=verb, parent=root))
