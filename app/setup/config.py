"""The settings in force, and where each comes from."""

from typing import Any, NamedTuple

from eventlog.projects.home import in_full
from eventlog.settings import load
from eventlog.store import Store


class SettingInForce(NamedTuple):
    """One setting: its dotted key, its value, and `config.yaml:LINE`, `default`, or the setting it follows from."""

    key: str
    value: Any
    origin: str


def config(store: Store, home: str) -> list[SettingInForce]:
    """List all settings, in the order of the documentation, and where the user's own files are; raises BadSettings."""
    configured = load.load(store)
    found = [
        SettingInForce(setting.key, setting.value, f"{store.config}:{setting.line}" if setting.line else "default")
        for setting in load.effective(configured)
    ]
    workspace = in_full(configured.settings.context.workspace, home)
    return [*found, SettingInForce("user_files", f"{workspace}/user/*.md", "context.workspace")]
