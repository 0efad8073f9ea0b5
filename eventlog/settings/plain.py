"""The settings a session's start obeys, without the library that checks them: who reads `config.yaml` has done that.

Imported inside agents' hooks: standard library only.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from eventlog.settings.schema import Settings

_Values = type(sys.implementation)  # types.SimpleNamespace
_BOOTSTRAP = ["global-agents", "soul", "user", "project"]
# as the schema has them: tests/log/settings/test_schema.py compares
DEFAULTS: "dict[str, object]" = {
    "timezone": "UTC",
    "locale": "en",
    "knowledge_bases": {
        "user": {"path": "~/.config/agents/USER.md"},
        "soul": {"path": "~/.config/agents/SOUL.md"},
        "global-agents": {"path": "~/.config/agents/AGENTS.md"},
        "project": {"path": "{project}/AGENTS.md"},
    },
    "session_bootstrap": _BOOTSTRAP,
    "summaries": {"keep": 20, "max_chars": 300},
    "context": {
        "budget_chars": 9000,
        "days_full": 2,
        "days_partial": 5,
        "days_max": 7,
        "partial_per_day": 3,
        "min_confidence": 0.9,
        "facts": 15,
        "summaries": 60,
        "workspace": "~/.config/agents",
        "templates": True,
    },
}


def plain_settings(chosen: "Mapping[str, object]") -> "Settings":
    """Put what a user chose into the place of the defaults; only what a session's start asks for is there."""
    values = {name: chosen.get(name, default) for name, default in DEFAULTS.items()}
    bases, order = values["knowledge_bases"], values["session_bootstrap"]
    assert isinstance(bases, dict)
    assert isinstance(order, list)
    for name in ("summaries", "context"):
        values[name] = _Values(**{**DEFAULTS[name], **values[name]})  # type: ignore[dict-item]
    values["knowledge_bases"] = {name: _Values(**{"path": None, **base}) for name, base in bases.items()}
    values["orders_bases"] = order != _BOOTSTRAP
    values["bootstrap"] = [name for name in order if name in bases]
    return _Values(**values)  # type: ignore[return-value]
