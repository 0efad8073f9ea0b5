"""The settings as agents' hooks read them, without YAML and types.

No `config.yaml`, no cost: one failed system call, and everything has its default. Otherwise the file was read once,
with YAML and types, and its values lie in `cache/settings.json`, good for as long as the file bears the same stamp.
A session's start obeys them as plain values (`plain_settings`), without the library that checks them.

Imported inside agents' hooks: standard library only.
"""

import sys

from eventlog.fast import fastjson, os
from eventlog.projects.root import find_repository
from eventlog.secrets import use_own
from eventlog.store.files import NO_FILE, file_stamp, read, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    from eventlog.store import Store

    Values = dict[str, object]

    class Preferences(TypedDict):
        """The settings hooks obey, beside `fsync`."""

        timezone: str
        locale: str
        stop_fallback: str
        min_turns: int

    from collections.abc import Mapping

    from eventlog.settings.schema import Settings


_NO = "", "0", "false", "no", "off"  # what people set a variable to that is to do nothing
_cached: "dict[str, tuple[str, Values]]" = {}  # what a file of values said, and its stamp then: every append asks


def settings(store: "Store") -> "Values":
    """Read all settings by name, as `config.yaml` nests them; empty where all have their defaults. Never raises.

    A file that cannot be understood counts as none: a hook does not fail for it, and `eventlog config` tells.
    """
    stamp = _stamp(store.config)
    if stamp is None:
        return {}
    return _saved(store, stamp) or _compile(store, stamp)


def wants_sync(store: "Store") -> bool:
    """Return whether an append is on disk only once it is synced: all but `fsync: never`."""
    return settings(store).get("fsync") != "never"


def use_own_secrets(store: "Store") -> None:
    """Add the user's own patterns of secrets to those that are scrubbed."""
    patterns = _section(store, "secrets").get("patterns")
    use_own([str(pattern) for pattern in patterns] if isinstance(patterns, list) else [])


def wants_recall(store: "Store", moment: str) -> bool:
    """Return whether agents get what is known with a `prompt`, before they open a `file`, or after a `failure`."""
    wanted = _section(store, "recall").get(moment)
    return moment == "prompt" if wanted is None else wanted is True


def off_switch(environ: "Mapping[str, str]", *places: str | None) -> str:
    """Name what switches memory off in these directories: a variable, or a file; "" where nothing does.

    The file may stand at the root of a linked worktree, which is no project of its own.
    """
    if environ.get("EVENTLOG_DISABLED", "").strip().lower() not in _NO:
        return "EVENTLOG_DISABLED"
    here = dict.fromkeys(filter(None, places))
    roots = [found[0] for place in here if (found := find_repository(os.path.abspath(place)))]
    files = (os.path.join(place, ".eventlog-disable") for place in dict.fromkeys((*here, *roots)))
    return next((file for file in files if os.path.exists(file)), "")


def preferences(store: "Store") -> "Preferences":
    """Read what the user chose last; the defaults wherever that cannot be had."""
    chosen, save = settings(store), _section(store, "save")
    return {
        "timezone": str(chosen.get("timezone", "UTC")),
        "locale": str(chosen.get("locale", "en")),
        "stop_fallback": str(save.get("stop_fallback", "once")),
        "min_turns": int(save.get("min_turns", 3)),
    }


def _section(store: "Store", name: str) -> "dict[str, Any]":
    found = settings(store).get(name)
    return found if isinstance(found, dict) else {}


def are_current(store: "Store") -> bool:
    """Return whether hooks need not read `config.yaml`: it does not exist, or its values are cached."""
    stamp = _stamp(store.config)
    return stamp is None or _saved(store, stamp) is not None


def _stamp(path: str) -> str | None:
    stamp = file_stamp(path)
    return " ".join(map(str, stamp)) if stamp != NO_FILE else None


def _saved(store: "Store", stamp: str) -> "Values | None":
    """Read the values of a file with that stamp, or remember them; None where no such are saved."""
    path = store.cached("settings.json")
    now = _stamp(path)
    if now is None:
        return None
    before, saved = _cached.get(path, ("", {}))
    if before != now:
        saved = fastjson.object_in(read(path) or b"")
        _cached[path] = now, saved
    values = saved.get("values")
    return values if isinstance(values, dict) and saved.get("stamp") == stamp else None


def _compile(store: "Store", stamp: str) -> "Values":
    """Read the file as every other part of the program does, and cache its values, also where it has none."""
    from eventlog.format.errors import EventLogError

    values: Values = {}
    try:
        from msgspec import to_builtins

        from eventlog.settings import load

        values = to_builtins(load.load(store).settings)
    except ImportError:  # a hook without site-packages: it goes by the defaults until someone with them comes by
        return values
    except EventLogError:
        values = {"fsync": "always"}
    try:
        replace_file(store.cached("settings.json"), fastjson.dumps({"stamp": stamp, "values": values}), durable=False)
    except (EventLogError, ValueError):  # an infinite number in the options of a session hook is no JSON
        return values
    return values


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
