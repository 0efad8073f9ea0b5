"""Gemini CLI."""

from tests.realhosts.hosts.host import KEY, Host, as_json

_SETTINGS = """\
{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
  "telemetry": { "enabled": false },
  "ui": { "hideBanner": true, "hideTips": true }
}
"""


class Gemini(Host):
    """`gemini -p`; it resumes the newest conversation of a directory."""

    name, agent, title = "gemini", "gemini", "Gemini CLI"
    quit, compact = "/quit", "/compress"
    removes = "gemini extensions uninstall eventlog"
    helper, tells_helpers = ("invoke_agent", "prompt", {"agent_name": "generalist"}), False

    def program(self, modules):
        return modules / ".bin" / "gemini"

    def files(self, project, address):
        trusted = as_json({str(project): "TRUST_FOLDER"})
        return {".gemini/settings.json": _SETTINGS, ".gemini/trustedFolders.json": trusted}

    def environment(self, address):
        return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": address}

    def consenting(self, install):
        return f"echo y | {install} --consent"

    def turn(self, prompt, session, *, resume, free):
        mode = ["--approval-mode", "yolo"] if free else []
        return ["-p", prompt, *(["--resume", "latest"] if resume else ["--session-id", session]), *mode]

    def terminal(self):
        return ["--approval-mode", "yolo"]
