"""OpenCode."""

import re
from pathlib import Path

from tests.realhosts.hosts.host import KEY, Host, as_json


class OpenCode(Host):
    """`opencode run`, with a provider of the user's own; the id of a conversation is in its events.

    For plugins it fetches a package, and without a network waits for that for more than a minute, unless told not to.
    """

    name, agent, title = "opencode", "opencode", "OpenCode"
    helper = "task", "prompt", {"subagent_type": "general", "description": "Look"}

    def program(self, modules: Path):
        # the package of the platform: the main one brings it by a script at installation
        return next(modules.glob("opencode-linux-*/bin/opencode"))

    def files(self, project, address):
        options = {"baseURL": f"{address}/v1", "apiKey": KEY}
        fake = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake": {"name": "Fake"}}}
        config = {"model": "fake/fake", "small_model": "fake/fake", "provider": {"fake": fake}, "share": "disabled"}
        return {".config/opencode/opencode.json": as_json(config), ".npmrc": "fetch-retries=0\n"}

    def environment(self, address):
        return dict.fromkeys(("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"), "1")

    def turn(self, prompt, session, *, resume, free):
        mode = ["--auto"] if free else []
        return ["run", "--format", "json", *mode, *(["--session", session] if resume else []), prompt]

    def fork(self, resume):
        return [*resume, "--fork"]

    def terminal(self):
        return []

    def session(self, ended, wanted):
        found = re.search(r'"sessionID":"([^"]+)"', ended.out)
        return found[1] if found else wanted
