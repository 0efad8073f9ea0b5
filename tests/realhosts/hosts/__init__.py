"""The hosts this suite runs, by the name `eventlog install` gives them."""

from tests.realhosts.hosts.claude import Claude
from tests.realhosts.hosts.codex import Codex
from tests.realhosts.hosts.copilot import Copilot
from tests.realhosts.hosts.gemini import Gemini
from tests.realhosts.hosts.host import Host
from tests.realhosts.hosts.opencode import OpenCode
from tests.realhosts.hosts.qwen import Qwen

HOSTS: dict[str, Host] = {host.name: host for host in (Claude(), Codex(), Gemini(), Copilot(), Qwen(), OpenCode())}
