"""Qwen Code, which asks its model to keep memories beside the conversation unless told not to."""

from typing import ClassVar

from tests.realhosts.hosts.host import KEY, Host

_SETTINGS = """\
{
  "security": { "auth": { "selectedType": "openai" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false },
  "telemetry": { "enabled": false },
  "memory": { "enableManagedAutoMemory": false },
  "$version": 4
}
"""


class Qwen(Host):
    """`qwen -p`, with a model of the user's own; its conversations take an id of ours."""

    name, agent, title = "qwen", "qwen-code", "Qwen Code"
    quit, compact = "/quit", "/compress"
    removes = "qwen extensions uninstall eventlog"
    tells_of_ends, tells_helpers = False, False
    helper = "agent", "prompt", {"subagent_type": "general-purpose", "description": "Look", "run_in_background": False}
    in_background: ClassVar = {"run_in_background": True}

    def program(self, modules):
        return modules / ".bin" / "qwen"

    def files(self, project, address):
        return {".qwen/settings.json": _SETTINGS}

    def environment(self, address):
        return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_MODEL": "fake"}

    def consenting(self, install):
        return f"{install} --consent"

    def turn(self, prompt, session, *, resume, free):
        mode = ["--approval-mode", "yolo"] if free else []
        return ["-p", prompt, "--resume" if resume else "--session-id", session, *mode]

    def fork(self, resume):
        return [*resume, "--fork-session"]

    def terminal(self):
        return ["--approval-mode", "yolo"]
