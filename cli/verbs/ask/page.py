"""Look at memory in a browser: `eventlog report` writes one file, `eventlog serve` keeps it current."""

import signal
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eventlog.app.page.page_model import PageModel, page_of
from eventlog.app.write.erasing.redact import write_report
from eventlog.cli import options
from eventlog.cli.page.html import html_of
from eventlog.cli.terminal import count, emit, is_terminal, print_lines, say
from eventlog.store import Store
from eventlog.store.files import remove, replace_file

if TYPE_CHECKING:
    from eventlog.cli.page.page_server import PageServer

_FILE = "eventlog-report.html"
_STDOUT = "-"


def _projects(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    found = (options.project_meant(ctx, param, name) for name in options.not_blank(ctx, param, value))
    return tuple(project for project in found if project)


@options.verb(
    "eventlog report --open", "eventlog report --out memory.html --project shop", "eventlog report --since monday"
)
@click.option("--out", default=_FILE, metavar="FILE", help=f"Where to write it; - for stdout [default: {_FILE}].")
@options.project_by(
    _projects,
    "Only this project, without what is known about you; may be repeated [default: everything].",
    "projects",
    multiple=True,
)
@click.option("--without-withdrawn", is_flag=True, help="Leave out what was forgotten or retracted since.")
@click.option("--open", "opens", is_flag=True, help="Open it in the browser.")
def _report_command(
    out: str,
    projects: tuple[str, ...],
    since: str | None,
    without_withdrawn: bool,
    opens: bool,
    as_json: bool,
    store: Store,
) -> None:
    """Write one HTML file: every knowledge file on every day, each line with its reasons, what agents were given.

    It needs no network and no server, and is for you alone (mode 0600): it holds what your memory holds. It reaches
    back, so it also holds what you have forgotten since, unless --without-withdrawn. With --json, prints its data.
    """
    opened = options.open_store(store)
    page = page_of(opened, projects=projects, since=since or "", with_withdrawn=not without_withdrawn)
    if as_json:
        emit(page, pretty=True)
        return
    text = html_of(page)
    if out == _STDOUT:
        sys.stdout.write(text)
        return
    place = write_report(store, out, text)
    _print_report(place, page, len(text.encode()))
    if opens:
        webbrowser.open(Path(place).as_uri())


def _print_report(place: str, page: PageModel, size: int) -> None:
    if not is_terminal():
        emit({"status": "ok", "path": place, "bytes": size, "withdrawn": page.withdrawn})
        return
    say(f"{place}: {count(len(page.days), 'day')}, {count(len(page.sessions), 'session')}, {size // 1024:,} kB")
    if page.withdrawn:
        say(f"it holds {count(page.withdrawn, 'event')} withdrawn since; --without-withdrawn leaves them out")


@options.verb("eventlog serve", "eventlog serve --port 8080 --no-open")
@click.option("--port", type=options.Number(0, 65535), default=0, help="Port on 127.0.0.1 [default: any free port].")
@click.option("--no-open", is_flag=True, help="Open no browser; print the address only.")
def _serve_command(port: int, no_open: bool, store: Store) -> None:
    """Show the page of `eventlog report` live, in your browser; forget, undo and decide there. Ctrl-C ends it.

    Listens on this machine only, and answers nobody without the token in the address, which is new at each start.
    """
    from eventlog.cli.page.page_server import PageServer  # the HTTP server takes a while to import

    with PageServer(lambda: options.open_store(store), port) as server:
        redirect = store.cached("serve", f"{server.server_port}.html")
        for name in ("SIGTERM", "SIGHUP"):  # of `kill` and of a terminal that is closed; Windows has the first alone
            number = getattr(signal, name, signal.SIGTERM)
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.default_int_handler)
        print_lines([server.url])
        try:
            if not no_open:
                _open_browser(server, redirect)
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")
        finally:
            remove(redirect)


def _open_browser(server: "PageServer", redirect: str) -> None:
    """Pass the address to the browser through a file: every user may list the arguments of a process."""
    replace_file(redirect, f'<meta http-equiv="refresh" content="0;url={server.url}">\n'.encode(), durable=False)
    opening = threading.Thread(target=webbrowser.open, args=(Path(redirect).as_uri(),), daemon=True)
    opening.start()  # beside the server: some browsers come back when they are left, and load the page before
