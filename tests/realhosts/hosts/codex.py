"""Codex CLI."""

import re
from pathlib import Path

from tests.realhosts.hosts.host import KEY, Host

_CONFIG = """\
model = "gpt-5.2-codex"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

# the model of these tests
[model_providers.fake]
name = "Fake"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
stream_max_retries = 0
request_max_retries = 0

[projects."{project}"]
trust_level = "trusted"
"""


class Codex(Host):
    """`codex exec`; the id of a conversation is printed. Hooks run although nobody reviewed them."""

    name, agent, title = "codex", "codex", "Codex CLI"
    quit = "/quit"
    removes = "codex plugin remove eventlog@eventlog && codex plugin marketplace remove eventlog"
    helper = "spawn_agent", "message", {}

    def program(self, modules: Path):
        return next(modules.glob("@openai/codex-*/vendor/*/bin/codex"))

    def files(self, project, address):
        return {".codex/config.toml": _CONFIG.format(project=project, address=address)}

    def environment(self, address):
        return {"FAKE_KEY": KEY}

    def turn(self, prompt, session, *, resume, free):
        mode = ["-s", "danger-full-access"] if free else []
        return ["exec", "--dangerously-bypass-hook-trust", *mode, *(["resume", session] if resume else []), prompt]

    def fork(self, resume):
        return ["fork" if argument == "resume" else argument for argument in resume]

    def terminal(self):
        return ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]

    def session(self, ended, wanted):
        found = re.search(r"session id: ([0-9a-f-]+)", ended.out + ended.err)
        return found[1] if found else wanted
