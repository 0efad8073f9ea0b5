"""The entry point of `eventlog`: turns errors into messages and exit codes.

Calls of `hook` and `mcp`, and what `quick.py` answers, do not import click.
"""

import atexit
import sys

from eventlog.cli import EXIT_FOUND, EXIT_INTERRUPTED, EXIT_NOT_WRITTEN, EXIT_USAGE, drop, unprinted
from eventlog.fast import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def main(leave: "Callable[[int], NoReturn]" = sys.exit) -> None:
    """Run the command line; exits with a code other than 0 after a failure.

    A caller that owns the process passes `os._exit` as `leave`: shutting Python down takes a third of a verb's time.
    """
    modules.install()
    if sys.argv[1:2] == ["hook"] and sys.argv[2:] not in (["--help"], ["-h"]):
        from eventlog.hooks import hook_main

        hook_main.main(sys.argv[2:])
    if sys.argv[1:2] == ["mcp"] and sys.argv[2:] not in (["--help"], ["-h"]):
        from eventlog.cli.mcp import server

        if server.main(sys.argv[2:]):
            sys.exit(0)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from eventlog.fast import standard_streams

        standard_streams.complete()
    try:
        code = _run()
        (sys.exit if _needs_shutdown() else leave)(code)
    except KeyboardInterrupt:
        _ignore_interrupts()
        print("interrupted: every file is whole; run it again to go on", file=sys.stderr)  # noqa: T201 - it may come before click is there
        sys.exit(EXIT_INTERRUPTED)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C from here on: pressed again on a slow machine, it would end in a traceback."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run() -> int:
    from eventlog.cli import quick
    from eventlog.format.errors import EventLogError, NotStored, UntrustedRemote
    from eventlog.store.files import keep_owners_rights

    keep_owners_rights()
    try:
        if (encoding := sys.getfilesystemencoding()) != "utf-8":
            _refuse_unreadable(sys.argv, encoding)
        code = 0 if quick.answer(sys.argv[1:]) else quick.run(sys.argv[1:])
        return _printed(_call_verb() if code is None else code)
    except EventLogError as error:
        _print_error(error)
        if isinstance(error, UntrustedRemote):
            return EXIT_FOUND
        return EXIT_NOT_WRITTEN if isinstance(error, NotStored) else EXIT_USAGE
    except BrokenPipeError as error:
        drop(sys.stdout, error)
        return 0
    except (OSError, UnicodeEncodeError) as error:
        _print_error(_reword(error))
        _flush()
        return EXIT_NOT_WRITTEN
    except OverflowError:
        from eventlog.format import timestamps

        try:
            timestamps.system_clock()
        except NotStored as broken:  # a broken clock overflows anywhere
            _print_error(broken)
            return EXIT_NOT_WRITTEN
        raise


_REMEDY = "set PYTHONUTF8=1, or LC_ALL to a locale with UTF-8"  # for a locale without it


def _refuse_unreadable(argv: list[str], encoding: str) -> None:
    """Refuse words that this locale cannot read, but paths; raises BadRequest: a fact would be stored without them."""
    from os.path import lexists

    from eventlog.format.errors import BadRequest
    from eventlog.format.text import encodable

    if unread := [word for word in argv if encodable(word) != word and not lexists(word)]:
        raise BadRequest(f"the encoding of this locale ({encoding}) cannot read {unread[0]!a}", hint=_REMEDY)


def _printed(code: int) -> int:
    """Flush stdout after a verb, and report an answer that was not printed; return the exit code."""
    _flush()
    if not unprinted:
        return code
    from eventlog.cli.terminal import print_error

    print_error(f"cannot print the answer: {_reword(unprinted[0])}", "" if code else "everything else is done")
    return code or EXIT_NOT_WRITTEN


def _flush() -> None:
    """Flush stdout before the process may exit; what it does not take, Python would try again, and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError as error:
        drop(sys.stdout, error)


def _call_verb() -> int:
    import click

    from eventlog.cli.group import VerbGroup

    try:
        result = VerbGroup()(prog_name="eventlog", standalone_mode=False)
    except click.ClickException as error:
        VerbGroup.print_usage_error(error)
        return EXIT_USAGE
    except click.Abort as error:
        if error.__cause__ is None:  # at a question, which leaves its line open
            click.echo(err=True)
        raise KeyboardInterrupt from error
    return result if isinstance(result, int) else 0


def _needs_shutdown() -> bool:
    """Check for running threads, or exit callbacks of other packages."""
    threading = sys.modules.get("threading")
    return bool(atexit._ncallbacks() or (threading and threading.active_count() > 1))  # noqa: SLF001 - atexit has no public list


def _reword(error: OSError | UnicodeEncodeError) -> Exception:
    from eventlog.format.errors import EventLogError, place_of, system_reason

    if isinstance(error, UnicodeEncodeError):
        if error.encoding == "utf-8":
            around = error.object[max(0, error.start - 40) : error.end + 40]
            return EventLogError(f"a name that is not UTF-8 cannot be written: {around!a}", hint="rename it")
        what = f"the encoding of this locale ({error.encoding}) cannot write {error.object[error.start : error.end]!a}"
        return EventLogError(what, hint=_REMEDY)
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return EventLogError("the current directory was removed", hint="change to one that is there")
    what, remedy = system_reason(error)
    return EventLogError(what, where=place_of(error), hint=remedy)


def _print_error(error: Exception) -> None:
    from eventlog.cli.terminal import print_error

    print_error(str(error), getattr(error, "hint", ""))


if __name__ == "__main__":
    main()
