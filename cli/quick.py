"""Words that are understood without click: the version, lines of the log as they stand, and a plain replay.

The first two are answered without any library.
Only their plainest form; whatever else is asked, or takes a closer look, is answered by the verb.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventlog.store import Store

_NAME = "agent_eventlog-", ".dist-info"


def answer(argv: "Sequence[str]") -> bool:
    """Answer, if that can be done here; `argv` is what follows the program's name."""
    argv = _verb_first(argv)
    if argv == ["--version"]:
        said = f"eventlog, version {found}\n".encode() if (found := version()) else None
    elif argv[:1] == ["query"]:
        said = _lines(argv[1:])
    else:
        return False
    if said is None:
        return False
    try:
        sys.stdout.buffer.write(said)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has gone away: no error, and no traceback at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def version() -> str | None:
    """Read our version in the name of the directory pip has made for us: importlib.metadata takes 20 ms."""
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
    """Understand `replay`, also with `--full` and `--store DIR`: which store, and whether anew; None for all else."""
    argv = _verb_first(argv)
    words = [word for word in argv[1:] if word != "--full"]
    if argv[:1] != ["replay"] or (words and (words[0] != "--store" or len(words) != 2 or words[1][:1] == "-")):  # noqa: PLR2004
        return None
    from eventlog.store import Store

    store = Store.locate(words[1] if words else None, os.environ)
    return (store, "--full" in argv) if os.path.isdir(store.root) else None  # noqa: PTH112


def _verb_first(argv: "Sequence[str]") -> list[str]:
    """Put a store that is named before the verb behind it."""
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
