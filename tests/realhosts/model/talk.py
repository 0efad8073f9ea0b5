"""A conversation as a model is given it, the same for every dialect."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

Role = Literal["system", "user", "assistant", "tool"]
JSON = dict[str, Any]


class Message(NamedTuple):
    """One thing said; `tool` is what a tool answered."""

    role: Role
    text: str


class Talk(NamedTuple):
    """All messages of a request, oldest first, and the tools the model may call."""

    messages: tuple[Message, ...]
    tools: tuple[str, ...]

    @property
    def text(self) -> str:
        """Everything the model is given, as one text."""
        return "\n".join(message.text for message in self.messages)

    @property
    def prompt(self) -> str:
        """The newest words of the user, or "" where there are none."""
        at = self._last_prompt()
        return "" if at is None else self.messages[at].text

    @property
    def news(self) -> str:
        """The newest prompt, what stands beside it, and what the host says before all else."""
        at = self._last_prompt() or 0
        spoken = [number for number, message in enumerate(self.messages) if message.role in ("assistant", "tool")]
        begin = max((number + 1 for number in spoken if number < at), default=0)
        end = min((number for number in spoken if number > at), default=len(self.messages))
        ahead = next((number for number, message in enumerate(self.messages) if message.role != "system"), 0)
        return "\n".join(message.text for message in (*self.messages[:ahead], *self.messages[begin:end]))

    @property
    def steps(self) -> int:
        """How many tools have answered since the newest prompt."""
        at = self._last_prompt()
        later = self.messages if at is None else self.messages[at:]
        return sum(message.role == "tool" for message in later)

    def _last_prompt(self) -> int | None:
        places = (at for at, message in reversed(list(enumerate(self.messages))) if message.role == "user")
        return next(places, None)


def text_of(content: Any) -> str:
    """The words in a text, a block, or a list of blocks; other kinds of blocks have none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content"))
    return ""


def names(tools: Iterable[JSON]) -> tuple[str, ...]:
    """The names of tools, also of those inside a namespace of tools."""
    found: list[str] = []
    for tool in tools:
        found.append(str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type")))
        found.extend(names(tool.get("tools") or ()))
    return tuple(found)
