"""The settings in force, and where each comes from."""

from typing import Any, NamedTuple

from eventlog.settings import load
from eventlog.store import Store


class SettingInForce(NamedTuple):
    """One setting: its dotted key, its value, and `config.yaml:LINE` or `default`."""

    key: str
    value: Any
    origin: str


def config(store: Store) -> list[SettingInForce]:
    """List every setting, in the order of the documentation; raises BadSettings."""
    found = load.effective(load.load(store))
    return [
        SettingInForce(setting.key, setting.value, f"{store.config}:{setting.line}" if setting.line else "default")
        for setting in found
    ]
