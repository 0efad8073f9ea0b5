"""Loads people's files for a context, whatever state they are in; nothing here raises for a file.

Read       as `projections.context.loader` reads: confined to its root, text only.
Fallback   a file that is there and cannot be read: its last good copy, kept in `cache/context/`.
Create     a missing one that has a template, at a session's start; never over anything, nor what was once deleted.
"""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from eventlog.app.build.user_files import create
from eventlog.fast import fastjson
from eventlog.format.errors import NotStored
from eventlog.format.ids import digest
from eventlog.format.text import encodable
from eventlog.projections.context.agent_context import ContextFile, FileLoadResult
from eventlog.projections.context.loader import Unreadable, read
from eventlog.store.files import replace_file


class Loader(Struct, frozen=True):
    """Loads files as of one moment; `copies` is where last good copies are kept; `creates`: templates are used."""

    copies: str
    now: datetime
    creates: bool = False

    def load(self, file: ContextFile) -> FileLoadResult:
        """Load one file; a missing file without a template has neither content nor error, unless it is required."""
        try:
            text = read(Path(file.path), Path(file.root))
        except FileNotFoundError:
            return self._missing(file)
        except Unreadable as error:
            return self._result(file, None, str(error))
        except OSError as error:
            return self._fall_back(file, f"cannot be read: {_plain(error)}")
        if not file.main_session_only:
            self._keep_copy(file, text)
        return self._result(file, text)

    def _missing(self, file: ContextFile) -> FileLoadResult:
        known = os.path.exists(copy_of(self.copies, file.path))  # noqa: PTH110
        if known:
            self._keep_copy(file, None)  # whoever deleted it meant it
        if known or not self.creates or file.default_template is None or not Path(file.path).is_absolute():
            return self._result(file, None, "is missing" if file.required else None)
        try:
            create(Path(file.path), file.default_template)
        except NotStored as error:
            return self._result(file, None, error.what)
        self._keep_copy(file, None)
        return self._result(file, file.default_template, is_default=True)

    def _fall_back(self, file: ContextFile, reason: str) -> FileLoadResult:
        try:
            kept = fastjson.loads(Path(copy_of(self.copies, file.path)).read_bytes())
        except (OSError, ValueError):
            kept = None
        text = kept.get("text") if isinstance(kept, dict) and kept.get("path") == file.path else None
        if file.main_session_only or not isinstance(text, str):
            return self._result(file, None, reason)
        return self._result(file, text, f"{reason}; this is its last good copy", from_cache=True)

    def _keep_copy(self, file: ContextFile, text: str | None) -> None:
        """Keep the text, None of a file that was there once; a cache that cannot be is no reason to complain."""
        path = copy_of(self.copies, file.path)
        data = fastjson.dumps({"path": file.path, "text": text})
        try:
            if not os.path.exists(path) or Path(path).read_bytes() != data:  # noqa: PTH110
                replace_file(path, data, durable=False)
        except (OSError, NotStored):
            return

    def _result(
        self,
        file: ContextFile,
        content: str | None,
        error: str | None = None,
        *,
        from_cache: bool = False,
        is_default: bool = False,
    ) -> FileLoadResult:
        success = content is not None
        return FileLoadResult(encodable(file.path), success, content, error, self.now, from_cache, is_default)


def drop_copy(copies: str, path: str) -> None:
    """Remove the last good copy of a file that has been changed: what it said may have been withdrawn."""
    with suppress(OSError):
        Path(copy_of(copies, path)).unlink()


def copy_of(copies: str, path: str) -> str:
    """Name the last good copy of a file."""
    return f"{copies}/{digest(path, 8).hex()}.json"


def _plain(error: OSError) -> str:
    from eventlog.format.errors import system_reason  # a session's start that finds its files needs no words

    return system_reason(error)[0]
