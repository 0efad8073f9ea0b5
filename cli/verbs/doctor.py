"""`eventlog doctor`."""

from typing import Any

import click

from eventlog.app.setup.doctor import DoctorReport, doctor
from eventlog.cli import EXIT_FOUND, options
from eventlog.cli.agent_options import here
from eventlog.cli.output import emit_pretty
from eventlog.cli.show.display import Shown
from eventlog.cli.show.doctor import show_report
from eventlog.store import Store

_RECENT = 3


@click.command(epilog=options.examples("eventlog doctor", "eventlog doctor --json"))
@options.as_json
@options.store
def command(as_json: bool, store: Store) -> int:
    """Tell what is active: for each agent whether it is found and registered, when a hook last arrived, what failed.

    Names the exact fix of everything that is wrong. Changes nothing; exits with 1 where something needs a fix.
    """
    found = doctor(here(store))
    if as_json:
        emit_pretty(_as_dict(store, found))
    else:
        show_report(found, Shown(store))
    return EXIT_FOUND if found.needs_a_fix else 0


def _as_dict(store: Store, found: DoctorReport) -> dict[str, Any]:
    return {
        "store": store.root,
        "version": found.size.version,
        "log_files": found.size.files,
        "log_bytes": found.size.bytes,
        "written_at": found.size.written_at,
        "copied_from": found.copied_from or None,
        "problems": [problem._asdict() for problem in found.problems],
        "set_aside": found.set_aside,
        "agents": [
            {
                **agent._asdict(),
                "problems": [problem._asdict() for problem in agent.problems],
                "saving": agent.saving._asdict() if agent.saving else None,
            }
            for agent in found.agents
        ],
        "failures": found.failures[-_RECENT:],
        "failures_in_all": len(found.failures),
    }
