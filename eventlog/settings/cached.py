"""The settings as agents' hooks read them, without YAML and types.

No `config.yaml`, no cost: one failed system call, and everything has its default. Otherwise the file was read once,
with YAML and types, and its values lie in `cache/settings.json`, good for as long as the file bears the same stamp.

Imported inside agents' hooks: standard library only.
"""

from eventlog.fast import os
from eventlog.secrets import use_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from eventlog.store import Store

    Values = dict[str, object]

    class Preferences(TypedDict):
        """The settings hooks obey, beside `fsync`."""

        locale: str
        stop_fallback: str
        min_turns: int


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
    """Tell whether an append is on disk only once it is synced: all but `fsync: never`."""
    return settings(store).get("fsync") != "never"


def use_own_secrets(store: "Store") -> None:
    """Have the user's own patterns of secrets scrubbed, too."""
    chosen = settings(store).get("secrets")
    patterns = chosen.get("patterns") if isinstance(chosen, dict) else None
    use_own([str(pattern) for pattern in patterns] if isinstance(patterns, list) else [])


def wants_files(store: "Store") -> bool:
    """Tell whether agents get the decisions about a file before they open it."""
    chosen = settings(store).get("recall")
    return isinstance(chosen, dict) and chosen.get("file") is True


def preferences(store: "Store") -> "Preferences":
    """Read what the user chose last; the defaults wherever that cannot be had."""
    values = settings(store)
    save = values.get("save")
    chosen: Preferences = {"locale": "en", "stop_fallback": "once", "min_turns": 3}
    if isinstance(locale := values.get("locale"), str):
        chosen["locale"] = locale
    if isinstance(save, dict):
        chosen["stop_fallback"] = str(save.get("stop_fallback", chosen["stop_fallback"]))
        chosen["min_turns"] = int(save.get("min_turns", chosen["min_turns"]))
    return chosen


def are_current(store: "Store") -> bool:
    """Tell whether hooks need not read `config.yaml`: it does not exist, or its values are cached."""
    stamp = _stamp(store.config)
    return stamp is None or _saved(store, stamp) is not None


def _stamp(path: str) -> str | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    from eventlog.store.files import stamp_from

    return " ".join(map(str, stamp_from(found)))


def _saved(store: "Store", stamp: str) -> "Values | None":
    saved = _read(_path(store))
    values = saved.get("values")
    return values if isinstance(values, dict) and saved.get("stamp") == stamp else None


def _read(path: str) -> "Values":
    """Read what is saved, or remember it; empty where nothing is."""
    stamp_now = _stamp(path)
    if stamp_now is None:
        return {}
    stamp, saved = _cached.get(path, ("", {}))
    if stamp != stamp_now:
        from eventlog.fast import fastjson
        from eventlog.store.files import read_regular

        try:
            saved = fastjson.object_in(read_regular(path))
        except OSError:
            return {}
        _cached[path] = stamp_now, saved
    return saved


def _compile(store: "Store", stamp: str) -> "Values":
    """Read the file as every other part of the program does, and keep what it says, even that it says nothing."""
    from eventlog.fast import fastjson
    from eventlog.format.errors import EventLogError
    from eventlog.store.files import replace_file

    values: Values = {}
    try:
        from eventlog.settings import load

        values = load.as_values(load.load(store).settings)
    except ImportError:  # a hook without site-packages: it goes by the defaults until someone with them comes by
        return values
    except EventLogError:
        values = {"fsync": "always"}
    try:
        replace_file(_path(store), fastjson.dumps({"stamp": stamp, "values": values}), durable=False)
    except (EventLogError, ValueError):  # an infinite number in the options of a session hook is no JSON
        return values
    return values


def _path(store: "Store") -> str:
    return store.cached("settings.json")
