"""The files a context is made of, in their order, and how each is read: confined to its root, and text only.

Imported inside agents' hooks: standard library only.
"""

from _codecs import utf_8_decode

from eventlog.fast import os
from eventlog.fast.copies import replace
from eventlog.fast.fastjson import BOM
from eventlog.projections.context.templates import template
from eventlog.projects.root import HOME, in_full
from eventlog.store.shared_files import NotConfined, read_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventlog.projections.context.request import ContextRequest
    from eventlog.settings.schema import Settings
    from eventlog.store import Store

_LONGEST = 1 << 20  # bytes read of a file; no budget is anywhere near
_PROJECT = "{project}/"  # what the path of a base starts with that is a different file in every project
AGENTS, SPIRIT, OWNER, TOOLS, USER_FILES, MEMORY = 1, 2, 3, 4, 5, 8  # load orders; notes and facts are 6 and 7
BOOTSTRAP = 0
_ORDERS = {
    "AGENTS.md": AGENTS,
    **dict.fromkeys(("SOUL.md", "SPIRIT.md"), SPIRIT),
    **dict.fromkeys(("USER.md", "OWNER.md"), OWNER),
}
_ALIASES = {"SOUL.md": "SPIRIT.md", "SPIRIT.md": "SOUL.md", "USER.md": "OWNER.md", "OWNER.md": "USER.md"}


class ContextFile:
    """A file a context is made of; the smaller `load_order`, the earlier it is loaded.

    `root` is the directory it must lie in, with every symbolic link followed; `default_template` what a missing one is
    created with, None: not at all.
    """

    def __init__(
        self,
        name: str,
        path: str,
        root: str,
        required: bool = False,
        main_session_only: bool = False,
        load_order: int = 0,
        default_template: str | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.root = root
        self.required = required
        self.main_session_only = main_session_only
        self.load_order = load_order
        self.default_template = default_template

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContextFile) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.path)


def context_files(settings: "Settings", store: "Store", request: "ContextRequest") -> list[ContextFile]:
    """List the files to look for, in load order; bases in that of `session_bootstrap`, where it is set.

    In a shared session those for main sessions are left out by the caller.
    """
    workspace = in_full(settings.context.workspace, request.home)
    files = [
        *_bases(settings, request.project, request.home),
        ContextFile("TOOLS.md", os.path.join(workspace, "TOOLS.md"), workspace, load_order=TOOLS),
        *_user_files(workspace, settings),
        *_memories(store, request.folder),
    ]
    return files if settings.orders_bases else sorted(files, key=lambda file: file.load_order)


def templated(settings: "Settings", home: str) -> list[ContextFile]:
    """List the user's own files that can be made from a template."""
    workspace = in_full(settings.context.workspace, home)
    bases = (file for file in _bases(settings, "", home) if file.default_template is not None)
    return [*bases, _profile(workspace, settings)]


def bootstrap_file(settings: "Settings", home: str) -> ContextFile:
    """Return the file that only the very first session of a workspace reads."""
    workspace = in_full(settings.context.workspace, home)
    return ContextFile("BOOTSTRAP.md", os.path.join(workspace, "BOOTSTRAP.md"), workspace, load_order=BOOTSTRAP)


def used_name(path: str, now: str) -> str:
    """Return the name BOOTSTRAP.md gets after its first use."""
    return os.path.join(os.path.dirname(path), f"BOOTSTRAP.used-{now[:19].replace(':', '')}.md")


def _bases(settings: "Settings", project: str, home: str) -> "Iterator[ContextFile]":
    for name in settings.bootstrap:
        base = settings.knowledge_bases[name]
        if base.path is not None and (project or not base.path.startswith(_PROJECT)):
            yield _of_base(base.path, settings, project, home)


def _of_base(path: str, settings: "Settings", project: str, home: str) -> ContextFile:
    in_project = path.startswith(_PROJECT)
    full = os.path.join(project, path.removeprefix(_PROJECT)) if in_project else in_full(path, home)
    root = project if in_project else home if path.startswith(HOME) else os.path.dirname(full)
    full = _alias(full)
    name = os.path.basename(full)
    order = _ORDERS.get(name, TOOLS)
    workspace = os.path.normpath(in_full(settings.context.workspace, home))
    own = os.path.normpath(os.path.dirname(full)) == workspace  # nothing is created in a repository
    text = template(name, settings.locale) if own else None
    return ContextFile(name, full, root, order < TOOLS and not in_project, False, order, text)


def _alias(path: str) -> str:
    """Return the file under its other name, where only that name exists."""
    name = os.path.basename(path)
    other = os.path.join(os.path.dirname(path), _ALIASES.get(name, name))
    return other if not os.path.isfile(path) and os.path.isfile(other) else path


def _user_files(workspace: str, settings: "Settings") -> "Iterator[ContextFile]":
    """List all files that the user put there, by name, else the profile; only the user may read them."""
    profile, folder = _profile(workspace, settings), os.path.join(workspace, "user")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and name != ".md")
    except OSError:
        names = []
    for name in names:
        yield replace(profile, name=f"user/{name}", path=os.path.join(folder, name), default_template=None)
    if not names:
        yield profile


def _profile(workspace: str, settings: "Settings") -> ContextFile:
    return ContextFile(
        "user/profile.md",
        os.path.join(workspace, "user", "profile.md"),
        workspace,
        main_session_only=True,
        load_order=USER_FILES,
        default_template=template("profile.md", settings.locale),
    )


def _memories(store: "Store", folder: str) -> "Iterator[ContextFile]":
    for place in dict.fromkeys(["MEMORY.md", f"{folder}MEMORY.md"]):
        path = os.path.join(store.knowledge, place)
        yield ContextFile("MEMORY.md", path, store.knowledge, main_session_only=True, load_order=MEMORY)


class Unreadable(Exception):
    """The error that a file exists and cannot be read; the message has the reason."""


def read(path: "Path | str", root: "Path | str") -> str:
    """Return the text of a file below `root`; raises FileNotFoundError, OSError, or Unreadable."""
    try:
        data = read_below(root, path, _LONGEST)
    except NotConfined as error:
        raise Unreadable(str(error)) from error
    return _text_of(data).replace("\r\n", "\n")


def _text_of(data: bytes) -> str:
    """Decode the bytes; what is no text is not for a prompt. Raises Unreadable."""
    try:
        text, _ = utf_8_decode(data.removeprefix(BOM), "strict", len(data) < _LONGEST)
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8: byte {error.start} cannot be read") from error
    if "\0" in text:
        raise Unreadable(f"is not text: it holds a NUL, at character {text.index(chr(0))}")
    return text
