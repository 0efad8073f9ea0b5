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
        from eventlog.cli.mcp import server

        if server.main(sys.argv[2:]):
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
            from eventlog.cli.verbs.build.replay_report import replay_here

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

    from eventlog.cli.group import command_line

    try:
        result = command_line()(prog_name="eventlog", standalone_mode=False)
    except click.ClickException as error:
        from eventlog.cli.group import print_usage_error

        print_usage_error(error)
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


def _plain(error: OSError | UnicodeEncodeError) -> Exception:
    from eventlog.format.errors import EventLogError, place_of, system_reason

    if isinstance(error, UnicodeEncodeError):
        what = f"the encoding of this locale ({error.encoding}) cannot write {error.object[error.start : error.end]!a}"
        return EventLogError(what, hint="set PYTHONUTF8=1, or LC_ALL to a locale with UTF-8")
    what, remedy = system_reason(error)
    return EventLogError(what, where=place_of(error), hint=remedy)


def _complain(error: Exception) -> None:
    from eventlog.cli.terminal import print_error

    print_error(str(error), getattr(error, "hint", ""))


if __name__ == "__main__":
    main()
