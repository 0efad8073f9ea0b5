"""Loads people's files for a context, in any state; nothing here raises for a file.

Read       as `projections.context.loader` reads: confined to its root, text only.
Fallback   of a file that exists and cannot be read: its last good copy, in `cache/context/`.
Create     a missing file that has a template, at a session's start; never over anything, nor what was once deleted.

Imported while a session waits to begin: standard library only.
"""

from eventlog.fast import fastjson, os
from eventlog.format.errors import NotStored
from eventlog.format.ids import digest
from eventlog.format.text import encodable
from eventlog.projections.context.context_files import LoadResult, Unreadable, read
from eventlog.store import files
from eventlog.store.files import remove, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.projections.context.context_files import ContextFile


class Loader:
    """Loads files; `copies` is the folder of last good copies; `creates`: templates are used."""

    def __init__(self, copies: str, *, creates: bool = False) -> None:
        self._copies = copies
        self._creates = creates

    def load(self, file: "ContextFile") -> LoadResult:
        """Load a file; a missing file without a template has neither content nor error, unless it is required."""
        try:
            text = read(file.path, file.root)
        except FileNotFoundError:
            return self._missing(file)
        except Unreadable as error:
            return self._result(file, None, str(error))
        except OSError as error:
            from eventlog.format.errors import system_reason  # a session's start that finds its files needs no words

            return self._fall_back(file, f"cannot be read: {system_reason(error)[0]}")
        if not file.main_session_only:
            self._keep_copy(file, text)
        return self._result(file, text)

    @staticmethod
    def drop_copy(copies: str, path: str) -> None:
        """Remove the last good copy of a file that has been changed: its text may have been withdrawn."""
        remove(_copy_of(copies, path))

    def _missing(self, file: "ContextFile") -> LoadResult:
        has_copy = os.path.exists(_copy_of(self._copies, file.path))
        if has_copy:
            self._keep_copy(file, None)  # whoever deleted it meant it
        if has_copy or not self._creates or file.default_template is None or not os.path.isabs(file.path):
            return self._result(file, None, "is missing" if file.required else None)
        from eventlog.app.build.user_files import create  # most starts create nothing

        try:
            create(file.path, file.default_template)
        except NotStored as error:
            return self._result(file, None, error.what)
        self._keep_copy(file, None)
        return self._result(file, file.default_template, is_default=True)

    def _fall_back(self, file: "ContextFile", reason: str) -> LoadResult:
        copy = fastjson.object_in(files.read(_copy_of(self._copies, file.path)) or b"")
        text = copy.get("text") if copy.get("path") == file.path else None
        if file.main_session_only or not isinstance(text, str):
            return self._result(file, None, reason)
        return self._result(file, text, f"{reason}; this is its last good copy", from_cache=True)

    def _keep_copy(self, file: "ContextFile", text: str | None) -> None:
        """Cache the text, None of a file that has been removed; ignore a cache that cannot be written."""
        path = _copy_of(self._copies, file.path)
        data = fastjson.dumps({"path": file.path, "text": text})
        try:
            if files.read(path) != data:
                replace_file(path, data, durable=False)
        except (OSError, NotStored):
            return

    @staticmethod
    def _result(file: "ContextFile", content: str | None, error: str | None = None, **origin: bool) -> LoadResult:
        return LoadResult(encodable(file.path), content is not None, content, error, **origin)


def _copy_of(copies: str, path: str) -> str:
    return f"{copies}/{digest(path, 8).hex()}.json"
