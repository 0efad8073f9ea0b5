"""GitHub Copilot CLI, with a provider of the user's own."""

from pathlib import Path
from typing import ClassVar

from tests.realhosts.hosts.host import KEY, Host


class Copilot(Host):
    """`copilot -p`; its conversations take an id of ours."""

    name, agent, title = "copilot", "copilot", "Copilot CLI"
    removes = "copilot plugin uninstall eventlog && copilot plugin marketplace remove eventlog"
    helper = (
        "task",
        "prompt",
        {"agent_type": "general-purpose", "description": "Look", "name": "looker", "mode": "sync"},
    )
    in_background: ClassVar = {"mode": "background"}

    def program(self, modules: Path):
        return next(modules.glob("@github/copilot-linux-*/copilot"))

    def files(self, project, address):
        return {}

    def environment(self, address):
        provider = {"BASE_URL": f"{address}/v1", "API_KEY": KEY}
        own = {f"COPILOT_PROVIDER_{name}": value for name, value in provider.items()}
        return {**own, "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}

    def turn(self, prompt, session, *, resume, free):
        mode = ["--allow-all"] if free else []
        return ["-p", prompt, "--resume" if resume else "--session-id", session, *mode]

    def terminal(self):
        return ["--allow-all", "--no-auto-update"]
