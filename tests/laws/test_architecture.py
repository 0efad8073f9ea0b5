"""Who may import whom: the log knows nothing of its views, the views nothing of the use cases, those nothing of the shell.

And who may know whom: a host is known in its room, and in the table of hosts.
"""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.support.tree import files, needs_tree, nodes

needs_tree()

FLOORS = {  # folder -> the floors above it
    "eventlog": ("eventlog.projections.", "eventlog.app.", "eventlog.cli."),
    "projections": ("eventlog.app.", "eventlog.cli."),
    "app": ("eventlog.cli.",),
}
# file -> what it may reach above its floor; nothing that is loaded for anything else does so when it is imported
DOORS = {
    "eventlog/__main__.py": ("eventlog.cli.main.",),
    "eventlog/__init__.py": ("eventlog.app.", "eventlog.projections."),
    "eventlog/cluster.py": ("eventlog.app.cluster.",),  # the public name of a use case
    "eventlog/hook.py": ("eventlog.hooks.hook_main.", "eventlog.hooks.live."),  # the script that a host starts
    "eventlog/hooks/hook_main.py": (
        "eventlog.app.serve.session_start.",
        "eventlog.app.search.recall.",
    ),  # the seam: start and prompt
}

HOST = re.compile(
    r"(?<![A-Za-z])(?i:claude|codex|cursor|gemini|copilot|vscode|qwen|opencode|droid|auggie|kilo|cline)(?![a-z])(?!_memory|_export)"
)
ROOM = re.compile(r"eventlog/hosts/\w+/")  # rooms may name each other: some hosts run the hooks of others
KNOWS_HOSTS = {
    "eventlog/hosts/__init__.py": "the table of hosts, and what tells them apart",
    "eventlog/settings/schema.py": "the default of `codex_memory`, a key of config.yaml",
    "cli/verbs/serve/agents.py": "examples in the help",
    "cli/verbs/write/import_past.py": "examples in the help",
    "cli/verbs/setup/install.py": "examples in the help",
    "cli/verbs/ask/query.py": "examples in the help",
    "cli/verbs/ask/sessions.py": "examples in the help",
}


def imported(source):
    """Every module and name that a source imports, at its top or later, with a dot at the end."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (f"{alias.name}." for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}." for alias in node.names)


def upward(folder, name, source):
    """The imports of a file that lead to a floor above, and through no door of its own."""
    allowed = DOORS.get(name, ())
    return {
        f"{name} imports {module}"
        for module in imported(source)
        if module.startswith(FLOORS[folder]) and not module.startswith(allowed or "\0")
    }


@pytest.mark.parametrize("folder", FLOORS)
def test_imports_point_one_way(folder):
    assert set() == {found for name, source in files(folder).items() for found in upward(folder, name, source)}


@pytest.mark.parametrize(
    ("folder", "name", "source"),
    [
        ("eventlog", "eventlog/log/event_log.py", "from eventlog.projections.catalog import ALL"),
        ("eventlog", "eventlog/hooks/safety_nets.py", "def f():\n    from eventlog.app.serve import session_start"),
        ("eventlog", "eventlog/hook.py", "from eventlog.app.build.apply import apply"),
        ("projections", "projections/base.py", "import eventlog.app.build.apply"),
        ("app", "app/build/apply.py", "from eventlog.cli.terminal import say"),
    ],
)
def test_an_arrow_that_points_up_is_found(folder, name, source):
    assert 1 == len(upward(folder, name, source))


def test_the_seam_is_two_imports():
    source = files("eventlog")["eventlog/hooks/hook_main.py"]

    seam = {"eventlog.app.serve.session_start.", "eventlog.app.search.recall."}
    assert seam == {name for name in imported(source) if name.startswith("eventlog.app.")}


# the last line of a folder's docstring: "everybody", or floors and folders, each with all below it
IMPORTED_BY = re.compile(r"^Imported by: (?P<names>[a-z_/, ]+)\.$", re.MULTILINE)
PACKAGES = {
    name.removesuffix("/__init__.py"): source
    for folder in ("eventlog", "projections", "app", "cli")
    for name, source in files(folder).items()
    if name.endswith("/__init__.py")
}


@cache
def importers_named(source):
    """The folders that may import a package, as its docstring says; empty where it does not say it."""
    found = IMPORTED_BY.search(ast.get_docstring(ast.parse(source)) or "")
    return found["names"].split(", ") if found else []


def may_import(folder, other):
    """Whether a folder may import from another: its own parents, and every folder that names it."""
    within = f"{folder}/"
    named = importers_named(PACKAGES[other])
    return within.startswith((f"{other}/", *(f"{name}/" for name in named))) or "everybody" in named


def intruders(name, source):
    """The imports of a file from folders that do not name its folder, and through no door of its own."""
    known, folder = modules(), name.rpartition("/")[0]
    for module in needed(source, known):
        other = known[module].rpartition("/")[0]
        if not may_import(folder, other) and not f"{module}.".startswith(DOORS.get(name, ()) or "\0"):
            yield f"{name} imports {module}"


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_folder_says_what_lives_there_and_who_may_import_it(folder):
    named = importers_named(PACKAGES[folder])

    assert named, "its docstring ends in a line like: Imported by: projections, app."
    assert set(named) <= {"everybody", *PACKAGES}


def test_only_folders_that_are_named_import_a_folder():
    sources = {name: files(name.partition("/")[0])[name] for name in modules().values()}

    assert [] == [found for name, source in sources.items() for found in intruders(name, source)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("eventlog/hooks/hook_main.py", "from eventlog.log import days"),
        ("app/ask/query.py", "def f():\n    from eventlog.projections.edits import memory_edits"),
        ("cli/main.py", "from eventlog.projections.context.build import build"),
    ],
)
def test_an_import_from_a_folder_that_does_not_name_the_importer_is_found(name, source):
    assert list(intruders(name, source))


@cache
def modules():
    """The files of all floors by what an import calls them."""
    found = {}
    for name in (name for folder in ("eventlog", "projections", "app", "cli") for name in files(folder)):
        dotted = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found[dotted if name.startswith("eventlog/") else f"eventlog.{dotted}"] = name
    return found


def needed(source, known):
    """The modules of ours that a source imports, at its top or later; not those it names for type checkers only."""
    for_types = {
        id(inside)
        for node in nodes(source)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for child in node.body
        for inside in ast.walk(child)
    }
    for node in (node for node in nodes(source) if id(node) not in for_types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            paths = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (
                path if path in known else node.module for path in paths if path in known or node.module in known
            )


def circle(sources):
    """The modules of one circle of imports, the first of them again at its end; none where there is no circle."""
    graph = {module: set(needed(source, sources)) - {module} for module, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_imports_form_no_circle_also_those_inside_functions():
    sources = {module: files(name.partition("/")[0])[name] for module, name in modules().items()}

    assert {
        "eventlog",
        "eventlog.cli",
        "eventlog.app.serve.session_start",
        "eventlog.projections.catalog",
    } <= sources.keys()
    assert [] == circle(sources)


LATE = "def f():\n    from eventlog import b"


@pytest.mark.parametrize("late", [LATE, "def f():\n    from eventlog.b import g", "def f():\n    import eventlog.b"])
def test_a_circle_of_imports_is_found(late):
    assert circle({"eventlog.a": late, "eventlog.b": "from eventlog.a import f"})


@pytest.mark.parametrize("b", ["from os import path", "if TYPE_CHECKING:\n    from eventlog.a import f"])
def test_what_is_imported_for_types_only_closes_no_circle(b):
    assert [] == circle({"eventlog.a": LATE, "eventlog.b": b})


def words(source):
    """The names and texts of a source that the interpreter sees, but docstrings."""
    docstrings = {id(node.value) for node in nodes(source) if isinstance(node, ast.Expr)}
    for node in nodes(source):
        match node:
            case ast.Constant(value=str() | bytes() as text) if id(node) not in docstrings:
                yield text if isinstance(text, str) else text.decode("latin-1")
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
    yield from imported(source)


def hosts_named(sources):
    """The file and the text of every host's name."""
    return {f"{name} says {text[:80]!r}" for name in sources for text in words(sources[name]) if HOST.search(text)}


@pytest.mark.parametrize("folder", ["eventlog", "projections", "app", "cli"])
def test_a_hosts_name_occurs_in_its_room_and_in_the_table_only(folder):
    known = {name: source for name, source in files(folder).items() if name not in KNOWS_HOSTS}

    assert set() == hosts_named({name: source for name, source in known.items() if not ROOM.match(name)})


@pytest.mark.parametrize("source", ["_codex = 1", "if agent == 'claude-code': ...", "CODEX_HOME", "class Cursor: ..."])
def test_a_hosts_name_is_found(source):
    assert hosts_named({"app/build/apply.py": source})


@pytest.mark.parametrize("name", KNOWS_HOSTS)
def test_every_exception_is_still_needed(name):
    assert hosts_named({name: files(name.partition("/")[0])[name]})


# who writes lines of the log, and who writes such texts beside it
WRITES_LINES = {"eventlog/store/append_once.py", "eventlog/log/event_log.py"}
TAKES_IN = {"app/sync/receiving.py"}  # byte for byte, as the machine that scrubbed them has them
WRITES_BESIDE = {"eventlog/hooks/error_log.py", "eventlog/hooks/background.py", "eventlog/store/spool.py"}


def importers(module):
    """The files that import it, from every floor."""
    known = {
        name: source for folder in ("eventlog", "projections", "app", "cli") for name, source in files(folder).items()
    }
    return {name for name, source in known.items() if f"{module}." in imported(source)}


def test_whoever_writes_lines_of_the_log_scrubs_them_and_nobody_on_the_way_needs_to():
    assert WRITES_LINES | TAKES_IN == importers("eventlog.store.dayfile.DayFile")
    assert WRITES_LINES | WRITES_BESIDE == importers("eventlog.secrets.scrub_fields")


# who writes files outside the two rooms that may: in the store, or where a person has asked for it
MAY_WRITE = ("app/build/", "app/write/")
WRITES_ELSEWHERE = {
    "app/search/database.py": "databases of the cache, when they are deleted",
    "app/search/dialogues.py": "the directory of the cache",
    "app/search/gone_files.py": "names of deleted files, in the cache",
    "app/search/open_index.py": "the index, in the cache",
    "app/serve/context_loader.py": "last good copies, in the cache",
    "cli/verbs/ask/page.py": "the file that leads a browser to the page, in the cache",
    "app/sync/leaving.py": "`sync.exclude` in config.yaml, which `sync projects --exclude` is for",
    "app/sync/git_remote.py": "the clone of the remote, in the store",
    "app/sync/keyring.py": "the keys of a sync, in the store",
    "app/sync/membership.py": "these keys, when a machine leaves",
    "app/sync/receiving.py": "day files of other machines, in the log",
    "app/sync/remote.py": "the directory between machines, which a person named",
    "app/sync/sync_state.py": "the progress of a sync, in the store",
    "app/setup/user_setup.py": "the completion script of a shell, which `completion --install` is for",
    "app/setup/live_client.py": "the program that asks for an answer to hooks, in the cache",
    "app/setup/plugin.py": "a plugin where a person wants it",
    "app/setup/backup.py": "a backup where a person wants it, and a new store made of one",
    "app/setup/install/install.py": "the time zone in a config.yaml that does not exist",
    "app/setup/install/host_file.py": "the settings of hosts, which `install` is for, and their backups in the store",
    "app/setup/session_hooks/built_in.py": "the log of sessions, in the store",
    "app/team/share.py": "decisions as files of a repository, by `share` alone",
}
WRITERS = {
    "replace_file",
    "replace_if_unchanged",
    "remove_if_unchanged",
    "remove",
    "make_dirs",
    "sweep",
    "sweep_tree",
    "DayFile",
}  # of ours
WRITING_METHODS = {
    *("write_text", "write_bytes", "mkdir", "makedirs", "unlink", "rmdir", "rename", "touch", "symlink_to"),
    *("hardlink_to", "chmod", "truncate"),
}
OF_PEOPLE = {"replace_if_unchanged", "remove_if_unchanged"}  # what replaces or removes a file only as it was read


def writes(source):
    """The names by which a source changes files."""
    for node in nodes(source):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("eventlog.store."):
                yield from WRITERS & {alias.name for alias in names}
            case ast.Attribute(value=ast.Name(id="files" | "shared_files"), attr=name):
                yield from WRITERS & {name}
            case ast.Attribute(value=ast.Name(id="os"), attr="remove" | "replace" | "link" | "symlink" as name):
                yield name
            case ast.Call(func=ast.Attribute(attr=name)) if name in WRITING_METHODS:
                yield name
            case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open" | "fdopen"), args=args):
                modes = {arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
                yield from (mode for mode in modes if set(mode) <= set("rwaxbt+") and set(mode) & set("wax+"))


def test_two_rooms_touch_peoples_files_and_every_other_writer_says_what_it_writes():
    sources = {name: source for folder in ("projections", "app", "cli") for name, source in files(folder).items()}
    others = {name: set(writes(source)) for name, source in sources.items() if not name.startswith(MAY_WRITE)}

    assert WRITES_ELSEWHERE.keys() == {name for name, found in others.items() if found}
    assert {} == {name: found for name, found in others.items() if found & OF_PEOPLE}
    assert any(OF_PEOPLE & set(writes(source)) for name, source in sources.items() if name.startswith(MAY_WRITE))


def test_what_replaces_a_knowledge_base_is_called_in_one_place():
    wrote = {name for name, source in files("app").items() if "_target.write(" in source or "target.write(" in source}

    assert {"app/build/apply.py"} == wrote


@pytest.mark.parametrize(
    "source",
    [
        "from eventlog.store.files import replace_file",
        "from eventlog.store import files\nfiles.remove(path)",
        "Path(path).write_text('')",
        "path.rename(other)",
        "os.replace(one, other)",
        "open(path, 'w')",
        "path.open('ab')",
    ],
)
def test_a_writer_is_found(source):
    assert list(writes(source))


@pytest.mark.parametrize("source", ["path.open('rb')", "read_regular(path)", "files.sort()", "text.replace('a', 'b')"])
def test_a_reader_is_no_writer(source):
    assert [] == list(writes(source))


# what only a shell may ask: it makes a `Machine` of the answers and hands that in
OF_THE_MACHINE = {
    "Path.home", "Path.cwd", "os.environ", "os.getenv", "os.getcwd", "os.path.expanduser", "time.time", "time.time_ns",
    "datetime.now", "datetime.utcnow", "date.today",
}  # fmt: skip
ASKS_THE_MACHINE = {
    "app/open_store.py": "the one place that asks",
    "app/serve/session_start.py": "a hook, which waits for no library; what it asks is handed in from there",
    "app/setup/session_hooks/git.py": "git is started with the environment of this process",
}


def asked(source):
    """What a source asks the machine: dotted names, and any `expanduser`."""
    names = {ast.unparse(node) for node in nodes(source) if isinstance(node, ast.Attribute)}
    return {name for name in names if name in OF_THE_MACHINE or name.endswith(".expanduser")}


@pytest.mark.parametrize("folder", ["projections", "app"])
def test_home_environment_and_clock_are_handed_in(folder):
    found = {name: asked(source) for name, source in files(folder).items() if name not in ASKS_THE_MACHINE}

    assert {} == {name: what for name, what in found.items() if what}


@pytest.mark.parametrize("name", ASKS_THE_MACHINE)
def test_who_asks_the_machine_really_does(name):
    assert asked(files("app")[name])


@pytest.mark.parametrize(
    "source", ["Path.home()", "x = os.environ['HOME']", "time.time_ns()", "Path(name).expanduser()"]
)
def test_a_question_to_the_machine_is_found(source):
    assert asked(source)


LONGEST_VERB = 30  # lines of a function's body, without its docstring


def long_functions(source):
    """The functions of a source that do more than ask and show."""
    for node in nodes(source):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body and (body[-1].end_lineno or 0) - body[0].lineno >= LONGEST_VERB:
                yield node.name


def test_a_verb_only_asks_and_shows():
    verbs = {name: source for name, source in files("cli").items() if name.startswith("cli/verbs/")}

    assert {"cli/verbs/ask/query.py", "cli/verbs/build/replay.py"} <= verbs.keys()
    assert {} == {name: found for name, source in verbs.items() if (found := list(long_functions(source)))}


def test_a_verb_that_does_more_is_found():
    assert ["command"] == list(long_functions("def command():\n" + "    x = 1\n" * (LONGEST_VERB + 1)))


def test_every_module_of_the_four_folders_is_looked_at():
    assert {"eventlog/format/codec.py", "eventlog/hook.py"} <= files("eventlog").keys()
    assert {"projections/engine/replay.py", "projections/context/sources.py"} <= files("projections").keys()
    assert {"app/build/apply.py", "app/setup/install/host_report.py"} <= files("app").keys()
