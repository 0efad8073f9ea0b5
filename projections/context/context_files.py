"""The files a context is made of, in their order, and how each is read: confined to its root, and text only.

The user's own are made from templates, in every language a user may choose; an unfilled template has no content. What
hosts load by themselves is left out, so that an agent does not read it twice: a host's own memory file (named in its
profile) may be a link to one of ours, or import it (`@path`).

Imported inside agents' hooks: standard library only, and `re` where a file may import others.
"""

from _codecs import utf_8_decode

from eventlog.fast import os
from eventlog.fast.copies import Values, replace
from eventlog.fast.fastjson import BOM
from eventlog.hosts import protocol
from eventlog.projects.root import HOME, in_full
from eventlog.store.shared_files import NotConfined, read_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventlog.projections.context.request import ContextRequest
    from eventlog.settings.schema import Locale, Settings
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

_IMPORT = r"(?<!\S)@(?P<path>[^\s`]+)"
_CODE = r"(?s)```.*?```|`[^`\n]*`"


class ContextFile(Values):
    """A file a context is made of; the smaller `load_order`, the earlier it is loaded.

    `root` is the directory it must lie in, with every symbolic link followed; `default_template` what a missing one is
    created with, None: not at all.
    """

    name: str
    path: str
    root: str
    required: bool = False
    main_session_only: bool = False
    load_order: int = 0
    default_template: str | None = None


class LoadResult(Values):
    """The result of loading a file: its content, or the error; neither of an optional file that is missing."""

    file_path: str
    success: bool
    content: str | None
    error: str | None
    from_cache: bool = False  # the last good copy
    is_default: bool = False  # just created from its template


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


def bootstrap_file(settings: "Settings", home: str, now: str) -> tuple[ContextFile, str]:
    """Return the file that only the very first session of a workspace reads, and the path it gets after that."""
    workspace = in_full(settings.context.workspace, home)
    file = ContextFile("BOOTSTRAP.md", os.path.join(workspace, "BOOTSTRAP.md"), workspace, load_order=BOOTSTRAP)
    return file, os.path.join(workspace, f"BOOTSTRAP.used-{now[:19].replace(':', '')}.md")


def _bases(settings: "Settings", project: str, home: str) -> "Iterator[ContextFile]":
    for name in settings.bootstrap:
        base = settings.knowledge_bases[name]
        if base.path is not None and (project or not base.path.startswith(_PROJECT)):
            yield from _of_base(base.path, settings, project, home)


def _of_base(path: str, settings: "Settings", project: str, home: str) -> "Iterator[ContextFile]":
    in_project = path.startswith(_PROJECT)
    full = os.path.join(project, path.removeprefix(_PROJECT)) if in_project else in_full(path, home)
    folder = os.path.dirname(full)
    root = project if in_project else home if path.startswith(HOME) else folder
    workspace = os.path.normpath(in_full(settings.context.workspace, home))
    own = os.path.normpath(folder) == workspace  # nothing is created in a repository
    for name in _names(folder, os.path.basename(full)):
        order = _ORDERS.get(name, TOOLS)
        text = _template(name, settings.locale) if own else None
        required = order < TOOLS and not in_project
        yield ContextFile(name, os.path.join(folder, name), root, required, False, order, text)


def _names(folder: str, name: str) -> list[str]:
    """List the names under which the file is there: a plan makes USER.md beside a person's OWNER.md; else its own."""
    names = (name, _ALIASES[name]) if name in _ALIASES else ()
    return [each for each in names if os.path.isfile(os.path.join(folder, each))] or [name]


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
        default_template=_template("profile.md", settings.locale),
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


# ------------------------------------------------------------------------------------------------ loaded by hosts


def loaded_by_host(agent: str, project: str, home: str) -> set[str]:
    """Find the real paths of the files the host gives its agent anyway."""
    in_project, in_home, has_imports = protocol(agent).memory
    found: list[str] = []
    groups = [[f"{project}/{name}" for name in group] for group in in_project]
    for group in (*groups, *([f"{home}/{name}" for name in group] for group in in_home)):
        file = next((path for path in group if os.path.isfile(path)), "")
        if file:
            found += [file, *(_imports(file, home) if has_imports else ())]
    return {os.path.realpath(path) for path in found if os.path.isfile(path)}


def _imports(file: str, home: str) -> "Iterator[str]":
    """List the files a file names with `@`, outside of code; one step deep."""
    try:
        text = read(file, "/" if file.startswith("/") else os.path.dirname(file))
    except (OSError, Unreadable):
        return
    if "@" not in text:
        return
    import re

    for match in re.finditer(_IMPORT, re.sub(_CODE, "", text)):
        yield os.path.join(os.path.dirname(file), in_full(match["path"], home))


# ------------------------------------------------------------------------------------------------ templates

_SECTIONS: "dict[Locale, dict[str, tuple[str, ...]]]" = {
    "en": {
        "AGENTS.md": ("# AGENTS.md", "How agents work here.", "## Rules", "## Commands"),
        "SOUL.md": (
            "# SOUL.md", "Who the agent is: its character, its tone, its limits.", "## Character", "## Limits"
        ),
        "USER.md": ("# USER.md", "Whom the agent works for.", "## Preferences", "## Background", "## Communication"),
        "profile.md": ("# About the user", "## Preferences", "## Background", "## Communication"),
    },
    "zh": {
        "AGENTS.md": ("# AGENTS.md", "代理在这里如何工作。", "## 规则", "## 命令"),
        "SOUL.md": ("# SOUL.md", "代理的身份：性格、语气与边界。", "## 性格", "## 边界"),
        "USER.md": ("# USER.md", "用户信息。", "## 偏好", "## 技术背景", "## 沟通风格"),
        "profile.md": ("# 用户记忆", "## 偏好", "## 技术背景", "## 沟通风格"),
    },
}  # fmt: skip
_TEMPLATES = {
    locale: {name: "\n\n".join(parts) + "\n" for name, parts in files.items()} for locale, files in _SECTIONS.items()
}


def _template(name: str, locale: "Locale") -> str | None:
    """Return the template of a file by its name, or None."""
    return _TEMPLATES[locale].get(name) or _TEMPLATES[locale].get(_ALIASES.get(name, ""))


def is_template(text: str) -> bool:
    """Return whether a text is a template that was never filled in."""
    return any(text == default for texts in _TEMPLATES.values() for default in texts.values())
