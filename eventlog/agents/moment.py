"""What every host's payload comes down to."""

Payload = dict[str, object]


class Moment:
    """One call of a hook, in our words.

    `type` and `fields` are those of the event it becomes; `turn` is whatever the host itself tells calls apart by,
    empty where it has nothing: then the payload itself has to do, for a short while.
    """

    def __init__(
        self,
        agent: str,
        name: str,
        payload: Payload,
        *,
        session: str,
        turn: str = "",
        type: str = "host_event",  # noqa: A002 - it is the event's field
        fields: dict[str, object] | None = None,
        subagent: str = "",
    ) -> None:
        self.agent = agent
        self.name = name
        self.payload = payload
        self.session = session
        self.turn = turn
        self.type = type
        self.fields = fields or {}
        self.subagent = subagent

    @property
    def cwd(self) -> str:
        """Where the agent works; "" where the host does not say."""
        roots = self.payload.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots else ""
        return text(self.payload, "cwd") or (first if isinstance(first, str) else "")


def text(payload: Payload, *names: str) -> str:
    """The first of these fields that is a non-empty string, else ""."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def present(**fields: object) -> dict[str, object]:
    """Those fields that say something."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
