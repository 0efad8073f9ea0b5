"""What has happened in a home before somebody repeats what a page shows."""

from collections.abc import Callable

from tests.docs.reader import Reader
from tests.support.pasts import conversation
from tests.support.tree import ROOT

_DEMO = f"eventlog append --stdin < {ROOT}/fixtures/demo/events.jsonl; eventlog replay"


def a_week_of_agents(reader: Reader) -> None:
    reader.run(_DEMO)


def codex_is_there(reader: Reader) -> None:
    reader.run("mkdir ~/.codex")


def a_repository_of_git(reader: Reader) -> None:
    reader.run("rm -r .git; git init --quiet")


def a_past(reader: Reader) -> None:
    conversation(reader.home, "5f0c", "2026-02-20T10:00:00.000000Z")
    conversation(reader.home, "7a1e", "2026-02-21T10:00:00.000000Z")


def an_earlier_session(reader: Reader) -> None:
    reader.run(r"printf '# The shop\n\nPrices are integers, in cents.\n' > AGENTS.md")
    reader.run('eventlog fact "Round half even, once per line item" --category decision --session s1')
    reader.run('eventlog summary --topic Cart --summary "Rewrote the cart on integers" --session s1')


def work_in_progress(reader: Reader) -> None:
    reader.run("mkdir ~/.claude ~/.codex; eventlog install claude codex")
    start = '{"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup", "cwd": "%s"}'
    reader.run(f"printf '{start}' \"$PWD\" | eventlog hook --agent claude")
    reader.run('eventlog fact "Round half even, once per line item" --category decision --session s1')
    todos = '--todo "Write the migration guide" --todo "Tell ops"'
    reader.run(f'eventlog summary --topic "Cart totals" --summary "Rewrote the cart" {todos} --session s1')
    reader.run('eventlog plan --path soul --heading Tone --content "Short sentences." --session s1; eventlog apply')


def two_agents_who_are_wrong(reader: Reader) -> None:
    fact = "eventlog append fact category=decision --project ."
    reader.run(f'{fact} agent=claude-code content="Prices are floats in euros" --session s1')
    reader.run(f'{fact} agent=codex content="prices are floats in euros." --session s2')
    reader.run("eventlog replay")


def a_forgotten_statement(reader: Reader) -> None:
    two_agents_who_are_wrong(reader)
    reader.run("eventlog forget floats --yes")


# page, heading -> what happens before a block of it, counted from 0
STORIES: dict[tuple[str, str], dict[int, Callable[[Reader], None]]] = {
    ("README.md", ""): {1: a_week_of_agents},
    ("README.md", "Install"): {1: codex_is_there, 2: a_past},
    ("README.md", "The next day"): {0: work_in_progress},
    ("README.md", "What makes it different"): {0: two_agents_who_are_wrong},
    ("docs/agents.md", "What a session receives"): {0: an_earlier_session},
    ("docs/agents.md", "Session hooks"): {},
    ("docs/cluster.md", ""): {},
    ("docs/cluster.md", "From Python"): {},
    ("docs/knowledge-files.md", "The same statement twice"): {},
    ("docs/knowledge-files.md", "Plan entries"): {},
    ("docs/knowledge-files.md", "Forgetting and undoing"): {0: a_forgotten_statement},
    ("docs/python.md", ""): {},
    ("docs/store.md", "The log"): {},
    ("docs/team.md", ""): {0: a_repository_of_git},
}
