"""`config.yaml`: what a user chose, or the exact place of what cannot be understood."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from eventlog.format.errors import BadSettings, system_reason
from eventlog.settings.schema import Settings
from eventlog.store import Store, files

_LARGEST = 1 << 16  # bytes


class _ConfigFile(NamedTuple):
    """The settings in force, and the line of `config.yaml` each key given there stands on."""

    settings: Settings
    lines: Mapping[str, int]


class _Setting(NamedTuple):
    """A setting in force; `line` None where it is the default."""

    key: str
    value: Any
    line: int | None


def load(store: Store) -> _ConfigFile:
    """Read `config.yaml`; the defaults where there is none. Raises BadSettings."""
    try:
        data = files.read_regular(store.config, _LARGEST + 1)  # no more than tells that it is too long
    except FileNotFoundError:
        return _ConfigFile(Settings(), {})
    except OSError as error:
        what, remedy = system_reason(error)
        raise BadSettings(f"cannot be read: {what}", where=store.config, hint=remedy) from error
    return parse(data, store.config)


def parse(data: bytes, path: str) -> _ConfigFile:
    """Parse the bytes of a `config.yaml`; raises BadSettings."""
    if len(data) > _LARGEST:
        raise BadSettings(f"is larger than {_LARGEST:,} bytes", where=path, hint="settings are short; remove the rest")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadSettings("is not UTF-8", where=f"{path}:{line}") from error
    from eventlog.settings import yaml_errors  # where there is a file: yaml takes its time

    loaded = yaml_errors.load(text, Settings)
    if loaded.mistakes:
        first, *others = loaded.mistakes
        more = "\n".join(f"line {mistake.line}: {mistake}" for mistake in others)
        raise BadSettings(str(first), where=f"{path}:{first.line}", hint=more or "correct it, or remove the line")
    return _ConfigFile(loaded.value, loaded.lines)


def effective(configured: _ConfigFile) -> Iterator[_Setting]:
    """List all settings, in the order of the documentation."""
    for key, value in _flat(msgspec.to_builtins(configured.settings), ""):
        yield _Setting(key, value, _line_of(key, configured.lines))


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """Find the line of the key; inside `session_hooks`, whose shape hooks define, of what stands around it."""
    while key not in lines and key.startswith("session_hooks."):
        key = key.rpartition(".")[0]
    return lines.get(key)
