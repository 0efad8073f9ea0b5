"""The events that prompts are in the log: those of hosts that let a hook answer one, as their rooms name them."""

from functools import lru_cache

from eventlog import hosts


def is_prompt(agent: str | None, name: object) -> bool:
    """Tell whether a host event of that agent and name is a prompt with which its hook may tell something."""
    return bool(agent and name) and prompt_of(agent) == name


@lru_cache(maxsize=64)
def prompt_of(agent: str | None) -> str:
    """Name the event a prompt is at that host; "" where its hooks may answer none."""
    return str(getattr(hosts.part(agent, "protocol"), "PROMPT", "")) if agent else ""
