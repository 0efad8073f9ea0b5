"""Answer the version, raw lines of the log, and a plain replay without click; the first two without any library.

Handles their plainest form only and leaves every other command line to its verb.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventlog.store import Store

_NAME = "agent_eventlog-", ".dist-info"


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
    try:
        sys.stdout.buffer.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe: no error, and no traceback at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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


def replay(argv: "Sequence[str]") -> "tuple[Store, bool] | None":
    """Parse `replay`, with `--full` and `--store DIR` at most: the store, and whether to rebuild; None for all else."""
    argv = _verb_first(argv)
    words = [word for word in argv[1:] if word != "--full"]
    if argv[:1] != ["replay"] or (words and (words[0] != "--store" or len(words) != 2 or words[1][:1] == "-")):  # noqa: PLR2004
        return None
    from eventlog.store import Store

    store = Store.locate(words[1] if words else None, os.environ)
    return (store, "--full" in argv) if os.path.isdir(store.root) else None  # noqa: PTH112


def _verb_first(argv: "Sequence[str]") -> list[str]:
    """Move a --store before the verb behind it."""
    return [*argv[2:], *argv[:2]] if argv[:1] == ["--store"] else [*argv]


def _lines(words: "Sequence[str]") -> bytes | None:
    """Answer `query --session ID --format jsonl`, or with `--id ID`, and `--store DIR`."""
    asked = dict(zip(words[::2], words[1::2], strict=False))
    what = asked.keys() - {"--format", "--store"}
    if len(asked) * 2 != len(words) or asked.get("--format") != "jsonl" or what not in ({"--session"}, {"--id"}):
        return None
    from eventlog.log import raw_lines
    from eventlog.store import Store

    try:
        store = Store.locate(asked.get("--store"), os.environ)
        find = raw_lines.of_session if "--session" in what else raw_lines.of_event
        lines = find(store, asked[what.pop()])
    except (OSError, ValueError):
        return None
    return b"".join(lines) if lines else None
