"""Which files a context is made of, and in which order."""

from collections.abc import Iterator
from pathlib import Path, PurePath

from msgspec.structs import replace

from eventlog.projections.context.agent_context import ContextFile
from eventlog.projections.context.request import ContextRequest
from eventlog.projections.context.templates import template
from eventlog.projects.root import HOME, in_full
from eventlog.settings.schema import PROJECT, Settings
from eventlog.store import Store

AGENTS, SPIRIT, OWNER, TOOLS, USER_FILES, MEMORY = 1, 2, 3, 4, 5, 8  # load orders; notes and facts are 6 and 7
BOOTSTRAP = 0
_ORDERS = {
    "AGENTS.md": AGENTS,
    **dict.fromkeys(("SOUL.md", "SPIRIT.md"), SPIRIT),
    **dict.fromkeys(("USER.md", "OWNER.md"), OWNER),
}
_ALIASES = {"SOUL.md": "SPIRIT.md", "SPIRIT.md": "SOUL.md", "USER.md": "OWNER.md", "OWNER.md": "USER.md"}


def context_files(settings: Settings, store: Store, request: ContextRequest) -> list[ContextFile]:
    """List the files to look for, in load order; bases in that of `session_bootstrap`, where one is chosen.

    In a shared session those for main sessions are left out by the caller.
    """
    workspace = Path(in_full(settings.context.workspace, request.home))
    files = [
        *_bases(settings, request.project, request.home),
        ContextFile("TOOLS.md", str(workspace / "TOOLS.md"), str(workspace), load_order=TOOLS),
        *_user_files(workspace, settings),
        *_memories(store, request.folder),
    ]
    return files if settings.orders_bases else sorted(files, key=lambda file: file.load_order)


def looked_for(settings: Settings, store: Store, request: ContextRequest) -> Iterator[str]:
    """Yield every path whose state decides which files these are, whether or not anything is there."""
    workspace = Path(in_full(settings.context.workspace, request.home))
    yield bootstrap_file(settings, request.home).path
    yield str(workspace / "user")
    for file in context_files(settings, store, request):
        path = Path(file.path)
        yield from {file.path, str(path.with_name(_ALIASES.get(path.name, path.name)))}


def templated(settings: Settings, home: str) -> list[ContextFile]:
    """List the user's own files that can be made from a template."""
    workspace = Path(in_full(settings.context.workspace, home))
    bases = (file for file in _bases(settings, "", home) if file.default_template is not None)
    return [*bases, _profile(workspace, settings)]


def bootstrap_file(settings: Settings, home: str) -> ContextFile:
    """Return the file that only the very first session of a workspace is told."""
    workspace = Path(in_full(settings.context.workspace, home))
    return ContextFile("BOOTSTRAP.md", str(workspace / "BOOTSTRAP.md"), str(workspace), load_order=BOOTSTRAP)


def used_name(path: str, now: str) -> str:
    """Return the name BOOTSTRAP.md gets once it has been told."""
    return str(Path(path).with_name(f"BOOTSTRAP.used-{now[:19].replace(':', '')}.md"))


def _bases(settings: Settings, project: str, home: str) -> Iterator[ContextFile]:
    for name in settings.bootstrap:
        base = settings.knowledge_bases[name]
        if base.path is not None and (project or not base.path.startswith(PROJECT)):
            yield _of_base(base.path, settings, project, home)


def _of_base(path: str, settings: Settings, project: str, home: str) -> ContextFile:
    in_project = path.startswith(PROJECT)
    full = Path(project, path.removeprefix(PROJECT)) if in_project else Path(in_full(path, home))
    root = project if in_project else home if path.startswith(HOME) else str(full.parent)
    full = _alias(full)
    order = _ORDERS.get(full.name, TOOLS)
    own = full.parent == Path(in_full(settings.context.workspace, home))  # nothing is created in a repository
    text = template(full.name, settings.locale) if own else None
    return ContextFile(full.name, str(full), root, order < TOOLS and not in_project, False, order, text)


def _alias(path: Path) -> Path:
    """Return the file under its other name, where only that one is there."""
    other = path.with_name(_ALIASES.get(path.name, path.name))
    return other if not path.is_file() and other.is_file() else path


def _user_files(workspace: Path, settings: Settings) -> Iterator[ContextFile]:
    """List whatever the user put there, by name, else the profile; it is about the user, so for the user alone."""
    profile = _profile(workspace, settings)
    try:
        paths = sorted(path for path in (workspace / "user").iterdir() if path.suffix == ".md")
    except OSError:
        paths = []
    yield from (replace(profile, name=f"user/{path.name}", path=str(path), default_template=None) for path in paths)
    if not paths:
        yield profile


def _profile(workspace: Path, settings: Settings) -> ContextFile:
    return ContextFile(
        "user/profile.md",
        str(workspace / "user" / "profile.md"),
        str(workspace),
        main_session_only=True,
        load_order=USER_FILES,
        default_template=template("profile.md", settings.locale),
    )


def _memories(store: Store, folder: str) -> Iterator[ContextFile]:
    for place in dict.fromkeys(["MEMORY.md", f"{folder}MEMORY.md"]):
        path = str(PurePath(store.knowledge, place))
        yield ContextFile("MEMORY.md", path, store.knowledge, main_session_only=True, load_order=MEMORY)
