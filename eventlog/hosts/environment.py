"""Which conversations the environment of a shell command names: hosts tell their agents' commands where they run.

Not for hooks, which are told by their payload: hosts inherit each other's environment.
"""

from collections.abc import Mapping

from eventlog import hosts


def named_conversations(environ: Mapping[str, str]) -> dict[str, str]:
    """Map agents to the conversation ids their variables give; several where one host was started by another."""
    variables = {agent: getattr(hosts.part(agent, "protocol"), "SESSION_VARIABLE", "") for agent in hosts.ROOMS}
    named = {agent: environ.get(variable, "").strip() for agent, variable in variables.items()}
    return {agent: conversation_id for agent, conversation_id in named.items() if conversation_id}
