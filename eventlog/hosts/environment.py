"""Which conversations the environment of a shell command names: hosts tell their agents' commands where they run.

Not for hooks, which are told by their payload: hosts inherit each other's environment.
"""

from collections.abc import Mapping

from eventlog import hosts


def named_conversations(environ: Mapping[str, str]) -> dict[str, str]:
    """Map agents to the conversation ids their variables give; several where one host was started by another."""
    named = {agent: environ.get(hosts.session_variable(agent), "").strip() for agent in hosts.ROOMS}
    return {agent: conversation_id for agent, conversation_id in named.items() if conversation_id}
