"""`eventlog`: the table of verbs, and the one place that turns errors into messages and exit codes.

A verb's module is imported when the verb is called; `hook`, and what `quick.py` answers, do not even import click.
"""

import atexit
import sys

from eventlog.cli import EXIT_INTERRUPTED, EXIT_NOT_WRITTEN, EXIT_USAGE
from eventlog.fast import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


class Verb:
    """Where a verb stands in `eventlog --help`; no NamedTuple, as typing takes longer than a quick answer."""

    def __init__(self, group: str, text: str) -> None:
        self.group = group
        self.help = text


VERBS = {
    "fact": Verb("Record", "Save something worth knowing later."),
    "summary": Verb("Record", "Save what was done, in a stage or in the whole session."),
    "plan": Verb("Record", "Plan a change of one section of a knowledge base: USER.md, AGENTS.md, …"),
    "append": Verb("Record", "Append events of any type, one or a stream of them."),
    "import": Verb("Record", "Bring in past conversations, and what other programs remember."),
    "init": Verb("Agents", "Create your own files from templates: USER.md, user/profile.md, …"),
    "install": Verb("Agents", "Register the memory hook with coding agents."),
    "uninstall": Verb("Agents", "Take the memory hook out of agents' files again."),
    "doctor": Verb("Agents", "Tell what is active, what failed, and how to fix it."),
    "hook": Verb("Agents", "Answer a hook of a coding agent: its JSON on stdin."),
    "mcp": Verb("Agents", "Serve memory as tools, by the Model Context Protocol."),
    "context": Verb("Agents", "Print what a session starts with, within a budget."),
    "lifecycle": Verb("Agents", "Tell of a session's start or end, where the host has no hooks."),
    "settle": Verb("Agents", "See to what ended sessions left: summaries from transcripts, a replay."),
    "replay": Verb("Knowledge", "Rebuild the knowledge files from the log."),
    "apply": Verb("Knowledge", "Bring plan entries into their knowledge bases."),
    "status": Verb("Knowledge", "List what is pending, staged or edited by hand."),
    "resolve": Verb("Knowledge", "Decide about a staged plan entry."),
    "validate": Verb("Knowledge", "Check a file of plan entries, or print its JSON Schema."),
    "config": Verb("Knowledge", "Show the settings in force and where each comes from."),
    "why": Verb("Knowledge", "Show the events behind each line of a knowledge file."),
    "show": Verb("Knowledge", "Show one session, one event, or a knowledge file as it was."),
    "diff": Verb("Knowledge", "Show how the knowledge files changed between two times."),
    "bisect": Verb("Knowledge", "Find the event that brought a text into a file, or took it out."),
    "search": Verb("Knowledge", "Search what is known, best first: facts, summaries, past conversations."),
    "recall": Verb("Knowledge", "Search likewise; --explain: why a prompt is told something or not."),
    "forget": Verb("Knowledge", "Keep something from being said, by whomever, until you take that back."),
    "undo": Verb("Knowledge", "Take back the last thing a person or an entry did, or one of them."),
    "memory": Verb("Audit", "Show what is known: of a project, and of you."),
    "restore": Verb("Knowledge", "Make a MEMORY.md or a knowledge base what it was at a time."),
    "query": Verb("Audit", "Show events: of a session, a type, a time, with a text."),
    "sessions": Verb("Audit", "Show who worked when, and what it came to."),
    "stats": Verb("Audit", "Show how well memory is kept: by which net, at what cost, week by week."),
    "project": Verb("Audit", "Show which projects there are and where they lie; join two that are one."),
    "verify": Verb("Audit", "Read every line of the log and name each damage."),
    "completion": Verb("Shell", "Complete verbs, options, sessions, projects and ids in your shell."),
    "help": Verb("Shell", "Explain a verb or a topic: format, guarantees, hosts, names, time."),
}


def main(leave: "Callable[[int], NoReturn]" = sys.exit) -> None:
    """Run the command line; never returns normally after a failure.

    Who owns the process may have it `leave` at once where nothing is left to be done: Python takes a while to put
    itself away.
    """
    modules.come_first()
    if sys.argv[1:2] == ["hook"] and sys.argv[2:] not in (["--help"], ["-h"]):
        from eventlog.hooks import begin

        begin.main(sys.argv[2:])
    if sys.argv[1:2] == ["mcp"] and sys.argv[2:] not in (["--help"], ["-h"]):
        from eventlog.cli.mcp import launch

        if launch.main(sys.argv[2:]):
            sys.exit(0)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from eventlog.fast import standard_streams

        standard_streams.complete()
    from eventlog.cli import quick

    if quick.answer(sys.argv[1:]):
        leave(0)
    try:
        code = _run()
        (sys.exit if _is_anything_left() else leave)(code)
    except KeyboardInterrupt:
        print("interrupted: every file is whole; run it again to go on", file=sys.stderr)  # noqa: T201 - it may come before click is there
        sys.exit(EXIT_INTERRUPTED)


def _run() -> int:
    from eventlog.cli import quick
    from eventlog.format.errors import EventLogError, NotStored
    from eventlog.store.files import keep_owners_rights

    keep_owners_rights()
    try:
        if asked := quick.replay(sys.argv[1:]):
            from eventlog.cli.replaying import replay_here

            store, anew = asked
            return _told(replay_here(store, anew=anew))
        return _call_verb()
    except EventLogError as error:
        _complain(error)
        return EXIT_NOT_WRITTEN if isinstance(error, NotStored) else EXIT_USAGE
    except BrokenPipeError:
        from eventlog.cli.group import leave_quietly

        return leave_quietly()
    except (OSError, UnicodeEncodeError) as error:
        _complain(_plain(error))
        return EXIT_NOT_WRITTEN
    except OverflowError:
        from eventlog.format import timestamps

        try:
            timestamps.system_clock()
        except NotStored as broken:  # whoever asked, it is the clock
            _complain(broken)
            return EXIT_NOT_WRITTEN
        raise


def _call_verb() -> int:
    import click

    from eventlog.cli.group import group

    try:
        result = group(VERBS, _load)(prog_name="eventlog", standalone_mode=False)
    except click.ClickException as error:
        from eventlog.cli.usage_errors import tell

        tell(error)
        return EXIT_USAGE
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return _told(result if isinstance(result, int) else 0)


def _told(code: int) -> int:
    """See to it that everything said is on its way, before the process may leave."""
    sys.stdout.flush()
    return code


def _is_anything_left() -> bool:
    """Tell whether a thread is at work, anybody waits for the end (code of others may), or words cannot be told."""
    threading = sys.modules.get("threading")
    if atexit._ncallbacks() or (threading and threading.active_count() > 1):  # noqa: SLF001 - nobody else knows
        return True
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _load(verb: str) -> object:
    from importlib import import_module

    return import_module(f"eventlog.cli.verbs.{verb}").command


def _plain(error: OSError | UnicodeEncodeError) -> Exception:
    from eventlog.format.error_text import of_system, place_of
    from eventlog.format.errors import EventLogError

    if isinstance(error, UnicodeEncodeError):
        what = f"the encoding of this locale ({error.encoding}) cannot write {error.object[error.start : error.end]!a}"
        return EventLogError(what, hint="set PYTHONUTF8=1, or LC_ALL to a locale with UTF-8")
    what, remedy = of_system(error)
    return EventLogError(what, where=place_of(error), hint=remedy)


def _complain(error: Exception) -> None:
    from eventlog.cli.output import complain

    complain(str(error), getattr(error, "hint", ""))


if __name__ == "__main__":
    main()
