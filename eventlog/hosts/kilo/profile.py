"""Kilo's files; it runs the plugin of OpenCode; documentation: kilo.ai/docs/automate/extending/plugins; run: 7.7.9."""

from eventlog.hosts.opencode.profile import PROFILE as OPENCODE
from eventlog.hosts.profile import HostProfile

PROFILE: HostProfile = OPENCODE._replace(
    agent="kilo",
    name="Kilo",
    home=".config/kilo",
    home_variable="",
    hooks=OPENCODE.hooks._replace(user_file="plugin/eventlog.js", project_file=".kilo/plugin/eventlog.js"),
    traces=(".config/kilo",),
    programs=("kilo", "kilocode"),
    runs=("kilo",),
    marks=(),
)
