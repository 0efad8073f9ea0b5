"""Answer the version, raw lines, a plain replay, sync or save without click; the first two without any library.

Handles their plainest form only and leaves every other command line to its verb.
"""

import os
import sys

from eventlog.cli import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventlog.store import Store

_ANYWHERE = {"--store": "store", "--session": "session"}
_SAVES = {
    "fact": {
        **_ANYWHERE,
        "TEXT": "content",
        "--type": "memory_type",
        "--category": "category",
        "--key": "key",
        "--entity": "entities",
        "--scope": "scope",
    },
    "summary": {
        **_ANYWHERE,
        "--topic": "topic",
        "--summary": "summary",
        "--decision": "decisions",
        "--todo": "todos",
        "--done": "done",
        "--stage": "stage",
    },
}
_LISTS = {"entities", "decisions", "todos", "done"}
_CHOICES = {"memory_type": ("W", "B", "O"), "scope": ("project", "user")}
_NEEDED = {"fact": {"content"}, "summary": {"topic", "summary"}}
_FLAGS = {"replay": "--full", "sync": "--compact"}
_NAME = "agent_eventlog-", ".dist-info"


def run(argv: "Sequence[str]") -> int | None:
    """Run a plain replay, sync or save, and return the exit code; None for all else."""
    if rebuilt := _rebuild(argv):
        from eventlog.app.progress import default_reporter
        from eventlog.cli import progress

        default_reporter.set(progress.phase)
        verb, store, flag = rebuilt
        if verb == "sync":
            from eventlog.app.open_store import Machine, open_store
            from eventlog.cli.verbs.setup.sync_report import exchanged

            return exchanged(open_store(store, Machine.here()), compact=flag).print(as_json=False)
        from eventlog.cli.verbs.build.replay_report import replay_here

        return replay_here(store, anew=flag)
    if saved := _save(argv):
        if not _record(*saved):
            from eventlog.app.write.speaker import SpeakerOptions
            from eventlog.cli.verbs.write.recording import record
            from eventlog.projects.root import project_root

            here = project_root(os.getcwd()) or None  # noqa: PTH109
            record(saved[0], SpeakerOptions(saved[1], here, None, None), saved[2])
        return 0
    return None


def answer(argv: "Sequence[str]") -> bool:
    """Answer a command line (without the program's name); return False to leave it to the verb."""
    argv = _verb_first(argv)
    if argv == ["--version"]:
        text = f"eventlog, version {found}\n".encode() if (found := version()) else None
    elif argv[:1] == ["query"]:
        text = _lines(argv[1:])
    else:
        return False
    if text is None:
        return False
    sys.stdout.buffer.write(text)
    return True


def version() -> str | None:
    """Read the version from the name of the `.dist-info` directory: importlib.metadata takes 20 ms."""
    found: set[str] = set()
    for place in sys.path:
        try:
            names = os.listdir(place or ".")  # noqa: PTH208
        except OSError:
            continue
        found.update(name for name in names if name.startswith(_NAME[0]) and name.endswith(_NAME[1]))
    if len(found) != 1:
        return None
    return found.pop()[len(_NAME[0]) : -len(_NAME[1])]


def _rebuild(argv: "Sequence[str]") -> "tuple[str, Store, bool] | None":
    """Parse `replay` or `sync`, with their flag and `--store DIR` at most: the verb, the store, and if the flag is set.

    None for all else.
    """
    argv = _verb_first(argv)
    flag = _FLAGS.get(argv[0]) if argv else None
    words = [word for word in argv[1:] if word != flag]
    if flag is None or (words and (words[0] != "--store" or len(words) != 2 or words[1][:1] == "-")):  # noqa: PLR2004
        return None
    from eventlog.store import Store

    store = Store.locate(words[1] if words else None, os.environ)
    return (argv[0], store, flag in argv) if os.path.isdir(store.root) else None  # noqa: PTH112


def _save(argv: "Sequence[str]") -> "tuple[Store, str | None, dict[str, object]] | None":
    """Parse `fact` or `summary` as agents are asked to call them: the store, the session, and the fields of the event.

    None for all else: what is no text, a shell's stdin, other options.
    """
    argv = _verb_first(argv)
    verb = _SAVES.get(argv[0]) if argv else None
    if verb is None:
        return None
    fields: dict[str, object] = {"type": "fact" if argv[0] == "fact" else "stage_summary"}
    named: dict[str, str] = {}
    words = iter(argv[1:])
    for word in words:
        value = word if word[:1] != "-" else "" if word == "--stage" else next(words, "-")
        name = verb.get("TEXT" if value is word else word, "")
        if not name or value[:1] == "-" or (name in fields and name not in _LISTS) or name in named:
            return None
        if name in _LISTS:
            fields[name] = [*fields.get(name, ()), value]  # type: ignore[misc]  # a list made here
        elif name in ("store", "session"):
            named[name] = value
        elif name in _CHOICES and value not in _CHOICES[name]:
            return None
        else:
            fields[name] = value
    if "stage" in fields:
        del fields["stage"]
    elif fields["type"] == "stage_summary":
        fields["scope"] = "session"
    if not fields.keys() >= _NEEDED[argv[0]]:
        return None
    from eventlog.store import Store

    store = Store.locate(named.get("store"), os.environ)
    return (store, named.get("session"), fields) if os.path.isdir(store.log) else None  # noqa: PTH112


def _record(store: "Store", session: str | None, fields: "dict[str, object]") -> bool:
    """Append an event unless it is plainly a repetition, and report it to a program; return False to do neither.

    Raises NotStored or InvalidEvent.
    """
    if sys.stdout.isatty():
        return False
    from eventlog.app.write.record_new import record_new

    try:
        where = os.getcwd()  # noqa: PTH109
    except OSError:
        return False
    event_id, is_new = record_new(store, session, fields, where, os.environ)
    status = '"ok"' if is_new else '"skipped","reason":"already said in this conversation"'
    if event_id:
        put(f'{{"status":{status},"id":"{event_id}"}}', sys.stdout)
    return event_id != ""


def _verb_first(argv: "Sequence[str]") -> list[str]:
    """Move a --store before the verb behind it."""
    return [*argv[2:], *argv[:2]] if argv[:1] == ["--store"] else [*argv]


def _lines(words: "Sequence[str]") -> bytes | None:
    """Answer `query --session ID --format jsonl`, or with `--id ID`, and `--store DIR`."""
    options = dict(zip(words[::2], words[1::2], strict=False))
    what = options.keys() - {"--format", "--store"}
    if len(options) * 2 != len(words) or options.get("--format") != "jsonl" or what not in ({"--session"}, {"--id"}):
        return None
    from eventlog.log import raw_lines
    from eventlog.store import Store

    try:
        store = Store.locate(options.get("--store"), os.environ)
        find = raw_lines.of_session if "--session" in what else raw_lines.of_event
        lines = find(store, options[what.pop()])
    except (OSError, ValueError):
        return None
    return b"".join(lines) if lines else None
